"""The unary calls that change nothing: a game, a trade's verdict, a list, a replay."""

import base64
from collections.abc import Iterator

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.admission import excluded
from opolyx_engine.errors import invalid_field, not_seated, not_watchable
from opolyx_engine.game_actor import GameActor
from opolyx_engine.header import GameHeader
from opolyx_engine.registry import Registry
from opolyx_engine.replay_file import ReplayPages
from opolyx_engine.rpc.convert_actions import trade_from_proto
from opolyx_engine.rpc.convert_answers import refusal_to_proto
from opolyx_engine.rpc.convert_seats import seats_to_proto
from opolyx_engine.rpc.frame_encoder import FrameEncoder
from opolyx_engine.store.base import GameStore, StoredGame
from opolyx_engine.table import ruleset_of
from opolyx_rules.engine import check
from opolyx_rules.queries import trade_value
from opolyx_rules.reasons import Refusal
from opolyx_servicekit.access import Principal

_DEFAULT_PAGE = 50
_LARGEST_PAGE = 100
_LATEST_MS = 1 << 62
_TRUSTED = frozenset({"operator", "service"})


class GameReads:
    """Answers the reading calls."""

    def __init__(
        self, registry: Registry, store: GameStore, encoder: FrameEncoder, replays: ReplayPages
    ) -> None:
        """Read games of `registry` and `store`."""
        self._registry = registry
        self._store = store
        self._encoder = encoder
        self._replays = replays

    async def get_game(
        self, request: pb.GetGameRequest, principal: Principal
    ) -> pb.GetGameResponse:
        """The game as it is now."""
        game = await self._readable(request.game_id, principal)
        seat = game.table.header.seat_of(principal.subject)
        snapshot = self._encoder.snapshot_message(game.table, seat, game.hub.connected)
        return pb.GetGameResponse(snapshot=snapshot)

    async def check_trade(
        self, request: pb.CheckTradeRequest, principal: Principal
    ) -> pb.CheckTradeResponse:
        """Whether the caller's seat could propose a trade now."""
        game = await self._registry.find(request.game_id)
        seat = game.table.header.seat_of(principal.subject)
        if seat is None:
            raise not_seated(request.game_id)
        action = trade_from_proto(request.trade, seat)
        if isinstance(action, Refusal):
            return pb.CheckTradeResponse(refusal=refusal_to_proto(action))
        state = game.table.state
        _, _, _, give_cash, give, want_cash, want = action
        response = pb.CheckTradeResponse(
            give_value=trade_value(state, give_cash, give),
            want_value=trade_value(state, want_cash, want),
        )
        refusal = excluded(game.table, seat) or check(state, action)
        if refusal is None:
            response.allowed = True
        else:
            response.refusal.CopyFrom(refusal_to_proto(refusal))
        return response

    async def list_games(self, request: pb.ListGamesRequest) -> pb.ListGamesResponse:
        """Running games that can be watched, newest first."""
        if request.page_size > _LARGEST_PAGE:
            raise invalid_field("page_size", f"must be at most {_LARGEST_PAGE}")
        size = request.page_size or _DEFAULT_PAGE
        before = _decode_token(request.page_token)
        found = await self._store.list_games(before, size + 1, request.ruleset)
        page = found[:size]
        response = pb.ListGamesResponse(games=self._summaries(page))
        if len(found) > size:
            response.next_page_token = _encode_token(page[-1].started_ms, page[-1].game_id)
        return response

    async def get_replay(
        self, request: pb.GetReplayRequest, principal: Principal
    ) -> pb.GetReplayResponse:
        """One page of a replay file."""
        await self._readable(request.game_id, principal)
        page = await self._replays.page(request.game_id, request.page_token)
        return pb.GetReplayResponse(
            chunk=page.chunk, next_page_token=page.next_token, complete=page.complete
        )

    async def _readable(self, game_id: str, principal: Principal) -> GameActor:
        game = await self._registry.find(game_id)
        header = game.table.header
        if (
            not header.watchable
            and principal.role not in _TRUSTED
            and header.seat_of(principal.subject) is None
        ):
            raise not_watchable(game_id)
        return game

    def _summaries(self, page: list[StoredGame]) -> Iterator[pb.GameSummary]:
        """Of those that can be watched: a held game can't, and maybe not even be described."""
        for stored in page:
            if stored.game_id in self._registry.held():
                continue
            try:
                yield self._summary(stored)
            except (ValueError, KeyError, TypeError):  # damaged, and not taken up yet
                continue

    def _summary(self, stored: StoredGame) -> pb.GameSummary:
        header = GameHeader.decode(stored.header)
        return pb.GameSummary(
            game_id=stored.game_id,
            ruleset=stored.ruleset,
            seats=seats_to_proto(header, ruleset_of(header)),
            round=self._registry.round_of(stored.game_id),
            started_unix_ms=stored.started_ms,
            state=pb.GameState.ValueType(stored.state),
        )


def _encode_token(started_ms: int, game_id: str) -> str:
    return base64.urlsafe_b64encode(f"{started_ms}:{game_id}".encode()).decode()


def _decode_token(token: str) -> tuple[int, str] | None:
    if not token:
        return None
    try:
        started, _, game_id = base64.urlsafe_b64decode(token.encode()).decode().partition(":")
        started_ms = int(started)
    except ValueError:
        started_ms, game_id = -1, ""
    if not 0 <= started_ms <= _LATEST_MS:
        raise invalid_field("page_token", "is not one of this method")
    return started_ms, game_id
