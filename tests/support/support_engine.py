"""An engine on loopback: the real service in this process, a store in a file, signed tokens."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from opolyx.engine.v1 import action_pb2, decision_pb2
from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1.allocation_service_pb2_grpc import AllocationServiceStub
from opolyx.engine.v1.engine_service_pb2_grpc import EngineServiceStub
from opolyx.engine.v1.operations_service_pb2_grpc import OperationsServiceStub
from opolyx_engine.fair_dice import new_reservation
from opolyx_engine.header import GameHeader, Holder
from opolyx_engine.main import TOKEN_ROLES
from opolyx_engine.rules_fit import RulesFit
from opolyx_engine.service import EngineService
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import GameStore
from opolyx_engine.store.opening import open_store
from opolyx_engine.table import Step, Table
from opolyx_rules import actions
from opolyx_rules.queries import awaited_seat
from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.revocations import RevokedTokens
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.tokens import TokenSigner, TokenVerifier
from opolyx_servicekit.wall_clock import Clock

WAIT_SECONDS = 10.0
"""How long a test waits for anything."""

START_MS = 1_700_000_000_000
"""Where clocks that are moved by hand begin."""

ROLL: dict[str, Any] = {"roll": action_pb2.Roll()}
"""The action of whoever begins, for `Caller.submit` and `Stream.command`."""


@dataclass
class Engine:
    """A running engine and how to reach it."""

    service: EngineService
    store: GameStore
    signer: TokenSigner
    port: int
    channels: AsyncExitStack
    server: ServiceServer
    revoked: RevokedTokens
    clock: Clock | None
    requests: Any = field(default_factory=lambda: itertools.count(1))

    def token(self, subject: str, role: str = "player") -> str:
        return self.signer.sign(subject=subject, role=role, ttl_seconds=86_400)

    async def channel(self, **options: int) -> grpc.aio.Channel:
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{self.port}", options=list(options.items()))
        return await self.channels.enter_async_context(channel)

    async def caller(self, subject: str, role: str = "player", **options: int) -> "Caller":
        return Caller(await self.channel(**options), self.token(subject, role))

    async def new_game(
        self,
        seats: Sequence[allocation_pb.SeatAssignment],
        ruleset: str = "classic@full",
        **options: Any,
    ) -> str:
        """Reserve and start a game; its id."""
        service = await self.caller("s_matchmaker", "service")
        return await new_game(service, f"r{next(self.requests)}", seats, ruleset, **options)


class Caller:
    """One account on one channel."""

    def __init__(self, channel: grpc.aio.Channel, token: str) -> None:
        self.channel = channel
        self.metadata = (("authorization", f"Bearer {token}"),)
        self.engine = EngineServiceStub(channel)
        self.allocation = AllocationServiceStub(channel)
        self.operations = OperationsServiceStub(channel)

    async def play(self, game_id: str = "", **attach: Any) -> "Stream":
        """A Play stream, attached to a game if one is named."""
        stream = Stream(self.engine.Play(metadata=self.metadata))
        if game_id:
            await stream.send(attach=pb.Attach(game_id=game_id, **attach))
        return stream

    async def submit(
        self, game_id: str, command_id: str, decision_id: str, **action: Any
    ) -> pb.CommandResult:
        """One unary command."""
        command = command_of(game_id, command_id, decision_id, **action)
        request = pb.SubmitCommandRequest(command=command)
        response = await self.engine.SubmitCommand(request, metadata=self.metadata)
        return response.result

    async def game(self, game_id: str) -> pb.Snapshot:
        """The game as it is now."""
        response = await self.engine.GetGame(
            pb.GetGameRequest(game_id=game_id), metadata=self.metadata
        )
        return response.snapshot

    async def replay(self, game_id: str) -> tuple[bytes, bool]:
        """The whole replay file, and whether it is complete."""
        data, token = b"", ""
        while True:
            response = await self.engine.GetReplay(
                pb.GetReplayRequest(game_id=game_id, page_token=token), metadata=self.metadata
            )
            data += response.chunk
            token = response.next_page_token
            if not token:
                return data, response.complete


class Stream:
    """A Play stream, read frame by frame."""

    def __init__(self, call: Any) -> None:
        self.call = call
        self._frames: list[pb.Frame] = []

    async def send(self, **kind: Any) -> None:
        await self.call.write(pb.PlayRequest(**kind))

    async def command(self, game_id: str, command_id: str, decision_id: str, **action: Any) -> None:
        await self.send(command=command_of(game_id, command_id, decision_id, **action))

    async def frame(self) -> pb.Frame:
        """The next frame; EOFError at the end."""
        while not self._frames:
            response = await asyncio.wait_for(self.call.read(), WAIT_SECONDS)
            if response is grpc.aio.EOF:
                raise EOFError
            self._frames.extend(response.frames)
        return self._frames.pop(0)

    async def drained(self) -> list[pb.Frame]:
        """All frames up to the answer to a ping."""
        await self.send(ping=pb.Ping(nonce=99))
        frames: list[pb.Frame] = []
        while True:
            frame = await self.frame()
            if frame.WhichOneof("kind") == "pong" and frame.pong.nonce == 99:
                return frames
            frames.append(frame)

    async def next(self, kind: str) -> Any:
        """The next frame of a kind, others are dropped."""
        while True:
            frame = await self.frame()
            if frame.WhichOneof("kind") == kind:
                return getattr(frame, kind)

    async def result(self, command_id: str) -> pb.CommandResult:
        """The answer to a command, other frames are dropped."""
        while True:
            result: pb.CommandResult = await self.next("command_result")
            if result.command_id == command_id:
                return result


async def new_game(
    service: Caller,
    request_id: str,
    seats: Sequence[allocation_pb.SeatAssignment],
    ruleset: str = "classic@full",
    **options: Any,
) -> str:
    """Reserve and start a game; its id. The caller has the role of a service."""
    reserved = await service.allocation.ReserveGame(
        allocation_pb.ReserveGameRequest(request_id=request_id), metadata=service.metadata
    )
    request = allocation_pb.CreateGameRequest(
        game_id=reserved.game_id,
        ruleset=ruleset,
        seats=seats,
        options=allocation_pb.HouseOptions(**options),
    )
    await service.allocation.CreateGame(request, metadata=service.metadata)
    return reserved.game_id


def command_of(game_id: str, command_id: str, decision_id: str, **action: Any) -> pb.Command:
    return pb.Command(
        game_id=game_id,
        command_id=command_id,
        decision_id=decision_id,
        action=action_pb2.Action(**action),
    )


def person(seat: int, player_id: str = "") -> allocation_pb.SeatAssignment:
    return _seat(seat, player_id=player_id or f"p_{seat}", kind=pb.SEAT_KIND_PERSON)


def built_in(seat: int, policy: str = "steady") -> allocation_pb.SeatAssignment:
    return _seat(seat, policy=policy, kind=pb.SEAT_KIND_BUILT_IN)


def people(count: int) -> list[allocation_pb.SeatAssignment]:
    return [person(seat) for seat in range(count)]


def _seat(seat: int, **fields: Any) -> allocation_pb.SeatAssignment:
    named = pb.Seat(seat=seat, name=f"Seat {seat}", **fields)
    return allocation_pb.SeatAssignment(seat=named, nonce=bytes([seat + 1]) * 8)


def seed_with(wanted: Callable[[Table, Step], bool], seats: int = 2) -> str:
    """A development seed with which the first roll of the first game is as wanted."""
    for number in range(2_000):
        seed = f"seed {number}"
        reservation = new_reservation("r1", 0, seed, 0)
        holders = [Holder(f"p_{seat}", "", 1, nonce=bytes([seat + 1]) * 8) for seat in range(seats)]
        header = GameHeader(reservation.game_id, "classic@full", tuple(holders))
        table, _ = Table.begin(header, reservation.secret, 0)
        step = table.plan((actions.ROLL, awaited_seat(table.state)), "", 0)
        if wanted(table, step):
            return seed
    raise LookupError("no seed gives such a roll")


def awaited(decisions: Sequence[decision_pb2.Decision]) -> decision_pb2.Decision:
    """The decision of the table's own, not of an offer."""
    return next(decision for decision in decisions if decision.decision_id.startswith("d"))


