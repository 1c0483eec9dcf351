"""The servers that the room benchmarks play at: an engine with everything on, and its bare ceiling.

Both are processes of their own, so that their CPU is their own. The clients share the machine's cores
with them: compare the server's CPU an action too, it is what the clients can't disturb.
"""

import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

from bare_rooms import BareServer
from opolyx.engine.v1 import engine_service_pb2 as pb
from room_load import SEATS, Metadata, NewGame, RoomLoad
from support_certificates import write_certificate
from support_engine import Caller, new_game, people
from support_observed import ObservedEngine

_MOST_CHANNELS: Final = 64
_RECORDED: Final = 200
_RECORD: Final[list[bytes]] = []
"""The updates that bare servers of this process send, once a game has been recorded."""

_TURN_SECONDS: Final = 600
"""Longer than a benchmark, so that games which nobody plays any more cost nothing."""

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
    """What playing gave."""

    rate: float
    """Actions a second."""

    cpu_us: float
    """The server's CPU an action, microseconds."""

    client_us: float
    """The CPU of all clients an action, microseconds."""

    p50_ms: float
    """Half of the actions had reached all four after so long."""

    p99_ms: float
    """99 of 100 had."""

    refused: int
    """Commands that weren't accepted."""


def median(figures: Sequence[Figures]) -> Figures:
    """The median of each figure, but all that was refused."""

    def middle(name: str) -> float:
        return float(statistics.median(getattr(one, name) for one in figures))

    return Figures(
        rate=middle("rate"),
        cpu_us=middle("cpu_us"),
        client_us=middle("client_us"),
        p50_ms=middle("p50_ms"),
        p99_ms=middle("p99_ms"),
        refused=sum(one.refused for one in figures),
    )


async def measure(
    target: Target, rooms: int, seconds: float, *, streams_a_room: bool = True, rate: float = 0.0
) -> Figures:
    """Play at a server, and count after a moment of warming up."""
    async with AsyncExitStack() as stack:
        wanted = rooms * SEATS if streams_a_room else SEATS
        channels = [
            await stack.enter_async_context(channel_to(target))
            for _ in range(min(_MOST_CHANNELS, wanted))
        ]
        load = RoomLoad(
            channels, target.metadata, target.new_game, rooms=rooms, streams_a_room=streams_a_room
        )
        await stack.enter_async_context(load)
        await load.play(seconds / 4, rate)
        before, own_before = await target.cpu_s(), time.process_time()
        played = await load.play(seconds, rate)
        used, own = await target.cpu_s() - before, time.process_time() - own_before
    waits = sorted(played.waits) or [0.0]
    actions = max(1, played.actions)
    return Figures(
        rate=played.actions / seconds,
        cpu_us=used / actions * 1e6,
        client_us=own / actions * 1e6,
        p50_ms=waits[len(waits) // 2] * 1000,
        p99_ms=waits[len(waits) * 99 // 100] * 1000,
        refused=played.refused,
    )


def channel_to(target: Target) -> grpc.aio.Channel:
    """A channel on a connection of its own."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    address = f"127.0.0.1:{target.port}"
    if not target.authority:
        return grpc.aio.insecure_channel(address, options=options)
    credentials = grpc.ssl_channel_credentials(target.authority)
    return grpc.aio.secure_channel(address, credentials, options=options)


@asynccontextmanager
async def engine_target(
    folder: Path,
    *,
    tls: bool = False,
    observed: type[ObservedEngine] = ObservedEngine,
    **settings: Any,
) -> AsyncIterator[Target]:
    """An engine on an empty store; `observed` is how its process is started."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        authority = b""
        if tls:
            cert, key = write_certificate(directory, "engine")
            settings |= {"tls_cert_file": str(cert), "tls_key_file": str(key)}
            authority = cert.read_bytes()
        engine = observed(directory, **_SETTINGS, **settings)
        await stack.enter_async_context(engine)
        channel = channel_to(Target("", engine.port, (), _no_game, _no_cpu, authority))
        await stack.enter_async_context(channel)
        service = Caller(channel, engine.token("s_matchmaker", "service"))
        numbers = itertools.count()

        async def start() -> str:
            return await new_game(
                service, f"r{next(numbers)}", people(SEATS), turn_seconds=_TURN_SECONDS
            )

        async def cpu_s() -> float:
            return (await engine.look(collect=False)).cpu_s

        metadata = tuple(
            (("authorization", f"Bearer {engine.token(f'p_{seat}')}"),) for seat in range(SEATS)
        )
        yield Target("engine", engine.port, metadata, start, cpu_s, authority)


@asynccontextmanager
async def bare_target(folder: Path) -> AsyncIterator[Target]:
    """The ceiling, playing the first updates of a game that an engine ran."""
    file = folder / "updates"
    if not _RECORD:
        async with engine_target(folder) as target:
            _RECORD.extend(await _record(target))
    file.write_text("\n".join(update.hex() for update in _RECORD))
    async with BareServer(file) as bare:
        numbers = itertools.count()

        async def start() -> str:
            return f"g_0000000000000000000000{next(numbers):04}"

        yield Target("bare grpc.aio", bare.port, ((),) * SEATS, start, bare.cpu_s)


async def _no_game() -> str:
    return ""


async def _no_cpu() -> float:
    return 0.0


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
