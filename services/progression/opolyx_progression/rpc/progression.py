"""ProgressionService as callers see it: checks requests, asks the store, answers."""

from typing import Any, Final

import grpc

from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx.progression.v1 import progression_service_pb2_grpc as pb_grpc
from opolyx_progression.access import SEES_WHOLE_GAMES
from opolyx_progression.auditing import Auditing
from opolyx_progression.facts import FactConsumer
from opolyx_progression.games import LONGEST_ID
from opolyx_progression.leaderboards import XP_BOARD, rating_board
from opolyx_progression.levels import level_table
from opolyx_progression.rpc import convert
from opolyx_progression.signals import SignalWatch, latest_results
from opolyx_progression.store.base import Store
from opolyx_servicekit.access import current_principal
from opolyx_servicekit.errors import InvalidArgument, NotFound
from opolyx_servicekit.wall_clock import Clock

_LONGEST_REASON: Final = 500
_LARGEST_PAGE: Final = 100
_AWARDS_PAGE: Final = 50
_BOARD_PAGE: Final = 20
_MOST_GRANTS: Final = 6
_MOST_SEATS: Final = 6
_OPERATORS_PAGE: Final = 50
_MOST_RETRIED: Final = 100
_SIGNAL_GAMES: Final = 2_000
_MOST_SIGNAL_GAMES: Final = 10_000
_LARGEST_NUMBER: Final = 1 << 62


class ProgressionServicer(pb_grpc.ProgressionServiceServicer):
    """Serves what the store has, and has things done for operators."""

    def __init__(
        self, store: Store, clock: Clock, auditing: Auditing, consumer: FactConsumer
    ) -> None:
        """Serve from `store`."""
        self._store = store
        self._clock = clock
        self._auditing = auditing
        self._consumer = consumer

    async def GetProfile(
        self, request: pb.GetProfileRequest, context: Any
    ) -> pb.GetProfileResponse:
        """A player's profile, the caller's if none is named."""
        return pb.GetProfileResponse(profile=await self._profile(_player(request.player_id)))

    async def ListAwards(
        self, request: pb.ListAwardsRequest, context: Any
    ) -> pb.ListAwardsResponse:
        """A player's awards; every seat's of a game for services and operators."""
        game_id = _checked("game_id", request.game_id)
        whole = game_id and not request.player_id and current_principal().role in SEES_WHOLE_GAMES
        asked = _page_size(request.page_size, _AWARDS_PAGE)
        limit = _MOST_SEATS if whole else asked
        entries = await self._store.awards(
            "" if whole else _player(request.player_id),
            game_id=game_id,
            before=_page_token(request.page_token),
            limit=limit + 1,
        )
        page = entries[:limit]
        more = not whole and len(entries) > limit
        return pb.ListAwardsResponse(
            awards=[convert.award_message(entry) for entry in page],
            next_page_token=str(page[-1].sequence) if more else "",
        )

    async def GetLevelTable(
        self, request: pb.GetLevelTableRequest, context: Any
    ) -> pb.GetLevelTableResponse:
        """The table of levels."""
        levels = [convert.level_message(level) for level in level_table()]
        return pb.GetLevelTableResponse(levels=levels)

    async def GetLeaderboard(
        self, request: pb.GetLeaderboardRequest, context: Any
    ) -> pb.GetLeaderboardResponse:
        """A leaderboard's top, or a player's neighbours."""
        board = _board(request)
        limit = _page_size(request.page_size, _BOARD_PAGE)
        player_id = _checked("around_player_id", request.around_player_id)
        if not player_id:
            return convert.leaderboard_message(await self._store.top(board, limit))
        page = await self._store.around(board, player_id, limit)
        if page is None:
            raise NotFound(
                "PLAYER_NOT_FOUND",
                f"player {player_id} is not on this leaderboard",
                metadata={"player_id": player_id},
            )
        return convert.leaderboard_message(page)

    async def ListCards(self, request: pb.ListCardsRequest, context: Any) -> pb.ListCardsResponse:
        """A player's cards."""
        cards = await self._store.cards(_player(request.player_id))
        return pb.ListCardsResponse(cards=[convert.card_message(card) for card in cards])

    async def SetEntitlements(
        self, request: pb.SetEntitlementsRequest, context: Any
    ) -> pb.SetEntitlementsResponse:
        """Set whether a player is a VIP."""
        player_id = _checked("player_id", request.player_id, required=True)
        reason = _checked("reason", request.reason, longest=_LONGEST_REASON, required=True)
        await self._store.set_vip(
            player_id,
            vip=request.vip,
            reason=reason,
            operator=current_principal().subject,
            now_ms=self._clock.now_ms(),
        )
        return pb.SetEntitlementsResponse(profile=await self._profile(player_id))

    async def GetGrants(self, request: pb.GetGrantsRequest, context: Any) -> pb.GetGrantsResponse:
        """What players bring to a table."""
        if len(request.player_ids) > _MOST_GRANTS:
            raise _bad_field("player_ids", f"has more than {_MOST_GRANTS}")
        ids = [_checked("player_ids", one, required=True) for one in request.player_ids]
        grants = await self._store.grants(ids)
        return pb.GetGrantsResponse(grants=[convert.grant_message(grant) for grant in grants])

    async def Audit(self, request: pb.AuditRequest, context: Any) -> pb.AuditResponse:
        """Recompute everything."""
        report = await self._auditing.run(count_boards=request.count_boards)
        return pb.AuditResponse(report=convert.report_message(report))

    async def ListDeadLetters(
        self, request: pb.ListDeadLettersRequest, context: Any
    ) -> pb.ListDeadLettersResponse:
        """Facts that couldn't be processed."""
        limit = _page_size(request.page_size, _OPERATORS_PAGE)
        after = _page_token(request.page_token)
        letters = await self._store.dead_letters(after=after, limit=limit + 1)
        return pb.ListDeadLettersResponse(
            dead_letters=[convert.dead_letter_message(letter) for letter in letters[:limit]],
            next_page_token=str(letters[limit - 1].number) if len(letters) > limit else "",
            total=await self._store.dead_letter_count(),
        )

    async def RetryDeadLetters(
        self, request: pb.RetryDeadLettersRequest, context: Any
    ) -> pb.RetryDeadLettersResponse:
        """Process once more what couldn't be."""
        numbers = list(request.fact_numbers)
        if len(numbers) > _MOST_RETRIED:
            raise _bad_field("fact_numbers", f"has more than {_MOST_RETRIED}")
        if max(numbers, default=0) >= _LARGEST_NUMBER:
            raise _bad_field("fact_numbers", "has one that no fact can have")
        done = await self._consumer.retry_dead_letters(numbers)
        return pb.RetryDeadLettersResponse(
            tried=done.tried, processed=done.processed, left=done.left
        )

    async def ListSignals(
        self, request: pb.ListSignalsRequest, context: Any
    ) -> pb.ListSignalsResponse:
        """Signs of collusion and farming in the results of late."""
        if request.games > _MOST_SIGNAL_GAMES:
            raise _bad_field("games", f"is over {_MOST_SIGNAL_GAMES}")
        watch = SignalWatch()
        async for result in latest_results(self._store, request.games or _SIGNAL_GAMES):
            watch.see(result)
        return pb.ListSignalsResponse(
            signals=[convert.signal_message(signal) for signal in watch.signals()],
            games=watch.games,
        )

    async def ListEntitlementChanges(
        self, request: pb.ListEntitlementChangesRequest, context: Any
    ) -> pb.ListEntitlementChangesResponse:
        """Who set whose entitlements, when and why."""
        limit = _page_size(request.page_size, _OPERATORS_PAGE)
        changes = await self._store.entitlement_changes(
            _checked("player_id", request.player_id),
            before=_page_token(request.page_token),
            limit=limit + 1,
        )
        return pb.ListEntitlementChangesResponse(
            changes=[convert.entitlement_change_message(change) for change in changes[:limit]],
            next_page_token=str(changes[limit - 1].number) if len(changes) > limit else "",
        )

    async def _profile(self, player_id: str) -> pb.Profile:
        return convert.profile_message(await self._store.profile(player_id))


