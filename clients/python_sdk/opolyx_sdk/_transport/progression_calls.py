"""Calls of the progression service."""

from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx_sdk._convert import read, read_all
from opolyx_sdk._transport.channel import Calls
from opolyx_sdk.profiles import Award, Card, LeaderboardRow, Level, Profile


class ProgressionCalls(Calls):
    """What players earn."""

    async def profile(self, player_id: str = "") -> Profile:
        """A player's profile; the caller's when empty."""
        response = await self._transport.call(
            lambda stubs: stubs.progression.GetProfile,
            pb.GetProfileRequest(player_id=player_id),
            repeatable=True,
        )
        return read(response.profile, Profile)

    async def awards(
        self, player_id: str = "", *, game_id: str = "", most: int = 50
    ) -> tuple[Award, ...]:
        """A player's awards, newest first; only those of one game if `game_id` is given."""
        response = await self._transport.call(
            lambda stubs: stubs.progression.ListAwards,
            pb.ListAwardsRequest(player_id=player_id, page_size=most, game_id=game_id),
            repeatable=True,
        )
        return read_all(response.awards, Award)

    async def levels(self) -> tuple[Level, ...]:
        """The table of levels and ranks, ascending."""
        response = await self._transport.call(
            lambda stubs: stubs.progression.GetLevelTable,
            pb.GetLevelTableRequest(),
            repeatable=True,
        )
        return read_all(response.levels, Level)

    async def leaderboard(
        self, mode: str = "", *, bots: bool = False, around: str = "", most: int = 20
    ) -> tuple[LeaderboardRow, ...]:
        """The top by XP, or by rating in `mode`; or the neighbours of the player `around`."""
        kind = pb.LEADERBOARD_KIND_RATING if mode else pb.LEADERBOARD_KIND_XP
        response = await self._transport.call(
            lambda stubs: stubs.progression.GetLeaderboard,
            pb.GetLeaderboardRequest(
                kind=kind, mode=mode, bots=bots, around_player_id=around, page_size=most
            ),
            repeatable=True,
        )
        return read_all(response.rows, LeaderboardRow)

    async def cards(self, player_id: str = "") -> tuple[Card, ...]:
        """A player's collection cards, oldest first; the caller's when empty."""
        response = await self._transport.call(
            lambda stubs: stubs.progression.ListCards,
            pb.ListCardsRequest(player_id=player_id),
            repeatable=True,
        )
        return read_all(response.cards, Card)
