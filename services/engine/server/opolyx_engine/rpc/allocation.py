"""AllocationService: makes and ends games, and tells what became of them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from opolyx.engine.v1 import allocation_service_pb2 as pb
from opolyx.engine.v1 import engine_service_pb2
from opolyx.engine.v1.allocation_service_pb2_grpc import AllocationServiceServicer
from opolyx_engine.bots import POLICIES
from opolyx_engine.errors import (
    draining,
    game_conflict,
    game_not_found,
    invalid_field,
    paused,
)
from opolyx_engine.fact_feed import FactFeed
from opolyx_engine.fair_dice import new_reservation
from opolyx_engine.new_games import NewGames
from opolyx_engine.registry import Registry
from opolyx_engine.rpc.check_table import check_table
from opolyx_engine.rpc.convert_facts import fact_to_proto
from opolyx_engine.rpc.convert_seats import header_from_proto, options_from_proto
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import GameStore, Reservation
from opolyx_rules.chance import commitment_of
from opolyx_servicekit.access import Principal, current_principal
from opolyx_servicekit.wall_clock import Clock

LONGEST_REQUEST_ID: Final = 128
LONGEST_REASON: Final = 200


class AllocationServicer(AllocationServiceServicer):
    """The servicer."""

    def __init__(
        self,
        registry: Registry,
        store: GameStore,
        facts: FactFeed,
        settings: EngineSettings,
        clock: Clock,
        check_token: Callable[[Principal], None],
        new_games: NewGames,
    ) -> None:
        """Make games in `registry` while `new_games` lets them in.

        `check_token` is asked while a stream of facts goes on.
        """
        self._registry = registry
        self._store = store
        self._facts = facts
        self._settings = settings
        self._clock = clock
        self._check_token = check_token
        self._new_games = new_games
        self._counting = asyncio.Lock()

    async def CheckTable(
        self, request: pb.CheckTableRequest, context: Any
    ) -> pb.CheckTableResponse:
        """Whether a game could be played so."""
        check_table(request.ruleset, request.seats, options_from_proto(request.options))
        return pb.CheckTableResponse()

    async def ReserveGame(
        self, request: pb.ReserveGameRequest, context: Any
    ) -> pb.ReserveGameResponse:
        """Make an id and a secret, once a request."""
        if not 1 <= len(request.request_id) <= LONGEST_REQUEST_ID:
            raise invalid_field("request_id", f"must have 1 to {LONGEST_REQUEST_ID} characters")
        self._admit_new()
        reservation = await self._reserve(request.request_id)
        return pb.ReserveGameResponse(
            game_id=reservation.game_id, commitment=commitment_of(reservation.secret)
        )

    async def CreateGame(
        self, request: pb.CreateGameRequest, context: Any
    ) -> pb.CreateGameResponse:
        """Start a reserved game."""
        header = header_from_proto(request, POLICIES)
        if not header.game_id:
            raise game_not_found(header.game_id)
        check_table(header.ruleset, len(header.holders), header.options)
        stored = await self._store.game(header.game_id)
        if stored is not None and not stored.header:
            self._admit_new()
        secret = stored.secret if stored is not None else b""
        game = await self._registry.create(header, secret)
        return pb.CreateGameResponse(game_id=game.game_id)

    async def EndGame(self, request: pb.EndGameRequest, context: Any) -> pb.EndGameResponse:
        """End a game as void."""
        reason = request.reason[:LONGEST_REASON] or "ended by an operator"
        life = await self._registry.end_as_void(request.game_id, reason)
        return pb.EndGameResponse(state=engine_service_pb2.GameState.ValueType(life))

    async def WatchFacts(
        self, request: pb.WatchFactsRequest, context: Any
    ) -> AsyncIterator[pb.WatchFactsResponse]:
        """Facts in order, from the one after the consumer's last."""
        caller = current_principal()
        async for batch in self._facts.after(request.after):
            self._check_token(caller)
            yield pb.WatchFactsResponse(facts=[fact_to_proto(fact) for fact in batch])

    async def SetAdmission(
        self, request: pb.SetAdmissionRequest, context: Any
    ) -> pb.SetAdmissionResponse:
        """Pause or resume taking new games."""
        self._new_games.open = request.open
        return pb.SetAdmissionResponse(open=request.open)

    def _admit_new(self) -> None:
        if self._new_games.draining:
            raise draining(self._settings.drain_retry_ms)
        if not self._new_games.open:
            raise paused()

    async def _reserve(self, request_id: str) -> Reservation:
        """A reservation; one at a time with a development seed, which makes them by their count."""
        seed = self._settings.development_seed
        if seed is None:
            return await self._kept(new_reservation(request_id, 0, None, self._clock.now_ms()))
        async with self._counting:
            ordinal = await self._store.count()
            now_ms = self._clock.now_ms()
            return await self._kept(
                new_reservation(request_id, ordinal, seed.get_secret_value(), now_ms)
            )

    async def _kept(self, wanted: Reservation) -> Reservation:
        kept = await self._store.reserve(wanted)
        if kept is None:
            raise game_conflict(wanted.game_id)
        return kept
