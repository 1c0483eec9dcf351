"""How many appends a second the stores of games take, by how many games write at once: `make bench`.

The CPU is this process's, an append; Redis has its own beside it. A wait is from asking to stored.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parents[1] / "support"))

from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import Append, GameStore, Record, Reservation
from opolyx_engine.store.opening import open_store
from results import note
from support_redis import find_redis_server, redis_cluster, redis_server

GAMES: Final = (1, 50, 200)
_BODY: Final = b"x" * 300
"""As long as a record with its draws and digests mostly is."""


def run(*, quick: bool) -> None:
    """Measure each store, and print the table."""
    seconds = 0.25 if quick else 2.0
    print(f"\n{'appends':26}{'games':>8}{'a second':>12}{'CPU us':>10}{'p50 ms':>10}{'p99 ms':>10}")
    with tempfile.TemporaryDirectory(prefix="opolyx-bench-") as folder:
        for name, url in _stores(Path(folder)):
            for games in GAMES:
                asyncio.run(_measure(name, url, games, seconds))


def _stores(folder: Path) -> Iterator[tuple[str, str]]:
    yield "SQLite, NORMAL", f"sqlite:///{folder / 'store.db'}"
    if find_redis_server() is None:
        print("no redis-server here: Redis is not measured")
        return
    with redis_server(folder / "everysec") as server:
        yield "Redis, everysec", server.url
    with redis_server(folder / "always", "--appendfsync", "always") as server:
        yield "Redis, always", server.url
    with redis_cluster(folder / "cluster") as cluster:
        yield "Redis Cluster, everysec", cluster.url


async def _measure(name: str, url: str, games: int, seconds: float) -> None:
    async with open_store(EngineSettings(store_url=url, store_sync="NORMAL")) as store:
        ids = [f"g_{games}_{number}" for number in range(games)]
        for game_id in ids:
            await _start(store, game_id)
        waits: list[float] = []
        with _cpu() as used:
            began = time.perf_counter()
            until = began + seconds
            await asyncio.gather(*(_write(store, game_id, until, waits) for game_id in ids))
            took = time.perf_counter() - began
        waits.sort()
        title = f"{name}, {games} game{'s' if games > 1 else ''} at once"
        note("stores", title, len(waits) / took, "appends/s")
        note("stores", title, used[0] / len(waits) * 1e6, "µs CPU an append")
        note("stores", f"{title}, p99", waits[len(waits) * 99 // 100] * 1000, "ms")
        print(
            f"{name:26}{games:8}{len(waits) / took:12,.0f}{used[0] / len(waits) * 1e6:10.0f}"
            f"{waits[len(waits) // 2] * 1000:10.2f}{waits[len(waits) * 99 // 100] * 1000:10.2f}",
            flush=True,
        )


@contextmanager
def _cpu() -> Iterator[list[float]]:
    """The seconds of CPU that this process takes meanwhile, once it is left."""
    used: list[float] = []
    began = time.process_time()
    yield used
    used.append(time.process_time() - began)


async def _start(store: GameStore, game_id: str) -> None:
    await store.reserve(Reservation(game_id, game_id, b"s" * 32, 0))
    first = Append(game_id, -1, (Record(0, 1, "", _BODY),))
    await store.create(game_id, "classic@full", False, b"header", first)


async def _write(store: GameStore, game_id: str, until: float, waits: list[float]) -> None:
    seq = 0
    while (asked := time.perf_counter()) < until:
        await store.append(Append(game_id, seq, (Record(seq + 1, 1, f"0:{seq}", _BODY),)))
        waits.append(time.perf_counter() - asked)
        seq += 1