def add_progression(
    server: grpc.aio.Server,
    store: Store,
    clock: Clock,
    auditing: Auditing,
    consumer: FactConsumer,
) -> None:
    """Serve progression on `server`."""
    servicer = ProgressionServicer(store, clock, auditing, consumer)
    pb_grpc.add_ProgressionServiceServicer_to_server(servicer, server)


def _player(player_id: str) -> str:
    return _checked("player_id", player_id) or current_principal().subject


def _board(request: pb.GetLeaderboardRequest) -> str:
    if request.kind == pb.LEADERBOARD_KIND_XP:
        return XP_BOARD
    if request.kind != pb.LEADERBOARD_KIND_RATING:
        raise _bad_field("kind", "is not a kind of leaderboard")
    mode = _checked("mode", request.mode, required=True)
    if "@" in mode:
        raise _bad_field("mode", "is a ruleset: ratings go by the mode alone, before the @")
    return rating_board(mode, bots=request.bots)


def _page_size(asked: int, default: int) -> int:
    if asked > _LARGEST_PAGE:
        raise _bad_field("page_size", f"is over {_LARGEST_PAGE}")
    return asked or default


def _page_token(token: str) -> int:
    """The number to go on behind; 0 for the beginning."""
    if not token:
        return 0
    if not (token.isascii() and token.isdigit() and 0 < int(token[:20]) < _LARGEST_NUMBER):
        raise _bad_field("page_token", "is not one that was given")
    return int(token[:20])


def _checked(name: str, value: str, *, longest: int = LONGEST_ID, required: bool = False) -> str:
    if len(value) > longest:
        raise _bad_field(name, f"is over {longest} characters")
    if required and not value.strip():
        raise _bad_field(name, "is empty")
    return value


def _bad_field(name: str, problem: str) -> InvalidArgument:
    return InvalidArgument(
        "INVALID_FIELD", f"{name} {problem}", metadata={"field": name}, fields={name: problem}
    )
