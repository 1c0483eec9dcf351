"""How fast bots play whole games in process: `make bench ARGS="--only simulate"`, or `arena`.

`simulate` makes for every answer of a bot what it gets live: the view, the decision, typed actions; and
it checks what comes back. The thinking of the bots is counted. The arena plays the same games on
processes: starting them is not counted.
"""

import statistics
import time
from collections.abc import Callable
from contextlib import closing
from typing import Final

from opolyx_rules import compiled
from opolyx_sdk.bots import Bot, RandomBot, SteadyBot
from opolyx_sdk.local import simulate
from opolyx_sdk.local.arena import ArenaPlan, play_games
from results import note

SEATS: Final = 4
WORKERS: Final = (1, 2)
_RULESET: Final = "classic@full"
_GOAL: Final = 300_000.0 if compiled else 60_000.0
_ENOUGH_GAMES: Final = 1_000_000
_WARM_GAMES: Final = 3

TABLES: Final[tuple[tuple[str, Callable[[], Bot | str]], ...]] = (
    ("four built-in random", lambda: "random"),
    ("four built-in steady", lambda: "steady"),
    ("four RandomBot of the SDK", RandomBot),
    ("four SteadyBot of the SDK", SteadyBot),
)
"""Who plays."""


def run_simulate(*, quick: bool) -> None:
    """Measure each table, the median of some runs of CPU time, and print the lines."""
    seconds, runs = (0.3, 1) if quick else (1.0, 3)
    for name, bot in TABLES:
        rate = statistics.median(_simulated(bot, seconds, first) for first in range(runs))
        note("simulate", f"simulate, {name}", rate, "/s", goal=_GOAL)
        print(f"{'simulate, ' + name:60}{rate:12,.0f} /s{'':13}{_GOAL:11,.0f} /s", flush=True)


def run_arena(*, quick: bool) -> None:
    """Measure the arena on one process and on two, and print the lines."""
    seconds = 0.6 if quick else 4.0
    rates = {}
    for workers in WORKERS:
        rates[workers] = _in_arena(workers, seconds)
        name = f"arena, four steady, {workers} worker{'s' if workers > 1 else ''}"
        note("arena", name, rates[workers], "actions/s")
        print(f"{name:60}{rates[workers]:12,.0f} /s", flush=True)
    note("arena", "arena, 2 workers to 1", rates[2] / rates[1], "times")


def _simulated(bot: Callable[[], Bot | str], seconds: float, run: int) -> float:
    """Actions a second of CPU."""
    done, number, begun = 0, 1_000 * run, time.process_time()
    while time.process_time() - begun < seconds:
        bots = [bot() for _ in range(SEATS)]
        done += len(simulate(_RULESET, bots, "bench", number=number).steps)
        number += 1
    return done / (time.process_time() - begun)


def _in_arena(workers: int, seconds: float) -> float:
    """Actions a second, once all processes play."""
    plan = ArenaPlan(("steady",) * SEATS, games=_ENOUGH_GAMES, seed="bench")
    with closing(play_games(plan, workers=workers)) as games:
        for _ in range(_WARM_GAMES * workers):
            next(games)
        done, begun = 0, time.perf_counter()
        while time.perf_counter() - begun < seconds:
            done += next(games).actions
        return done / (time.perf_counter() - begun)
