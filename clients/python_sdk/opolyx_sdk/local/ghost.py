"""A ghost run: a bot sits on a seat of a game that was played, and says what it would have done.

The game goes on as it went; the bot is only asked. So it sees the same views and decisions as the
player on that seat saw, and every difference is one of judgement.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from opolyx_rules.actions import ARGUMENT, KIND, LAPSE_OFFER, SEAT, TIME_OUT
from opolyx_rules.actions import Action as CoreAction
from opolyx_rules.engine import check
from opolyx_rules.queries import awaited_seat
from opolyx_rules.state import Offer
from opolyx_sdk._bot_faults import FAULTS, told_error
from opolyx_sdk.actions import Action
from opolyx_sdk.bots import Bot
from opolyx_sdk.decisions import Decision
from opolyx_sdk.errors import BotError, ReplayError
from opolyx_sdk.local._core_actions import core_action, sdk_action
from opolyx_sdk.local._core_decisions import ANSWERS
from opolyx_sdk.local._local_game import LocalGame
from opolyx_sdk.local._recorded import Recorded
from opolyx_sdk.views import GameView

_RECIPIENT: Final = 2


@dataclass(frozen=True, slots=True)
class GhostMove:
    """One decision of the seat: what was played, and what the bot would have played."""

    update: int
    """Number of the update that the played action became."""

    round: int
    """Round in which it was."""

    decision: Decision
    """What was asked."""

    view: GameView
    """The public state then."""

    played: Action | None
    """What was done; None where the clock ran out."""

    ghost: Action
    """What the bot would have done."""

    refusal: str
    """Why the rules would have refused that; empty when they would not."""

    @property
    def differs(self) -> bool:
        """Whether the bot would have acted otherwise."""
        return self.played != self.ghost


class GhostRun:
    """A bot in the place of one seat of a replay."""

    def __init__(self, data: bytes, seat: int, bot: Bot) -> None:
        """Read a replay, finished or not.

        Args:
            data: the replay file.
            seat: the seat, from 0.
            bot: who is asked; a fresh one.

        Raises:
            ReplayError: it isn't right, or has no such seat.
        """
        self._recorded = Recorded(data)
        found = self._recorded.found
        if not 0 <= seat < len(found.seats):
            raise ReplayError(f"no seat {seat}: the game has the seats 0 to {len(found.seats) - 1}")
        self._seat = seat
        self._bot = bot
        self.name = found.seats[seat]
        """Who sat there."""
        self.game_id = found.game_id
        """The game."""
        self.ruleset = found.ruleset
        """Its ruleset."""

    def moves(self) -> Iterator[GhostMove]:
        """Every decision that the seat answered or let run out, as the game goes on.

        Raises:
            BotError: the bot raised, or gave what is no action.
        """
        game = self._recorded.begin()
        self._tell("on_start", lambda: self._bot.on_start(game.info(self._seat)))
        for line in self._recorded.steps:
            action: CoreAction = tuple(line["action"])
            asked = _asked_of(game, action, self._seat)
            if asked is not None:
                yield self._move(game, line["seq"], action, asked[0])
            self._recorded.step(game, line)
            if type(self._bot).on_update is not Bot.on_update:
                self._tell("on_update", lambda: self._bot.on_update(game.update()))
        if game.over:
            self._tell("on_end", lambda: self._bot.on_end(game.update(with_events=False)))

    def _move(
        self, game: LocalGame, update: int, action: CoreAction, offer: Offer | None
    ) -> GhostMove:
        decision, view = game.decision(offer), game.view
        try:
            ghost = self._bot.decide(view, decision)
            wanted = core_action(ghost, self._seat)
        except FAULTS as error:
            where = f"at update {update}, in {decision.phase.name}"
            raise BotError(f"bot failed {where}: {told_error(error)}") from error
        refusal = check(game.state, wanted) if isinstance(wanted, tuple) else wanted
        return GhostMove(
            update=update,
            round=game.state.round,
            decision=decision,
            view=view,
            played=None if action[KIND] >= TIME_OUT else sdk_action(action),
            ghost=ghost,
            refusal="" if refusal is None else str(refusal),
        )

    def _tell(self, what: str, job: Callable[[], None]) -> None:
        try:
            job()
        except FAULTS as error:
            raise BotError(f"bot failed in {what}: {told_error(error)}") from error


def _asked_of(game: LocalGame, action: CoreAction, seat: int) -> tuple[Offer | None] | None:
    """What `seat` was asked that this action answers: an offer, or the table's decision.

    None where it was asked nothing: others act, or it leaves or withdraws out of its turn.
    """
    kind = action[KIND]
    if kind in ANSWERS or kind == LAPSE_OFFER:
        offer = next(one for one in game.state.offers if one[0] == action[ARGUMENT])
        return (offer,) if offer[_RECIPIENT] == seat else None
    own = action[SEAT] == seat and awaited_seat(game.state) == seat
    return (None,) if own else None
