"""What tests of progression need: finished games, facts, and an engine that only tells facts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status
from prometheus_client import CollectorRegistry

from opolyx.engine.v1 import allocation_service_pb2 as engine_pb
from opolyx.engine.v1 import allocation_service_pb2_grpc as engine_grpc
from opolyx.engine.v1.engine_service_pb2 import Seat
from opolyx.engine.v1.engine_service_pb2 import SeatKind as WireSeatKind
from opolyx.engine.v1.game_pb2 import EndCause, ResultView, SeatResult
from opolyx.progression.v1.progression_service_pb2_grpc import ProgressionServiceStub
from opolyx_progression.awards import CURRENT, AwardTable
from opolyx_progression.games import FinishedGame, FinishedSeat, Scheme, SeatKind
from opolyx_progression.metrics import ProgressionMetrics
from opolyx_progression.service import ProgressionService
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.base import Store
from opolyx_progression.store.sqlite import SqliteStore
from opolyx_servicekit.access import Principal, bad_token
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.sqlite_file import SqliteFile

ENDED_MS = 1_700_000_000_000


def person(
    player_id: str,
    place: int,
    *,
    survived: bool = False,
    full_groups: int = 0,
    side: int | None = None,
) -> FinishedSeat:
    """A person's seat; seat number and side are set by `finished_game`."""
    return _seat(player_id, SeatKind.PERSON, place, survived, full_groups, side)


def bot(
    player_id: str,
    place: int,
    *,
    survived: bool = False,
    full_groups: int = 0,
    side: int | None = None,
) -> FinishedSeat:
    """An SDK bot's seat, or a built-in one's if `player_id` is empty."""
    kind = SeatKind.BOT if player_id else SeatKind.BUILT_IN
    return _seat(player_id, kind, place, survived, full_groups, side)


def _seat(
    player_id: str,
    kind: SeatKind,
    place: int,
    survived: bool,
    full_groups: int,
    side: int | None,
) -> FinishedSeat:
    return FinishedSeat(
        seat=0,
        player_id=player_id,
        name=player_id.upper(),
        kind=kind,
        side=-1 if side is None else side,
        place=place,
        survived=survived,
        full_groups=full_groups,
        net_worth=1000 if survived else 0,
    )


def finished_game(
    *seats: FinishedSeat,
    game_id: str = "g1",
    ruleset: str = "classic@full",
    scheme: Scheme = Scheme.EVERY_SEAT,
    ended_in: int = 50,
    places: int | None = None,
) -> FinishedGame:
    """A result with these seats, numbered in the order given."""
    return FinishedGame(
        game_id=game_id,
        ruleset=ruleset,
        scheme=scheme,
        round=ended_in,
        places=places or len(seats),
        cause=EndCause.END_CAUSE_LAST_STANDING,
        ended_unix_ms=ENDED_MS,
        log_digest="ab" * 32,
        seats=tuple(_numbered(seat, number) for number, seat in enumerate(seats)),
    )


def _numbered(seat: FinishedSeat, number: int) -> FinishedSeat:
    side = number if seat.side == -1 else seat.side
    return FinishedSeat(
        seat=number,
        player_id=seat.player_id,
        name=seat.name,
        kind=seat.kind,
        side=side,
        place=seat.place,
        survived=seat.survived,
        full_groups=seat.full_groups,
        net_worth=seat.net_worth,
    )


def duel(game_id: str, winner: str, loser: str, *, ended_in: int = 50) -> FinishedGame:
    """A game of two people in `classic@full`: 250 XP for the winner, 40 for the loser."""
    return finished_game(
        person(winner, 1, survived=True), person(loser, 2), game_id=game_id, ended_in=ended_in
    )


def finished_fact(number: int, game: FinishedGame) -> engine_pb.Fact:
    """The fact that `game` finished."""
    finished = engine_pb.GameFinished(
        ruleset=game.ruleset,
        xp_scheme=engine_pb.XpScheme.ValueType(game.scheme),
        seats=[_wire_seat(seat) for seat in game.seats],
        result=ResultView(
            cause=EndCause.ValueType(game.cause),
            round=game.round,
            seats=[_wire_result(seat) for seat in game.seats],
        ),
        places=game.places,
        log_digest=bytes.fromhex(game.log_digest),
    )
    return engine_pb.Fact(
        number=number,
        game_id=game.game_id,
        at_unix_ms=game.ended_unix_ms,
        game_finished=finished,
    )


