"""A matchmaker on loopback, with a fake engine that can fail in every way a network can."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as engine_pb
from opolyx.engine.v1.allocation_service_pb2_grpc import (
    AllocationServiceServicer,
    add_AllocationServiceServicer_to_server,
)
from opolyx.engine.v1.engine_service_pb2_grpc import (
    EngineServiceServicer,
    add_EngineServiceServicer_to_server,
)
from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.identity.v1.identity_service_pb2_grpc import IdentityServiceStub
from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx.matchmaker.v1.matchmaker_service_pb2_grpc import MatchmakerServiceStub
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from opolyx.progression.v1.progression_service_pb2_grpc import (
    ProgressionServiceServicer,
    add_ProgressionServiceServicer_to_server,
)
from opolyx_engine.rpc.check_table import check_table
from opolyx_engine.rpc.convert_seats import options_from_proto
from opolyx_matchmaker.service import MatchmakerService
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.store.opening import open_store
from opolyx_servicekit.errors import FailedPrecondition, ServiceError
from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.tokens import TokenSigner, TokenVerifier

LOST_REPLY = "lost_reply"
"""Fault: the call takes effect, and its caller hears nothing of it."""

UNAVAILABLE = "unavailable"
"""Fault: the call has no effect and fails."""

REFUSED = "refused"
"""Fault: the engine takes no games now."""

UNAUTHENTICATED = "unauthenticated"
"""Fault: the engine does not take the matchmaker's token."""


class FakeEngine(AllocationServiceServicer, EngineServiceServicer):
    """Keeps reservations and games in memory; faults are consumed one a call."""

    def __init__(self) -> None:
        self.games: dict[str, allocation_pb.CreateGameRequest] = {}
        self.lives: dict[str, engine_pb.GameState.ValueType] = {}
        self.reservations: dict[str, str] = {}
        self.faults: list[str] = []
        self.is_down = False
        self.reserves = True
        self.created = 0
        self.before_create: Callable[[], None] = lambda: None
        self.after_create: Callable[[], None] = lambda: None
        self.tokens: list[str] = []
        self.watches = 0
        self._facts: list[allocation_pb.Fact] = []
        self._news = asyncio.Event()

    async def CheckTable(
        self, request: allocation_pb.CheckTableRequest, context: Any
    ) -> allocation_pb.CheckTableResponse:
        await self._see(context)
        try:
            check_table(request.ruleset, request.seats, options_from_proto(request.options))
        except ServiceError as error:
            await _abort(context, error)
        return allocation_pb.CheckTableResponse()

    async def ReserveGame(
        self, request: allocation_pb.ReserveGameRequest, context: Any
    ) -> allocation_pb.ReserveGameResponse:
        await self._see(context)
        if not self.reserves:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "injected")
        game_id = self.reservations.setdefault(
            request.request_id, f"g_{len(self.reservations) + 1:04}"
        )
        commitment = hashlib.sha256(game_id.encode()).digest()
        return allocation_pb.ReserveGameResponse(game_id=game_id, commitment=commitment)

    async def CreateGame(
        self, request: allocation_pb.CreateGameRequest, context: Any
    ) -> allocation_pb.CreateGameResponse:
        await self._see(context)
        self.before_create()
        fault = self.faults.pop(0) if self.faults else ""
        if fault == UNAVAILABLE:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "injected")
        if fault == UNAUTHENTICATED:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "injected")
        if fault == REFUSED:
            await _abort(context, FailedPrecondition("PAUSED", "no new games are taken now"))
        known = self.games.get(request.game_id)
        if known is None:
            if request.game_id not in self.reservations.values():
                await _abort(context, FailedPrecondition("NO_RESERVATION", "not reserved"))
            self.games[request.game_id] = allocation_pb.CreateGameRequest.FromString(
                request.SerializeToString()
            )
            self.lives[request.game_id] = engine_pb.GAME_STATE_RUNNING
            self.created += 1
        elif known != request:
            await _abort(context, FailedPrecondition("GAME_CONFLICT", "other contents"))
        self.after_create()
        if fault == LOST_REPLY:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the reply was lost")
        return allocation_pb.CreateGameResponse(game_id=request.game_id)

    async def GetGame(
        self, request: engine_pb.GetGameRequest, context: Any
    ) -> engine_pb.GetGameResponse:
        await self._see(context)
        if request.game_id not in self.lives:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such game")
        snapshot = engine_pb.Snapshot(state=self.lives[request.game_id])
        return engine_pb.GetGameResponse(snapshot=snapshot)

    async def WatchFacts(
        self, request: allocation_pb.WatchFactsRequest, context: Any
    ) -> AsyncIterator[allocation_pb.WatchFactsResponse]:
        self.watches += 1
        reached = request.after
        while True:
            news = self._news
            facts = [fact for fact in self._facts if fact.number > reached]
            yield allocation_pb.WatchFactsResponse(facts=facts)
            reached = facts[-1].number if facts else reached
            await news.wait()

    def release(self, game_id: str, player_id: str, seat: int = 0) -> None:
        """Tell that a seat's player is free."""
        released = allocation_pb.SeatReleased(seat=seat, player_id=player_id)
        self._tell(allocation_pb.Fact(game_id=game_id, seat_released=released))

    def finish(self, game_id: str) -> None:
        """Tell that a game finished."""
        self.lives[game_id] = engine_pb.GAME_STATE_FINISHED
        self._tell(allocation_pb.Fact(game_id=game_id, game_finished=allocation_pb.GameFinished()))

    def void(self, game_id: str) -> None:
        """Tell that a game was ended as void."""
        self.lives[game_id] = engine_pb.GAME_STATE_VOID
        self._tell(allocation_pb.Fact(game_id=game_id, game_voided=allocation_pb.GameVoided()))

    def lose(self, game_id: str) -> None:
        """Forget a game without a word."""
        self.games.pop(game_id)
        self.lives.pop(game_id)

    def _tell(self, fact: allocation_pb.Fact) -> None:
        fact.number = len(self._facts) + 1
        self._facts.append(fact)
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _see(self, context: Any) -> None:
        if self.is_down:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "injected")
        self.tokens += [
            value for key, value in context.invocation_metadata() if key == "authorization"
        ]


