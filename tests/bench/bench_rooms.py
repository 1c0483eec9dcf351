"""How many actions a second the server takes in rooms of four, beside the ceiling of the same run.

`make bench ARGS="--only rooms"`. Each of four seats has a stream, one acts, all four receive. The
engine has everything on: rules, log on SQLite, idempotency, digests, metrics, tokens; only limits
on how fast one player may send are raised. Its ceiling is `bare_rooms.py`, with the same messages
and the same clients. The clients share the machine's cores with the server, so compare the server's
CPU an action: it is what the clients can't disturb.
"""

import argparse
import asyncio
import itertools
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

from bare_rooms import BareServer
from opolyx.engine.v1 import engine_service_pb2 as pb
from results import note
from room_load import SEATS, Metadata, NewGame, RoomLoad
from support_certificates import write_certificate
from support_engine import Caller, new_game, people
from support_observed import ObservedEngine

ROOMS: Final = (1, 50, 200)
FLAT: Final = (1, 10, 100, 1_000)
"""Games for the cost of an action by their number."""

FLAT_RATE: Final = 200.0
PACED_RATE: Final = 400.0
_MOST_CHANNELS: Final = 64
_RECORDED: Final = 200
_SETTINGS: Final[dict[str, Any]] = {
    "commands_per_second": 1_000_000,
    "command_burst": 1_000_000,
    "streams_per_second": 1_000_000,
    "most_account_streams": 1_000_000,
}


@dataclass(frozen=True, slots=True)
class Target:
    """A server to play at."""

    name: str
    port: int
    metadata: tuple[Metadata, ...]
    new_game: NewGame
    cpu_s: Callable[[], Awaitable[float]]
    authority: bytes = b""
    """What clients believe if it speaks TLS; else empty."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run gave."""

    rate: float
    """Actions a second."""

    cpu_us: float
    """The server's CPU an action, microseconds."""

    p50_ms: float
    """Half of the actions had reached all four after so long."""

    p99_ms: float
    """99 of 100 had."""

    refused: int
    """Commands that weren't accepted."""


