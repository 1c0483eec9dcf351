"""What metrics cost an engine: the same games with and without them, turn about: `make bench`.

Built-in bots play in an engine in this process, stored in SQLite, without a network: nothing else
dilutes what the metrics take of a move. In the other measure callers read a game over gRPC, caller
and engine in this process. CPU is compared, as that is what bounds an engine, and what others on the
machine leave alone. A scrape is measured by itself: its share is that of one every 15 seconds.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from itertools import product
from pathlib import Path
from typing import Any, Final, Self
from unittest import mock

sys.path.append(str(Path(__file__).parents[1] / "support"))

from prometheus_client import generate_latest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_servicekit.logs import configure_logs
from results import note
from support_engine import Engine, built_in, people, running_engine

GAMES: Final = 4
_SCRAPED_EVERY_S: Final = 15
_GOAL: Final = 5.0
"""Of an engine's CPU, in %: docs/adr/0022-what-is-observed.md."""

_COUNTED: Final = ("Counter", "Gauge", "Histogram", "TalliedCounter", "TalliedHistogram")
_MODULES: Final = ("opolyx_engine.metrics", "opolyx_servicekit.rpc_metrics")

Work = Callable[[Engine, int], Awaitable[float]]
"""Does something so often; CPU seconds each."""


class Nothing:
    """A metric that counts nothing."""

    def __init__(self, *_: object, **__: object) -> None:
        """As a metric is made."""

    def labels(self, *_: object) -> Self:
        """Itself."""
        return self

    def inc(self, *_: object) -> None:
        """Nothing."""

    dec = set = observe = set_function = inc


def run(*, quick: bool) -> None:
    """Measure in pairs, and print the table."""
    configure_logs(level="error")
    pairs = 4 if quick else 30
    print(f"\n{'cost of metrics':26}{'with us':>12}{'without us':>12}{'cost':>10}   {pairs} pairs")
    for name, work, times in (("a move of a bot", _play, 300), ("a call over gRPC", _call, 60)):
        with_s, without_s = asyncio.run(_measure(work, pairs, times))
        cost = with_s / without_s - 1
        print(f"{name:26}{1e6 * with_s:12.1f}{1e6 * without_s:12.1f}{cost:10.1%}", flush=True)
        note("metrics", f"{name}, with metrics", 1e6 * with_s, "µs CPU")
        note("metrics", f"{name}, without metrics", 1e6 * without_s, "µs CPU")
        note("metrics", f"{name}, metrics cost", 100 * cost, "% CPU", goal=_GOAL, less=True)
    scrape_s = asyncio.run(_scrape_s())
    note("metrics", "a scrape", 1e3 * scrape_s, "ms CPU")
    print(f"{'a scrape':26}{1e6 * scrape_s:12.1f}{'':12}{scrape_s / _SCRAPED_EVERY_S:10.1%}")


async def _measure(work: Work, pairs: int, times: int) -> tuple[float, float]:
    """CPU seconds of one piece of work with metrics and without: the means of many short turns.

    Both engines make the same games. Turns are short, so that what others on the machine take of
    the caches meets both alike.
    """
    took: dict[bool, list[float]] = {True: [], False: []}
    async with _engine(metrics=True) as counting, _engine(metrics=False) as silent:
        engines = {True: counting, False: silent}
        for number in range(pairs + 1):
            for metrics in (True, False) if number % 2 else (False, True):
                took[metrics].append(await work(engines[metrics], times))
    # The first pair warms up. The slowest turns are those that something else broke into.
    kept = max(pairs * 3 // 4, 1)
    with_s, without_s = (statistics.fmean(sorted(took[each][1:])[:kept]) for each in (True, False))
    return with_s, without_s


async def _scrape_s() -> float:
    """CPU seconds of a scrape of an engine that has all its series."""
    async with _engine(metrics=True) as engine:
        await _call(engine, 10)
        began = time.process_time()
        for _ in range(10):
            generate_latest(engine.service.metrics.registry)
        return (time.process_time() - began) / 10


@asynccontextmanager
async def _engine(*, metrics: bool) -> AsyncIterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="opolyx-bench-") as folder, _metrics_made(real=metrics):
        settings: dict[str, Any] = {"calls_per_second": 0, "watchdog_games": 0}
        async with running_engine(Path(folder), **settings) as engine:
            yield engine


@contextmanager
def _metrics_made(*, real: bool) -> Iterator[None]:
    """Whether metrics that are made in the block count anything."""
    with ExitStack() as stack:
        for module, kind in () if real else product(_MODULES, _COUNTED):
            if hasattr(sys.modules[module], kind):
                stack.enter_context(mock.patch(f"{module}.{kind}", Nothing))
        yield


async def _play(engine: Engine, times: int) -> float:
    """Bots make so many moves; CPU seconds a move."""
    running = engine.service.registry.running
    for _ in range(GAMES):
        await engine.new_game([built_in(seat, "random") for seat in range(4)])
    games = running()
    began, moves = time.process_time(), 0
    while moves < times and running():
        await asyncio.sleep(0.02)
        moves = sum(game.table.seq for game in games)
    took = (time.process_time() - began) / moves
    for game in running():
        await game.end_as_void("measured")
    return took


async def _call(engine: Engine, times: int) -> float:
    """A caller reads a game so often; CPU seconds a call."""
    game_id = await engine.new_game(people(2))
    caller = await engine.caller("p_0")
    began = time.process_time()
    for _ in range(times):
        await caller.engine.GetGame(pb.GetGameRequest(game_id=game_id), metadata=caller.metadata)
    return (time.process_time() - began) / times


if __name__ == "__main__":
    run(quick="--quick" in sys.argv)