def _wire_seat(seat: FinishedSeat) -> Seat:
    return Seat(
        seat=seat.seat,
        player_id=seat.player_id,
        name=seat.name,
        kind=WireSeatKind.ValueType(seat.kind),
        side=seat.side,
    )


def _wire_result(seat: FinishedSeat) -> SeatResult:
    return SeatResult(
        seat=seat.seat,
        place=seat.place,
        survived=seat.survived,
        net_worth=seat.net_worth,
        full_groups=seat.full_groups,
    )


def voided_fact(number: int, game_id: str) -> engine_pb.Fact:
    """The fact that a game was ended as void."""
    return engine_pb.Fact(
        number=number,
        game_id=game_id,
        at_unix_ms=ENDED_MS,
        game_voided=engine_pb.GameVoided(reason="fault"),
    )


def released_fact(number: int, game_id: str, player_id: str) -> engine_pb.Fact:
    """The fact that a player is free."""
    return engine_pb.Fact(
        number=number,
        game_id=game_id,
        at_unix_ms=ENDED_MS,
        seat_released=engine_pb.SeatReleased(seat=1, player_id=player_id),
    )


def senseless_fact(number: int, game_id: str) -> engine_pb.Fact:
    """A finished game without seats: it can't be processed."""
    return engine_pb.Fact(
        number=number, game_id=game_id, at_unix_ms=ENDED_MS, game_finished=engine_pb.GameFinished()
    )