async def measure(
    target: Target, rooms: int, seconds: float, *, streams_a_room: bool = True, rate: float = 0.0
) -> Figures:
    """Play at a server, and count after a moment of warming up."""
    async with AsyncExitStack() as stack:
        wanted = rooms * SEATS if streams_a_room else SEATS
        channels = [
            await stack.enter_async_context(_channel(target))
            for _ in range(min(_MOST_CHANNELS, wanted))
        ]
        load = RoomLoad(
            channels, target.metadata, target.new_game, rooms=rooms, streams_a_room=streams_a_room
        )
        await stack.enter_async_context(load)
        await load.play(seconds / 4, rate)
        before = await target.cpu_s()
        played = await load.play(seconds, rate)
        used = await target.cpu_s() - before
    waits = sorted(played.waits) or [0.0]
    return Figures(
        rate=played.actions / seconds,
        cpu_us=used / max(1, played.actions) * 1e6,
        p50_ms=waits[len(waits) // 2] * 1000,
        p99_ms=waits[len(waits) * 99 // 100] * 1000,
        refused=played.refused,
    )


def _channel(target: Target) -> grpc.aio.Channel:
    """A channel on a connection of its own."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    address = f"127.0.0.1:{target.port}"
    if not target.authority:
        return grpc.aio.insecure_channel(address, options=options)
    credentials = grpc.ssl_channel_credentials(target.authority)
    return grpc.aio.secure_channel(address, credentials, options=options)


@asynccontextmanager
async def engine_target(
    folder: Path, *, tls: bool = False, **settings: Any
) -> AsyncIterator[Target]:
    """An engine in a process of its own, on an empty store."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        authority = b""
        if tls:
            cert, key = write_certificate(directory, "engine")
            settings |= {"tls_cert_file": str(cert), "tls_key_file": str(key)}
            authority = cert.read_bytes()
        engine = ObservedEngine(directory, **_SETTINGS, **settings)
        await stack.enter_async_context(engine)
        channel = _channel(Target("", engine.port, (), _no_game, _no_cpu, authority))
        await stack.enter_async_context(channel)
        service = Caller(channel, engine.token("s_matchmaker", "service"))
        numbers = itertools.count()

        async def start() -> str:
            return await new_game(service, f"r{next(numbers)}", people(SEATS))

        async def cpu_s() -> float:
            return (await engine.look(collect=False)).cpu_s

        metadata = tuple(
            (("authorization", f"Bearer {engine.token(f'p_{seat}')}"),) for seat in range(SEATS)
        )
        yield Target("engine", engine.port, metadata, start, cpu_s, authority)


async def _no_game() -> str:
    return ""


async def _no_cpu() -> float:
    return 0.0


@asynccontextmanager
async def bare_target(folder: Path) -> AsyncIterator[Target]:
    """The ceiling, playing the first updates of a game that an engine ran."""
    file = folder / "updates"
    if not file.exists():
        async with engine_target(folder) as target:
            file.write_text("\n".join(update.hex() for update in await _record(target)))
    async with BareServer(file) as bare:
        numbers = itertools.count()

        async def start() -> str:
            return f"g_0000000000000000000000{next(numbers):04}"

        yield Target("bare grpc.aio", bare.port, ((),) * SEATS, start, bare.cpu_s)


async def _record(target: Target) -> list[bytes]:
    """The first updates of a game, as its clients got them."""
    updates: list[bytes] = []

    class Recorder(RoomLoad):
        def received(self, line: Any, game_id: str, update: pb.Update) -> None:
            if (
                line.seat == 0
                and len(updates) < _RECORDED
                and update.state == pb.GAME_STATE_RUNNING
            ):
                updates.append(update.SerializeToString())
            super().received(line, game_id, update)

    async with (
        grpc.aio.insecure_channel(f"127.0.0.1:{target.port}") as channel,
        Recorder([channel], target.metadata, target.new_game, rooms=1) as load,
    ):
        while len(updates) < _RECORDED:
            await load.play(0.2)
    return updates


async def _table(quick: bool) -> None:
    seconds = 1.0 if quick else 6.0
    print(
        f"\n{'rooms of four':40}{'a second':>10}{'CPU us':>9}{'p50 ms':>9}{'p99 ms':>9}"
        f"{'rate':>8}{'CPU':>8}"
    )
    with tempfile.TemporaryDirectory(prefix="opolyx-bench-") as name:
        for rooms in ROOMS[:2] if quick else ROOMS:
            await _pair(Path(name), f"{rooms} rooms", rooms, seconds)
        rooms = 50 if quick else 200
        await _pair(Path(name), f"{rooms} games on a stream a seat", rooms, seconds, many=True)
        await _pair(Path(name), f"50 rooms, {PACED_RATE:.0f}/s", 50, seconds, rate=PACED_RATE)
        await _tls(Path(name), seconds)
        await _flat(Path(name), seconds, FLAT[:3] if quick else FLAT)


async def _pair(
    folder: Path, name: str, rooms: int, seconds: float, *, many: bool = False, rate: float = 0.0
) -> None:
    """A line for the ceiling, one for the engine with its ratios to it."""
    async with bare_target(folder) as bare:
        ceiling = await measure(bare, rooms, seconds, streams_a_room=not many, rate=rate)
    _line(f"{name}: bare grpc.aio", ceiling, None)
    async with engine_target(folder) as engine:
        found = await measure(engine, rooms, seconds, streams_a_room=not many, rate=rate)
    _line(f"{name}: engine", found, ceiling)
    note("rooms", f"{name}, bare grpc.aio", ceiling.rate, "actions/s")
    goal = 12_000.0 if many else None
    note("rooms", f"{name}, engine", found.rate, "actions/s", goal=goal)
    note("rooms", f"{name}, bare grpc.aio", ceiling.cpu_us, "µs CPU an action")
    note("rooms", f"{name}, engine", found.cpu_us, "µs CPU an action")
    if rate:
        note("rooms", f"{name}, engine, p99", found.p99_ms, "ms", goal=3.0, less=True)
        note("rooms", f"{name}, bare grpc.aio, p99", ceiling.p99_ms, "ms")
    elif rooms > 1 and not many:
        share = found.rate / ceiling.rate * 100
        note("rooms", f"{name}, share of the ceiling", share, "%", goal=80.0)


async def _tls(folder: Path, seconds: float) -> None:
    """The same engine with and without TLS, 50 rooms."""
    figures = []
    for tls in (False, True):
        async with engine_target(folder, tls=tls) as engine:
            figures.append(await measure(engine, 50, seconds))
            _line(f"50 rooms, {'TLS' if tls else 'plaintext'}: engine", figures[-1], figures[0])
    cost = (figures[1].cpu_us / figures[0].cpu_us - 1) * 100
    note("rooms", "50 rooms, TLS costs", cost, "% CPU")


async def _flat(folder: Path, seconds: float, counts: Sequence[int]) -> None:
    """What an action costs by the number of games, at the same pace of all together."""
    first = None
    async with engine_target(folder) as engine:
        for games in counts:
            found = await measure(engine, games, seconds, streams_a_room=False, rate=FLAT_RATE)
            first = first or found
            _line(f"{games:,} games, {FLAT_RATE:.0f}/s in all: engine", found, first)
            note(
                "rooms",
                f"{games:,} games, {FLAT_RATE:.0f}/s in all",
                found.cpu_us,
                "µs CPU an action",
            )


def _line(name: str, found: Figures, ceiling: Figures | None) -> None:
    ratios = f"{'':16}"
    if ceiling is not None:
        ratios = f"{found.rate / ceiling.rate:8.0%}{found.cpu_us / ceiling.cpu_us:7.2f}x"
    refused = f"  {found.refused} refused" if found.refused else ""
    print(
        f"{name:40}{found.rate:10,.0f}{found.cpu_us:9.0f}{found.p50_ms:9.2f}{found.p99_ms:9.2f}"
        f"{ratios}{refused}",
        flush=True,
    )


def run(*, quick: bool) -> None:
    """Measure, and print the table."""
    asyncio.run(_table(quick))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds")
    run(quick=parser.parse_args().quick)
