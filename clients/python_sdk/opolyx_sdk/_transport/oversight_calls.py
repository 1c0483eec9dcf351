"""Calls of progression and of the engine that are for operators."""

from typing import Final

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import operations_service_pb2 as operations_pb
from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx_sdk._convert import read, read_all
from opolyx_sdk._transport.channel import Calls
from opolyx_sdk.enums import GamePlace, GameState
from opolyx_sdk.oversight import (
    AuditReport,
    DeadLetter,
    EntitlementChange,
    InspectedGame,
    OperatedGame,
    RetriedDeadLetters,
    RunningGames,
    Signal,
)
from opolyx_sdk.profiles import Profile

_LARGEST_PAGE: Final = 100


class OversightCalls(Calls):
    """What operators see and have done; others are answered `NotAllowed`."""

    async def audit(self, *, count_boards: bool = False) -> AuditReport:
        """Recompute all awards from the stored results, and say what differs.

        It takes as long as there are games: give the client a `call_timeout_s` to match. The
        server goes on if this call is given up.

        Args:
            count_boards: whether to count the players of each leaderboard too, which keeps other
                readers of the server waiting for seconds where there are millions of them.
        """
        response = await self._transport.call(
            lambda stubs: stubs.progression.Audit,
            pb.AuditRequest(count_boards=count_boards),
            repeatable=False,
        )
        return read(response.report, AuditReport)

    async def dead_letters(self, *, most: int = 100) -> tuple[DeadLetter, ...]:
        """Facts that progression couldn't process, oldest first."""
        found: tuple[DeadLetter, ...] = ()
        token = ""
        while len(found) < most:
            request = pb.ListDeadLettersRequest(
                page_size=min(most - len(found), _LARGEST_PAGE), page_token=token
            )
            response = await self._transport.call(
                lambda stubs: stubs.progression.ListDeadLetters, request, repeatable=True
            )
            found += read_all(response.dead_letters, DeadLetter)
            token = response.next_page_token
            if not token:
                break
        return found

    async def retry_dead_letters(self, *fact_numbers: int) -> RetriedDeadLetters:
        """Have these facts processed once more, or all that couldn't be if none is named."""
        response = await self._transport.call(
            lambda stubs: stubs.progression.RetryDeadLetters,
            pb.RetryDeadLettersRequest(fact_numbers=fact_numbers),
            repeatable=True,
        )
        return RetriedDeadLetters(response.tried, response.processed, response.left)

    async def set_vip(self, player_id: str, vip: bool, *, reason: str) -> Profile:
        """Set whether a player is a VIP; who did so, when and why is kept for good."""
        response = await self._transport.call(
            lambda stubs: stubs.progression.SetEntitlements,
            pb.SetEntitlementsRequest(player_id=player_id, vip=vip, reason=reason),
            repeatable=True,
        )
        return read(response.profile, Profile)

    async def signals(self, *, games: int = 0) -> tuple[Signal, ...]:
        """Signs of collusion and farming in the latest results; a sign is no proof.

        Args:
            games: in how many of them, up to 10,000; the server's choice if 0.
        """
        response = await self._transport.call(
            lambda stubs: stubs.progression.ListSignals,
            pb.ListSignalsRequest(games=games),
            repeatable=True,
        )
        return read_all(response.signals, Signal)

    async def entitlement_changes(
        self, player_id: str = "", *, most: int = 100
    ) -> tuple[EntitlementChange, ...]:
        """Who set whose entitlements, newest first; everybody's when `player_id` is empty."""
        found: tuple[EntitlementChange, ...] = ()
        token = ""
        while len(found) < most:
            request = pb.ListEntitlementChangesRequest(
                player_id=player_id,
                page_size=min(most - len(found), _LARGEST_PAGE),
                page_token=token,
            )
            response = await self._transport.call(
                lambda stubs: stubs.progression.ListEntitlementChanges, request, repeatable=True
            )
            found += read_all(response.changes, EntitlementChange)
            token = response.next_page_token
            if not token:
                break
        return found

    async def running_games(
        self,
        *,
        most: int = 1_000,
        place: GamePlace = GamePlace.UNSPECIFIED,
        only_stuck: bool = False,
    ) -> RunningGames:
        """The running games of the engine that answers, by id; of several engines, ask each.

        Args:
            most: how many games at most.
            place: only those that are there; all if it isn't set.
            only_stuck: only those that stand still.
        """
        found: tuple[OperatedGame, ...] = ()
        token = ""
        while True:
            request = operations_pb.ListRunningGamesRequest(
                page_size=min(most - len(found), _LARGEST_PAGE),
                page_token=token,
                place=operations_pb.GamePlace.ValueType(place),
                only_stuck=only_stuck,
            )
            response = await self._transport.call(
                lambda stubs: stubs.operations.ListRunningGames, request, repeatable=True
            )
            found += read_all(response.games, OperatedGame)
            token = response.next_page_token
            if not token or len(found) >= most:
                return RunningGames(found, response.takes_new_games, response.draining)

    async def inspect_game(self, game_id: str) -> InspectedGame:
        """One game closely, running or ended; any engine finds its owner."""
        response = await self._transport.call(
            lambda stubs: stubs.operations.InspectGame,
            operations_pb.InspectGameRequest(game_id=game_id),
            repeatable=True,
            game_id=game_id,
        )
        return read(response, InspectedGame)

    async def void_game(self, game_id: str, *, reason: str) -> GameState:
        """End a game as void: no result, no awards. `FINISHED` if it had ended by the rules before.

        Args:
            game_id: the game.
            reason: why, for the log and the players.
        """
        response = await self._transport.call(
            lambda stubs: stubs.allocation.EndGame,
            allocation_pb.EndGameRequest(game_id=game_id, reason=reason),
            repeatable=True,
            game_id=game_id,
        )
        return GameState(response.state)

    async def pause_new_games(self) -> None:
        """Have the engine that answers take no new games, until `resume_new_games` or a restart."""
        await self._transport.call(
            lambda stubs: stubs.operations.PauseNewGames,
            operations_pb.PauseNewGamesRequest(),
            repeatable=True,
        )

    async def resume_new_games(self) -> None:
        """Have the engine that answers take new games again."""
        await self._transport.call(
            lambda stubs: stubs.operations.ResumeNewGames,
            operations_pb.ResumeNewGamesRequest(),
            repeatable=True,
        )

    async def drain_engine(self) -> int:
        """Have the engine that answers send its streams elsewhere; how many it had.

        It takes no stream and no new game from then on. Only a restart takes that back.
        """
        response = await self._transport.call(
            lambda stubs: stubs.operations.Drain,
            operations_pb.DrainRequest(),
            repeatable=True,
        )
        return response.streams
