"""How many actions a second the server takes in rooms of four, beside the ceiling of the same run.

`make bench ARGS="--only rooms"`, or `rooms-50` alone. Each of four seats has a stream, one acts, all
four receive. The engine has everything on: rules, log on SQLite, idempotency, digests, metrics,
tokens; only limits on how fast one player may send are raised. Its ceiling is `bare_rooms.py`, with
the same messages and the same clients, which play at both in turn.
"""

import asyncio
import statistics
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import uvloop

from results import note
from room_target import Figures, Target, bare_target, engine_target, measure, median
from support_redis import find_redis_server, redis_server

Found = TypeVar("Found")

FLAT: Final = (1, 10, 100, 1_000)
"""Games for the cost of an action by their number."""

FLAT_RATE: Final = 200.0
PACED_RATE: Final = 400.0
BOARDGAME_IO: Final = {1: 1_525.0, 50: 2_211.0, 200: 2_226.0}
"""Actions a second of the server to be ahead of, by rooms, as measured on two cores of 2.0 GHz."""

_RISE: Final = 1.1
"""What still counts as flat, as short runs differ by some hundredths."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long and how often each server is played at."""

    seconds: float
    rounds: int


QUICK: Final = Effort(0.5, 1)
USUAL: Final = Effort(2.0, 3)


def run_rooms(part: str, rooms: int, *, quick: bool) -> None:
    """So many rooms, as fast as they go."""
    title = f"{rooms} room{'s' if rooms > 1 else ''}"
    _heading()
    pair = _in_a_folder(lambda folder: _pair(folder, rooms, _effort(quick)))
    _note_pair(part, title, pair, goal=BOARDGAME_IO[rooms])
    if rooms > 1:
        note(part, f"{title}, engine's share of bare grpc.aio", pair.share, "%", goal=80.0)
    times = pair.engine.cpu_us / pair.bare.cpu_us
    note(part, f"{title}, engine's CPU to that of bare grpc.aio", times, "times")


def run_many_games(*, quick: bool) -> None:
    """Many games on one stream a seat, as bot hosts and gateways hold them."""
    games = 50 if quick else 200
    title = f"{games} games on a stream a seat"
    _heading()
    pair = _in_a_folder(lambda folder: _pair(folder, games, _effort(quick), many=True))
    _note_pair("many-games", title, pair, goal=12_000.0)
    of_a_core = 1e6 / pair.engine.cpu_us
    note("many-games", f"{title}, engine, by its CPU", of_a_core, "actions a second of CPU")


def run_paced(*, quick: bool) -> None:
    """Rooms at a pace that leaves the server time: how long an action is under way."""
    title = f"50 rooms, {PACED_RATE:.0f} actions/s"
    _heading()
    pair = _in_a_folder(lambda folder: _pair(folder, 50, _effort(quick), rate=PACED_RATE))
    for name, found in (("engine", pair.engine), ("bare grpc.aio", pair.bare)):
        goal = 3.0 if name == "engine" else None
        note("paced", f"{title}, {name}, p50", found.p50_ms, "ms")
        note("paced", f"{title}, {name}, p99", found.p99_ms, "ms", goal=goal, less=True)
        note("paced", f"{title}, {name}", found.cpu_us, "µs CPU an action")


def run_tls(*, quick: bool) -> None:
    """The engine with TLS and without, 50 rooms."""
    _heading()
    pair = _in_a_folder(lambda folder: _tls(folder, _effort(quick)))
    cost = (pair.engine.cpu_us / pair.bare.cpu_us - 1) * 100
    note("tls", "50 rooms, engine, plaintext", pair.bare.cpu_us, "µs CPU an action")
    note("tls", "50 rooms, engine, TLS", pair.engine.cpu_us, "µs CPU an action")
    note("tls", "50 rooms, TLS costs", cost, "% CPU")


def run_redis(*, quick: bool) -> None:
    """The engine on Redis beside the ceiling, 50 rooms."""
    if find_redis_server() is None:
        print("no redis-server here: Redis is not measured")
        return

    async def pair_on_redis(folder: Path) -> "_Pair":
        with redis_server(folder / "redis") as server:
            return await _pair(folder, 50, _effort(quick), store_url=server.url)

    _heading()
    pair = _in_a_folder(pair_on_redis)
    _note_pair("rooms-redis", "50 rooms on Redis", pair, goal=BOARDGAME_IO[50])
    note(
        "rooms-redis",
        "50 rooms on Redis, engine's share of bare grpc.aio",
        pair.share,
        "%",
        goal=80.0,
    )


