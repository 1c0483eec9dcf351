"""OperationsService: what operators see of this engine, and how they steer it."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

from opolyx.engine.v1 import decision_pb2, engine_service_pb2
from opolyx.engine.v1 import operations_service_pb2 as pb
from opolyx.engine.v1.operations_service_pb2_grpc import OperationsServiceServicer
from opolyx_engine.errors import game_not_found, invalid_field
from opolyx_engine.game_actor import GameActor
from opolyx_engine.header import GameHeader
from opolyx_engine.new_games import NewGames
from opolyx_engine.registry import Registry
from opolyx_engine.rpc.convert_seats import seats_to_proto
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import RUNNING, GameStore, StoredGame
from opolyx_engine.sweep import is_stuck
from opolyx_engine.table import ruleset_of
from opolyx_rules.queries import awaited_phase, awaited_seat
from opolyx_servicekit.errors import FailedPrecondition
from opolyx_servicekit.wall_clock import Clock

_DEFAULT_PAGE: Final = 50
_LARGEST_PAGE: Final = 100

IN_MEMORY: Final = pb.GAME_PLACE_IN_MEMORY
RESTING: Final = pb.GAME_PLACE_RESTING
HELD: Final = pb.GAME_PLACE_HELD
COMING: Final = pb.GAME_PLACE_COMING
REFUSED: Final = pb.GAME_PLACE_REFUSED


class OperationsServicer(OperationsServiceServicer):
    """The servicer. Every answer is built field by field, so that nothing hidden can slip in."""

    def __init__(
        self,
        registry: Registry,
        store: GameStore,
        settings: EngineSettings,
        clock: Clock,
        new_games: NewGames,
        drain: Callable[[], Awaitable[int]],
    ) -> None:
        """Look at `registry`; `drain` drains the engine and returns how many streams were told."""
        self._registry = registry
        self._store = store
        self._settings = settings
        self._clock = clock
        self._new_games = new_games
        self._drain = drain

    async def ListRunningGames(
        self, request: pb.ListRunningGamesRequest, context: Any
    ) -> pb.ListRunningGamesResponse:
        """One page of the running games, by id."""
        if request.page_size > _LARGEST_PAGE:
            raise invalid_field("page_size", f"must be at most {_LARGEST_PAGE}")
        size = request.page_size or _DEFAULT_PAGE
        found = sorted(
            (game_id, place)
            for game_id, place in self._places().items()
            if game_id > request.page_token
            and request.place in (place, pb.GAME_PLACE_UNSPECIFIED)
            and (not request.only_stuck or self._stuck(game_id))
        )
        page = found[:size]
        return pb.ListRunningGamesResponse(
            games=[await self._described(game_id, place) for game_id, place in page],
            next_page_token=page[-1][0] if len(found) > size else "",
            takes_new_games=self._new_games.open and not self._new_games.draining,
            draining=self._new_games.draining,
        )

    async def InspectGame(
        self, request: pb.InspectGameRequest, context: Any
    ) -> pb.InspectGameResponse:
        """One game, closely."""
        place = self._places().get(request.game_id, pb.GAME_PLACE_UNSPECIFIED)
        try:
            game = await self._registry.find(request.game_id)
        except FailedPrecondition:  # its log can't be followed, or not by the rules here
            place = self._places().get(request.game_id, place)
            stored = await self._stored(request.game_id)
            return pb.InspectGameResponse(
                game=_of_stored(request.game_id, place, stored),
                state=engine_service_pb2.GameState.ValueType(stored.state),
                end_reason=stored.end_reason,
            )
        response = pb.InspectGameResponse(game=self._of_actor(game, place))
        _add_table(response, game)
        return response

    async def PauseNewGames(
        self, request: pb.PauseNewGamesRequest, context: Any
    ) -> pb.PauseNewGamesResponse:
        """Take no new games."""
        self._new_games.open = False
        return pb.PauseNewGamesResponse()

    async def ResumeNewGames(
        self, request: pb.ResumeNewGamesRequest, context: Any
    ) -> pb.ResumeNewGamesResponse:
        """Take new games."""
        self._new_games.open = True
        return pb.ResumeNewGamesResponse()

    async def Drain(self, request: pb.DrainRequest, context: Any) -> pb.DrainResponse:
        """Send every stream elsewhere."""
        return pb.DrainResponse(streams=await self._drain())

    def _places(self) -> dict[str, pb.GamePlace.ValueType]:
        """Where each running game is; a game that is on its way in counts as that alone."""
        running = (game.game_id for game in self._registry.running())
        return {
            **_at(REFUSED, self._registry.refused()),
            **_at(COMING, self._registry.coming()),
            **_at(RESTING, self._registry.resting()),
            **_at(HELD, self._registry.held()),
            **_at(IN_MEMORY, running),
        }

    def _stuck(self, game_id: str) -> bool:
        game = self._registry.find_running(game_id) or self._registry.resting().get(game_id)
        if game is None:
            return False
        return is_stuck(game, self._clock.now_ms(), self._settings.stuck_after_ms)

    async def _described(self, game_id: str, place: pb.GamePlace.ValueType) -> pb.OperatedGame:
        if game := self._registry.find_running(game_id):
            return self._of_actor(game, place)
        described = _of_stored(game_id, place, await self._stored(game_id))
        if rested := self._registry.resting().get(game_id):
            described.round = rested.round
            described.next_deadline_unix_ms = rested.next_due_ms or 0
            described.stuck = self._stuck(game_id)
            described.quiet_since_unix_ms = rested.quiet_since_ms
        return described

    def _of_actor(self, game: GameActor, place: pb.GamePlace.ValueType) -> pb.OperatedGame:
        table = game.table
        return pb.OperatedGame(
            game_id=game.game_id,
            place=place,
            ruleset=table.header.ruleset,
            seats=seats_to_proto(table.header, table.ruleset),
            round=table.state.round,
            seq=table.seq,
            next_deadline_unix_ms=game.next_due_ms or 0,
            receivers=len(game.hub),
            stuck=self._stuck(game.game_id),
            started_unix_ms=table.started_ms,
            quiet_since_unix_ms=game.quiet_since_ms,
        )

    async def _stored(self, game_id: str) -> StoredGame:
        stored = await self._store.game(game_id)
        if stored is None:
            raise game_not_found(game_id)
        return stored


def _at(
    place: pb.GamePlace.ValueType, game_ids: Iterable[str]
) -> dict[str, pb.GamePlace.ValueType]:
    return dict.fromkeys(game_ids, place)


def _of_stored(game_id: str, place: pb.GamePlace.ValueType, stored: StoredGame) -> pb.OperatedGame:
    """What can be said of a game without following its log."""
    described = pb.OperatedGame(
        game_id=game_id,
        place=place,
        ruleset=stored.ruleset,
        seq=max(stored.seq, 0),
        started_unix_ms=stored.started_ms,
    )
    try:
        header = GameHeader.decode(stored.header)
        described.seats.extend(seats_to_proto(header, ruleset_of(header)))
    except (ValueError, KeyError, TypeError):
        pass  # damaged: that is why it is looked at
    return described


def _add_table(response: pb.InspectGameResponse, game: GameActor) -> None:
    """Whom the table waits for, and what waits for the table."""
    table = game.table
    response.state = engine_service_pb2.GameState.ValueType(table.life)
    response.end_reason = table.end_reason
    response.log_digest = table.log_digest
    response.open_offers = len(table.state.offers)
    response.connected_seats.extend(game.hub.connected)
    response.commands_waiting = game.waiting
    response.first_command_unix_ms = game.first_waits_since_ms or 0
    if table.life == RUNNING:
        response.awaited_seat = awaited_seat(table.state)
        response.phase = decision_pb2.Phase.ValueType(awaited_phase(table.state))
        response.decision_id = f"d{table.state.decision}"
        response.deadline_unix_ms = table.clocks.deadline_ms
    if game.failures.last is not None:
        at_ms, message = game.failures.last
        response.last_store_failure.CopyFrom(pb.StoreFailure(at_unix_ms=at_ms, message=message))