class FactTeller(engine_grpc.AllocationServiceServicer):
    """An AllocationService with facts alone; tests add them, break streams and read requests."""

    def __init__(self, facts: Iterable[engine_pb.Fact] = ()) -> None:
        """Begin with `facts`."""
        self.facts = list(facts)
        self.asked_after: list[int] = []
        self.tokens: list[str] = []
        self.batch = 3
        """Facts a response."""
        self.refusals = 0
        """How many of the next calls fail with UNAVAILABLE."""
        self.break_after: int | None = None
        """Each stream breaks after as many responses."""
        self.break_code = grpc.StatusCode.UNAVAILABLE
        """What it breaks with."""
        self._changed = asyncio.Condition()

    async def tell(self, *facts: engine_pb.Fact) -> None:
        """Add facts; open streams get them."""
        async with self._changed:
            self.facts.extend(facts)
            self._changed.notify_all()

    async def WatchFacts(
        self, request: engine_pb.WatchFactsRequest, context: Any
    ) -> AsyncIterator[engine_pb.WatchFactsResponse]:
        self.asked_after.append(request.after)
        metadata = dict(context.invocation_metadata())
        self.tokens.append(metadata.get("authorization", ""))
        if self.refusals:
            self.refusals -= 1
            await context.abort(grpc.StatusCode.UNAVAILABLE, "away")
        waiting = [fact for fact in self.facts if fact.number > request.after]
        told = len(self.facts)
        responses = 0
        while True:
            while waiting:
                if self.break_after is not None and responses >= self.break_after:
                    await context.abort(self.break_code, "broken")
                yield engine_pb.WatchFactsResponse(facts=waiting[: self.batch])
                responses += 1
                waiting = waiting[self.batch :]
            async with self._changed:
                while len(self.facts) == told:
                    await self._changed.wait()
                waiting = self.facts[told:]
                told = len(self.facts)

    async def ReserveGame(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    async def CreateGame(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    async def CheckTable(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    async def EndGame(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    async def SetAdmission(self, request: Any, context: Any) -> Any:
        raise NotImplementedError


@asynccontextmanager
async def serving(teller: FactTeller, address: str = "127.0.0.1:0") -> AsyncIterator[str]:
    """Serve `teller` on loopback; its address."""
    server = grpc.aio.server()
    engine_grpc.add_AllocationServiceServicer_to_server(teller, server)
    port = server.add_insecure_port(address)
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


@asynccontextmanager
async def open_store(path: Path, *, table: AwardTable = CURRENT) -> AsyncIterator[SqliteStore]:
    """A store on a file, without waiting for the disk."""
    async with SqliteFile(path, synchronous="NORMAL") as file:
        yield await SqliteStore.open(file, table=table)


def new_metrics() -> ProgressionMetrics:
    """Metrics of one's own."""
    return ProgressionMetrics(CollectorRegistry())


class RoleVerifier:
    """A token is `role` or `role:subject`; `bad` isn't one."""

    def verify(self, token: str) -> Principal:
        role, _, subject = token.partition(":")
        if role == "bad":
            raise bad_token("invalid", "token is not valid here")
        return Principal(subject=subject or f"{role}_1", role=role)


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """The metadata of a call by the holder of `token`."""
    return (("authorization", f"Bearer {token}"),)


async def eventually(holds: Callable[[], Awaitable[bool]], *, seconds: float = 15.0) -> None:
    """Wait until `holds` says so."""
    async with asyncio.timeout(seconds):
        while not await holds():  # noqa: ASYNC110 - it may hold in another process
            await asyncio.sleep(0.003)


async def everything(store: Store, player_ids: Sequence[str]) -> dict[str, Any]:
    """All that is stored of a few players, to compare two stores."""
    last = await store.last_sequence()
    ledger = await store.ledger(after=0, until=last)
    return {
        "ledger": [(entry.award, entry.xp, entry.cards) for entry in ledger],
        "profiles": [await store.profile(player_id) for player_id in player_ids],
        "cards": [await store.cards(player_id) for player_id in player_ids],
        "xp": await store.top("xp", 100),
    }


class Running:
    """A running service, its engine and a stub."""

    settings: Final = ProgressionSettings(
        retry_base_seconds=0.001, retry_cap_seconds=0.01, grace_seconds=0.1
    )

    def __init__(
        self, teller: FactTeller, service: ProgressionService, stub: ProgressionServiceStub
    ) -> None:
        self.teller = teller
        self.service = service
        self.stub = stub
        self.store: Any = service._store

    async def told(self, *facts: Any) -> None:
        """Tell facts and wait until they are applied."""
        await self.teller.tell(*facts)
        await self.applied(facts[-1].number)

    async def applied(self, number: int) -> None:
        """Wait until a fact is applied."""
        await eventually(partial(reached, self.store, number))

    async def change(self, statement: str) -> None:
        """Change the store behind the service's back."""
        changed = await self.store._file.write(
            lambda connection: connection.execute(statement).rowcount
        )
        assert changed, "the statement changed nothing"

    async def close_store(self) -> None:
        """Take the store away."""
        await self.store._file.close()


async def reached(store: Store, number: int) -> bool:
    """Whether the fact of this number was applied."""
    return await store.cursor() >= number


def service_on(store: Store, engine: grpc.aio.Channel) -> ProgressionService:
    """The service as it will run."""
    return ProgressionService(
        Running.settings,
        store=store,
        engine=engine,
        registry=CollectorRegistry(),
        token=lambda: "token",
    )


@asynccontextmanager
async def running(path: Path, teller: FactTeller) -> AsyncIterator[Running]:
    """A service on a store and the facts of `teller`."""
    async with (
        serving(teller) as address,
        open_store(path) as store,
        grpc.aio.insecure_channel(address) as engine,
    ):
        service = service_on(store, engine)
        server = ServiceServer(
            Running.settings,
            add_services=service.add_to,
            service_names=service.service_names,
            roles=service.access,
            verifier=RoleVerifier(),
        )
        async with (
            service,
            server,
            grpc.aio.insecure_channel(f"127.0.0.1:{server.bound_port}") as channel,
        ):
            yield Running(teller, service, ProgressionServiceStub(channel))


async def refused(call: Any) -> tuple[grpc.StatusCode, error_details_pb2.ErrorInfo]:
    """The code and ErrorInfo that a call fails with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    status = rpc_status.from_call(caught.value)  # type: ignore[arg-type]
    assert status is not None
    info = error_details_pb2.ErrorInfo()
    status.details[0].Unpack(info)
    return caught.value.code(), info
