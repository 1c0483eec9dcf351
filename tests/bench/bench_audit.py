"""How long an audit takes, and what it holds meanwhile: `make bench`.

Each store is filled with games as they are settled, then audited as operators do it, boards counted
too; the longest pause is how long it kept the service's event loop from anything else.
"""

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parents[1] / "support"))

from bench_leaderboards import BATCH, game_of_four
from opolyx_progression.audit import audit
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.base import Store
from opolyx_progression.store.opening import open_store
from opolyx_servicekit.errors import EnvironmentFault
from support_redis import find_redis_server, redis_server

GAMES: Final = 50_000
QUICK_GAMES: Final = 1_000
GAMES_A_PLAYER: Final = 10


def run(*, quick: bool) -> None:
    """Fill each store, audit it, and print the table."""
    games = QUICK_GAMES if quick else GAMES
    print(f"\n{f'audit of {games:,} games':38}{'seconds':>12}{'ms a game':>12}{'pause ms':>12}")
    with tempfile.TemporaryDirectory(prefix="opolyx-bench-") as folder:
        asyncio.run(_measure("SQLite", f"sqlite:///{folder}/audit.db", games))
        if find_redis_server() is None:
            print("no redis-server here: Redis is not measured")
            return
        with redis_server(Path(folder) / "redis") as server:
            asyncio.run(_measure("Redis", server.url, games))


async def _measure(name: str, url: str, games: int) -> None:
    async with open_store(ProgressionSettings(store_url=url)) as store:
        await _fill(store, games)
        pauses: list[float] = []
        watching = asyncio.create_task(_watch(pauses))
        begun = time.perf_counter()
        report = await audit(store, count_boards=True)
        took = time.perf_counter() - begun
        watching.cancel()
        assert (games, 0) == (report.games, report.drift), report.drifts
        print(
            f"{name:38}{took:12.1f}{took * 1000 / games:12.2f}{max(pauses) * 1000:12.0f}",
            flush=True,
        )


async def _fill(store: Store, games: int) -> None:
    chance = random.Random(1)
    players = 4 * games // GAMES_A_PLAYER
    for first in range(0, games, BATCH):
        batch = [game_of_four(number, chance, players) for number in range(first, first + BATCH)]
        while True:
            try:
                await store.apply(batch, now_ms=0)
                break
            except EnvironmentFault:  # a machine that does other things: as the consumer, once more
                await asyncio.sleep(1)


async def _watch(pauses: list[float]) -> None:
    """Note how much later than asked for it is woken."""
    while True:
        begun = time.perf_counter()
        await asyncio.sleep(0.005)
        pauses.append(time.perf_counter() - begun - 0.005)