class FakeProgression(ProgressionServiceServicer):
    """Knows the grants it was given."""

    def __init__(self) -> None:
        self.grants: dict[str, progression_pb.Grant] = {}
        self.is_down = False
        self.calls = 0
        self.answers = asyncio.Event()
        self.answers.set()

    async def GetGrants(
        self, request: progression_pb.GetGrantsRequest, context: Any
    ) -> progression_pb.GetGrantsResponse:
        self.calls += 1
        await self.answers.wait()
        if self.is_down:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "injected")
        known = [self.grants[who] for who in request.player_ids if who in self.grants]
        return progression_pb.GetGrantsResponse(grants=known)


@dataclass
class Peers:
    """The fakes and the channels to them."""

    engine: FakeEngine
    progression: FakeProgression
    engine_channel: grpc.aio.Channel
    progression_channel: grpc.aio.Channel
    address: str = ""


@dataclass
class Guest:
    """Somebody with a token."""

    player_id: str
    name: str
    token: str = field(repr=False)
    token_id: str = ""

    @property
    def auth(self) -> tuple[tuple[str, str], ...]:
        """Metadata of the caller."""
        return (("authorization", f"Bearer {self.token}"),)


class Running:
    """A matchmaker that serves, and stubs to call it with."""

    def __init__(
        self,
        service: MatchmakerService,
        signer: TokenSigner,
        channel: grpc.aio.Channel,
        port: int = 0,
    ) -> None:
        self.service = service
        self.port = port
        self.signer = signer
        self.channel = channel
        self.rooms = MatchmakerServiceStub(channel)
        self.identity = IdentityServiceStub(channel)
        self._requests = 0

    async def guest(self, name: str = "Ada") -> Guest:
        """A new guest."""
        made = await self.identity.CreateGuest(identity_pb.CreateGuestRequest(name=name))
        return Guest(made.account.player_id, made.account.name, made.token.jwt, made.token.token_id)

    async def bot(self, owner: Guest, name: str = "Robo") -> Guest:
        """A bot of a guest's."""
        request = identity_pb.CreateBotTokenRequest(name=name)
        made = await self.identity.CreateBotToken(request, metadata=owner.auth)
        return Guest(made.account.player_id, made.account.name, made.token.jwt, made.token.token_id)

    def signed(self, subject: str, role: str) -> Guest:
        """Somebody with a token of any role."""
        return Guest(
            subject, subject, self.signer.sign(subject=subject, role=role, ttl_seconds=600)
        )

    async def create(self, guest: Guest, seats: int = 2, **fields: Any) -> pb.Room:
        """A room of the guest's."""
        self._requests += 1
        wanted: dict[str, Any] = {
            "request_id": f"request-{self._requests}",
            "ruleset": "classic@full",
            "public": True,
            **fields,
        }
        request = pb.CreateRoomRequest(seats=seats, **wanted)
        return (await self.rooms.CreateRoom(request, metadata=guest.auth)).room

    async def join(self, guest: Guest, room: pb.Room, **fields: Any) -> pb.JoinRoomResponse:
        """Join a room by its id."""
        request = pb.JoinRoomRequest(room_id=room.room_id, **fields)
        return await self.rooms.JoinRoom(request, metadata=guest.auth)

    async def leave(self, guest: Guest, room: pb.Room) -> None:
        """Leave a room."""
        await self.rooms.LeaveRoom(pb.LeaveRoomRequest(room_id=room.room_id), metadata=guest.auth)

    async def add_bot(self, guest: Guest, room: pb.Room, policy: str = "steady") -> pb.Room:
        """Seat a built-in bot."""
        request = pb.AddBotRequest(room_id=room.room_id, policy=policy)
        return (await self.rooms.AddBot(request, metadata=guest.auth)).room

    async def start(self, guest: Guest, room: pb.Room) -> str:
        """Start the game."""
        request = pb.StartGameRequest(room_id=room.room_id)
        return (await self.rooms.StartGame(request, metadata=guest.auth)).game_id

    async def get(self, guest: Guest, room: pb.Room) -> pb.Room:
        """Read a room."""
        request = pb.GetRoomRequest(room_id=room.room_id)
        return (await self.rooms.GetRoom(request, metadata=guest.auth)).room

    async def current(self, guest: Guest) -> pb.GetCurrentGameResponse:
        """Where the guest is."""
        return await self.rooms.GetCurrentGame(pb.GetCurrentGameRequest(), metadata=guest.auth)

    async def started(self, guest: Guest) -> tuple[pb.Room, str]:
        """A started game of the guest and a built-in bot."""
        room = await self.create(guest)
        await self.add_bot(guest, room)
        return room, await self.start(guest, room)