def run_flat(*, quick: bool) -> None:
    """What an action costs by the number of games, at the same pace of all together."""
    seconds = 0.6 if quick else 4.0
    _heading()
    costs = _in_a_folder(lambda folder: _flat(folder, seconds))
    for games, cost in zip(FLAT, costs, strict=True):
        name = f"{games:,} game{'s' if games > 1 else ''}, {FLAT_RATE:.0f} actions/s in all"
        note("flat", name, cost, "µs CPU an action")
    note("flat", "the greatest rise with games", rise(costs), "times", goal=_RISE, less=True)


def rise(costs: Sequence[float]) -> float:
    """How many times the least of those before it one costs, at most."""
    return max(cost / min(costs[: place + 1]) for place, cost in enumerate(costs))


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two servers that were played at in turn."""

    bare: Figures
    engine: Figures
    share: float
    """Of the first one's actions a second the second's, in %: the median of the rounds."""


def _in_a_folder(work: Callable[[Path], Coroutine[Any, Any, Found]]) -> Found:
    """Run it on the loop that servers run on, so that clients cost as little as they can."""
    with (
        tempfile.TemporaryDirectory(prefix="opolyx-bench-") as name,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        return runner.run(work(Path(name)))


def _effort(quick: bool) -> Effort:
    return QUICK if quick else USUAL


async def _pair(
    folder: Path,
    rooms: int,
    effort: Effort,
    *,
    many: bool = False,
    rate: float = 0.0,
    store_url: str = "",
) -> _Pair:
    """The ceiling and the engine."""
    settings: dict[str, Any] = {"store_url": store_url} if store_url else {}
    async with bare_target(folder) as bare, engine_target(folder, **settings) as engine:
        return await _in_turn((bare, engine), rooms, effort, many=many, rate=rate)


async def _in_turn(
    targets: tuple[Target, Target],
    rooms: int,
    effort: Effort,
    *,
    many: bool = False,
    rate: float = 0.0,
) -> _Pair:
    found: tuple[list[Figures], list[Figures]] = ([], [])
    for _ in range(effort.rounds):
        for target, figures in zip(targets, found, strict=True):
            figures.append(
                await measure(target, rooms, effort.seconds, streams_a_room=not many, rate=rate)
            )
    shares = [second.rate / first.rate * 100 for first, second in zip(*found, strict=True)]
    pair = _Pair(median(found[0]), median(found[1]), statistics.median(shares))
    name = f"{rooms} {'games on a stream a seat' if many else 'rooms' if rooms > 1 else 'room'}"
    if rate:
        name += f", {rate:.0f}/s"
    _line(f"{name}: {targets[0].name}", pair.bare)
    _line(f"{name}: {targets[1].name}", pair.engine, pair)
    return pair


async def _tls(folder: Path, effort: Effort) -> _Pair:
    async with AsyncExitStack() as stack:
        plain = await stack.enter_async_context(engine_target(folder))
        tls = await stack.enter_async_context(engine_target(folder, tls=True))
        return await _in_turn((plain, replace(tls, name="engine, TLS")), 50, effort)


async def _flat(folder: Path, seconds: float) -> list[float]:
    """The server's CPU an action for each number of games, microseconds."""
    found: list[Figures] = []
    async with engine_target(folder) as engine:
        for games in FLAT:
            found.append(
                await measure(engine, games, seconds, streams_a_room=False, rate=FLAT_RATE)
            )
            _line(f"{games:,} games, {FLAT_RATE:.0f}/s in all: engine", found[-1])
    return [one.cpu_us for one in found]


def _note_pair(part: str, title: str, pair: _Pair, *, goal: float) -> None:
    for name, found in (("engine", pair.engine), ("bare grpc.aio", pair.bare)):
        ours = goal if name == "engine" else None
        note(part, f"{title}, {name}", found.rate, "actions/s", goal=ours)
        note(part, f"{title}, {name}", found.cpu_us, "µs CPU an action")
        note(part, f"{title}, clients of {name}", found.client_us, "µs CPU an action")


def _heading() -> None:
    print(
        f"{'rooms of four':40}{'a second':>10}{'CPU us':>9}{'clients':>9}{'p50 ms':>9}{'p99 ms':>9}"
        f"{'share':>8}{'CPU':>8}"
    )


def _line(name: str, found: Figures, pair: _Pair | None = None) -> None:
    ratios = f"{'':16}"
    if pair is not None:
        ratios = f"{pair.share:7.0f}%{found.cpu_us / pair.bare.cpu_us:7.2f}x"
    refused = f"  {found.refused} refused" if found.refused else ""
    print(
        f"{name:40}{found.rate:10,.0f}{found.cpu_us:9.0f}{found.client_us:9.0f}"
        f"{found.p50_ms:9.2f}{found.p99_ms:9.2f}{ratios}{refused}",
        flush=True,
    )
