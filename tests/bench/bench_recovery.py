"""How long a game takes to be taken up after a crash, by its length: `make bench ARGS="--only recovery"`.

Games of some lengths lie in a SQLite store; each is loaded as after a kill -9, from its latest
snapshot and the records after it.
"""

import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

sys.path.append(str(Path(__file__).parents[1] / "support"))

from opolyx_engine.command import Answer, Command
from opolyx_engine.game_actor import GameActor
from opolyx_rules.engine import legal_actions
from opolyx_rules.queries import awaited_seat
from opolyx_servicekit.logs import configure_logs
from results import note
from support_engine import people, running_engine

LENGTHS: Final = (10, 100, 1_000)
GOAL_MS: Final = 20.0
_SETTINGS: Final[dict[str, Any]] = {"commands_per_second": 1_000_000, "command_burst": 1_000_000}


def run(*, quick: bool) -> None:
    """Measure each length, and print the table."""
    configure_logs(level="error")
    print(f"\n{'a game taken up':38}{'p50 ms':>12}{'p99 ms':>12}{'goal':>14}")
    for length in LENGTHS[:2] if quick else LENGTHS:
        waits = asyncio.run(_measure(length, 5 if quick else 20, 5 if quick else 20))
        p50, p99 = (waits[len(waits) * share // 100] * 1000 for share in (50, 99))
        name = f"after {length:,} updates"
        print(f"{name:38}{p50:12.1f}{p99:12.1f}{f'{GOAL_MS:.0f} ms at p99':>14}", flush=True)
        note("recovery", f"a game taken up {name}, p50", p50, "ms")
        note("recovery", f"a game taken up {name}, p99", p99, "ms", goal=GOAL_MS, less=True)


async def _measure(length: int, games: int, times: int) -> list[float]:
    """Seconds of each taking up, rising."""
    with tempfile.TemporaryDirectory(prefix="opolyx-bench-") as folder:
        async with running_engine(Path(folder), **_SETTINGS) as engine:
            ids = [await engine.new_game(people(4), round_cap=500) for _ in range(games)]
            for game_id in ids:
                game = engine.service.registry.find_running(game_id)
                assert game is not None
                await _play(game, length)
        waits = []
        for _ in range(times):
            async with running_engine(Path(folder), **_SETTINGS) as engine:
                for game_id in ids:
                    game = engine.service.registry.find_running(game_id)
                    if game is None or not engine.service.registry.rest(game):
                        continue
                    began = time.perf_counter()
                    await engine.service.registry.find(game_id)
                    waits.append(time.perf_counter() - began)
        return sorted(waits)


async def _play(game: GameActor, length: int) -> None:
    """Random legal actions until the game has so many updates, or is over."""
    luck, loop = random.Random(game.game_id), asyncio.get_running_loop()
    while game.running and game.table.seq < length:
        state = game.table.state
        seat = awaited_seat(state)
        action = luck.choice(legal_actions(state, seat))
        done: asyncio.Future[Answer] = loop.create_future()
        number = f"c{game.table.seq}"
        game.submit(Command(number, f"d{state.decision}", seat, action, 0, done.set_result))
        await done


if __name__ == "__main__":
    run(quick="--quick" in sys.argv)