@asynccontextmanager
async def fake_peers() -> AsyncIterator[Peers]:
    """A fake engine and a fake progression on loopback."""
    engine, progression = FakeEngine(), FakeProgression()  # type: ignore[abstract]
    server = grpc.aio.server()
    add_AllocationServiceServicer_to_server(engine, server)
    add_EngineServiceServicer_to_server(engine, server)
    add_ProgressionServiceServicer_to_server(progression, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with (
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as one,
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as other,
    ):
        yield Peers(engine, progression, one, other, f"127.0.0.1:{port}")
    await server.stop(0)


@asynccontextmanager
async def running_matchmaker(
    directory: Path,
    peers: Peers,
    *,
    wrap: Callable[[Store], Store] | None = None,
    **overrides: Any,
) -> AsyncIterator[Running]:
    """A matchmaker on loopback, its file and keys in `directory`; again there: a restart."""
    settings = matchmaker_settings(directory, **overrides)
    public = ensure_keys(settings.signing_keys_file)
    signer = TokenSigner(settings.signing_keys_file)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        service = MatchmakerService(
            settings,
            store=wrap(store) if wrap else store,
            engine=peers.engine_channel,
            progression=peers.progression_channel,
            signer=signer,
        )
        await stack.enter_async_context(service)
        verifier = TokenVerifier(public, roles=service.roles, is_revoked=service.is_revoked)
        server = ServiceServer(
            settings,
            add_services=service.add_to,
            service_names=service.service_names,
            roles=service.access,
            verifier=verifier,
            on_drain=service.drain,
        )
        service.stand_before(server)
        await stack.enter_async_context(server)
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{server.bound_port}")
        await stack.enter_async_context(channel)
        yield Running(service, signer, channel, server.bound_port)


def matchmaker_settings(directory: Path, **overrides: Any) -> MatchmakerSettings:
    """Settings for tests: nothing happens by itself within a test unless it is asked for."""
    values: dict[str, Any] = {
        "store_url": f"sqlite:///{directory / 'matchmaker.db'}",
        "signing_keys_file": directory / "keys.json",
        "sweep_seconds": 3600.0,
        "match_seconds": 0.02,
        "retry_base_seconds": 0.005,
        "retry_cap_seconds": 0.02,
        "grace_seconds": 1.0,
        "stream_check_seconds": 0.2,
        "guests_per_minute": 0,
        "tokens_per_minute": 0,
        "rooms_per_minute": 0,
        "searches_per_minute": 0,
        **overrides,
    }
    return MatchmakerSettings(**values)


async def eventually(condition: Callable[[], Any], seconds: float = 5.0) -> Any:
    """Wait until the (async) condition gives something true, and return that."""
    async with asyncio.timeout(seconds):
        while True:
            result = condition()
            if asyncio.iscoroutine(result):
                result = await result
            if result:
                return result
            await asyncio.sleep(0.01)


def reason_of(error: grpc.aio.AioRpcError) -> str:
    """The reason in the error's ErrorInfo."""
    return str(_detail(error, error_details_pb2.ErrorInfo()).reason)


def metadata_of(error: grpc.aio.AioRpcError) -> dict[str, str]:
    """The metadata in the error's ErrorInfo."""
    return dict(_detail(error, error_details_pb2.ErrorInfo()).metadata)


def bad_fields(error: grpc.aio.AioRpcError) -> list[str]:
    """The fields in the error's BadRequest."""
    violations = _detail(error, error_details_pb2.BadRequest()).field_violations
    return [violation.field for violation in violations]


def _detail(error: grpc.aio.AioRpcError, kind: Any) -> Any:
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    assert status is not None, error
    for detail in status.details:
        if detail.Unpack(kind):
            return kind
    raise AssertionError(f"no {type(kind).__name__} in {error}")


async def _abort(context: Any, error: ServiceError) -> None:
    rich = rpc_status.to_status(error.to_status("opolyx.engine"))
    await context.abort(rich.code, rich.details, rich.trailing_metadata)
