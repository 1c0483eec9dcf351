"""The engine and progression over gRPC."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

import grpc
import structlog
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as engine_pb
from opolyx.engine.v1.allocation_service_pb2_grpc import AllocationServiceStub
from opolyx.engine.v1.engine_service_pb2_grpc import EngineServiceStub
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from opolyx.progression.v1.progression_service_pb2_grpc import ProgressionServiceStub
from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.peers import (
    EngineRefused,
    EngineUnavailable,
    Fact,
    GameLife,
    PlayerGrant,
    Reservation,
)
from opolyx_matchmaker.room import Room, RoomOptions
from opolyx_matchmaker.rpc import convert
from opolyx_servicekit.streams import responses

_log = structlog.get_logger(__name__)

_CONSUMER: Final = "matchmaker"
_REASON_PREFIX: Final = "ERROR_REASON_"
_REFUSALS: Final = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.ALREADY_EXISTS,
        grpc.StatusCode.OUT_OF_RANGE,
    }
)
"""Codes that blame the request; a bad token of ours, say, is no fault of the player's."""

_Metadata = tuple[tuple[str, str], ...]


class _Caller:
    """Signs calls with the service's own token."""

    def __init__(self, token: Callable[[], str] | None, timeout_seconds: float) -> None:
        self._token = token
        self.timeout_seconds = timeout_seconds

    def metadata(self, game_id: str = "") -> _Metadata:
        """The token, and the game that a proxy may route by."""
        entries: list[tuple[str, str]] = []
        if self._token is not None:
            entries.append(("authorization", f"Bearer {self._token()}"))
        if game_id:
            entries.append(("x-opolyx-game", game_id))
        return tuple(entries)


class EngineClient:
    """The engine behind a channel; see `peers.Engine`."""

    def __init__(
        self, channel: grpc.aio.Channel, token: Callable[[], str] | None, timeout_seconds: float
    ) -> None:
        """Use an open channel, which stays its giver's to close."""
        self._allocation = AllocationServiceStub(channel)
        self._engine = EngineServiceStub(channel)
        self._caller = _Caller(token, timeout_seconds)

    async def check_table(self, ruleset: str, seats: int, options: RoomOptions) -> None:
        """Ask whether a game could be played so."""
        request = convert.check_table_request(ruleset, seats, options)
        await self._call(self._allocation.CheckTable, request)

    async def reserve(self, request_id: str) -> Reservation:
        """Reserve a game; the same request gets the same game."""
        request = allocation_pb.ReserveGameRequest(request_id=request_id)
        response = await self._call(self._allocation.ReserveGame, request)
        return Reservation(response.game_id, response.commitment)

    async def create(self, room: Room, grants: Sequence[SeatGrant]) -> None:
        """Start the room's game; the same again is no second game."""
        request = convert.create_game_request(room, grants)
        await self._call(self._allocation.CreateGame, request, room.game_id)

    async def life(self, game_id: str) -> GameLife:
        """What became of a game; GONE if the engine knows none."""
        request = engine_pb.GetGameRequest(game_id=game_id)
        try:
            return convert.life_of(await self._call(self._engine.GetGame, request, game_id))
        except EngineRefused as refused:
            if refused.reason in ("GAME_NOT_FOUND", grpc.StatusCode.NOT_FOUND.name):
                return GameLife.GONE
            raise

    async def facts(self, after: int) -> AsyncGenerator[list[Fact], None]:
        """Facts after a number, in batches; an empty batch is a sign of life."""
        request = allocation_pb.WatchFactsRequest(after=after, consumer=_CONSUMER)
        call = self._allocation.WatchFacts(request, metadata=self._caller.metadata())
        async with aclosing(responses(call)) as batches:
            async for batch in batches:
                yield [convert.fact_of(fact) for fact in batch.facts]

    async def _call(self, method: Any, request: Any, game_id: str = "") -> Any:
        try:
            return await method(
                request,
                metadata=self._caller.metadata(game_id),
                timeout=self._caller.timeout_seconds,
            )
        except grpc.aio.AioRpcError as error:
            raise _translated(error) from error


class ProgressionClient:
    """Progression behind a channel; see `peers.Progression`."""

    def __init__(
        self, channel: grpc.aio.Channel, token: Callable[[], str] | None, timeout_seconds: float
    ) -> None:
        """Use an open channel, which stays its giver's to close."""
        self._stub = ProgressionServiceStub(channel)
        self._caller = _Caller(token, timeout_seconds)

    async def grants(self, player_ids: Sequence[str]) -> Mapping[str, PlayerGrant]:
        """What is known of the players; nothing, and a line in the log, if that can't be had."""
        request = progression_pb.GetGrantsRequest(player_ids=player_ids)
        try:
            response = await self._stub.GetGrants(
                request, metadata=self._caller.metadata(), timeout=self._caller.timeout_seconds
            )
        except grpc.aio.AioRpcError as error:
            _log.warning("grants_missing", code=error.code().name, error=error.details())
            return {}
        return {grant.player_id: convert.grant_of(grant) for grant in response.grants}


def _translated(error: grpc.aio.AioRpcError) -> EngineUnavailable | EngineRefused:
    """A plain no is a refusal; after anything else the call may have happened."""
    code = error.code()
    text = error.details() or ""
    if code not in _REFUSALS:
        return EngineUnavailable(f"{code.name}: {text}")
    reason, fields = code.name, {}
    status = rpc_status.from_call(error)  # type: ignore[arg-type]  # an AioRpcError has all of it
    for detail in status.details if status else ():
        info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        if detail.Unpack(info):
            reason = info.reason.removeprefix(_REASON_PREFIX)
        elif detail.Unpack(bad):
            fields = {one.field: one.description for one in bad.field_violations}
    return EngineRefused(reason, text, fields)