@asynccontextmanager
async def running_engine(
    directory: Path,
    *,
    clock: Clock | None = None,
    wrap: Callable[[GameStore], GameStore] = lambda store: store,
    fit: RulesFit | None = None,
    **settings: Any,
) -> AsyncIterator[Engine]:
    """An engine on the file in `directory`, or on another `store_url`; the same again continues it."""
    values: dict[str, Any] = {
        "bot_think_ms": 0,
        "grace_seconds": 2.0,
        "restart_grace_ms": 10_000,
        "development_seed": "test",
        "store_url": f"sqlite:///{directory / 'engine.db'}",
        "stream_burst": 100_000,  # tests open more streams than an account ever should
    }
    made = EngineSettings(**{**values, **settings})
    private = directory / "keys.json"
    public = ensure_keys(private)
    metrics = RpcMetrics()
    async with open_store(made) as opened:
        store = wrap(opened)
        revoked = RevokedTokens()
        verifier = TokenVerifier(
            public, roles=TOKEN_ROLES, clock=clock, is_revoked=revoked.is_revoked
        )
        service = EngineService(
            made,
            store,
            clock=clock,
            metrics=metrics,
            check_token=verifier.check,
            own_token=lambda: TokenSigner(private, clock=clock).sign(
                subject="s_engine", role="service", ttl_seconds=3_600
            ),
            fit=fit,
        )
        server = ServiceServer(
            made,
            add_services=service.add_to,
            service_names=service.service_names,
            roles=service.roles,
            verifier=verifier,
            metrics=metrics,
            on_drain=service.drain,
            counted_elsewhere=service.counted_elsewhere,
        )
        service.on_operator_drain = server.not_ready
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(service.running())
            await stack.enter_async_context(server)
            channels = await stack.enter_async_context(AsyncExitStack())
            signer = TokenSigner(private, clock=clock)
            yield Engine(
                service, store, signer, server.bound_port, channels, server, revoked, clock
            )
