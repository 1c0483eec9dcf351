"""Who answers for a seat of a simulated game: a bot as it plays live, or a built-in one."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Final

from opolyx_rules.actions import ARGUMENT, DECLINE_TRADE, KIND, SURRENDER, TIME_OUT, WITHDRAW_TRADE
from opolyx_rules.actions import Action as CoreAction
from opolyx_rules.engine import check, default_action
from opolyx_rules.policies import POLICIES
from opolyx_rules.queries import awaited_seat
from opolyx_rules.reasons import Refusal as CoreRefusal
from opolyx_rules.state import Offer, State
from opolyx_sdk._bot_faults import FAULTS, told_error, told_value
from opolyx_sdk.actions import Action
from opolyx_sdk.bots import Bot, fallback_action
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import RefusalReason
from opolyx_sdk.errors import BotError
from opolyx_sdk.local._budget import Budget, OutOfTime
from opolyx_sdk.local._core_actions import core_action, sdk_refusal
from opolyx_sdk.local._core_decisions import ANSWERS, awaited_actions
from opolyx_sdk.local._dice_secret import BuiltInLuck
from opolyx_sdk.local._local_game import LocalGame
from opolyx_sdk.local.game_record import SeatReport
from opolyx_sdk.refusals import Refusal

BUILT_IN: Final = tuple(POLICIES)
"""Names of the built-in bots."""

_FREE: Final = frozenset({SURRENDER, WITHDRAW_TRADE})
_STALE: Final = Refusal(
    RefusalReason.STALE_DECISION, "CLOCK-2", "it answers something that was not asked", {}
)


class Player(ABC):
    """Answers for one seat of one game."""

    def __init__(self, seat: int, report: SeatReport) -> None:
        self.seat = seat
        """The seat."""
        self.report = report
        """How it does."""

    @abstractmethod
    def answer(self, game: LocalGame, offer: Offer | None) -> CoreAction:
        """What it does about an offer, or the table's decision: an action that the rules accept."""

    @property
    def listens(self) -> bool:
        """Whether it wants to be told of every update."""
        return False

    def start(self, game: LocalGame) -> None:  # noqa: B027 - nothing to tell a built-in bot
        """The game is set up."""

    def tell(self, game: LocalGame) -> None:  # noqa: B027 - as above
        """Something happened."""

    def end(self, game: LocalGame) -> None:  # noqa: B027 - as above
        """The game is over."""


class BuiltInPlayer(Player):
    """A built-in bot: reads the state itself, as on the server."""

    def __init__(self, seat: int, report: SeatReport, policy: str, luck: BuiltInLuck) -> None:
        super().__init__(seat, report)
        self._policy = POLICIES[policy]
        self._luck = luck

    def answer(self, game: LocalGame, offer: Offer | None) -> CoreAction:
        """See `Player`."""
        self.report.decisions += 1
        luck = self._luck.at(game.seq)
        action = self._policy(_narrowed(game.state, offer), self.seat, luck)
        if _fits(action, offer) and check(game.state, action) is None:
            return action
        return default_answer(game.state, offer)


class BotPlayer(Player):
    """A bot of the SDK, asked as the live runner asks it."""

    def __init__(
        self, seat: int, report: SeatReport, bot: Bot, budget: Budget, *, strict: bool
    ) -> None:
        super().__init__(seat, report)
        self._bot = bot
        self._budget = budget
        self._strict = strict
        self._listens = type(bot).on_update is not Bot.on_update

    @property
    def listens(self) -> bool:
        """See `Player`."""
        return self._listens

    def start(self, game: LocalGame) -> None:
        """See `Player`."""
        if type(self._bot).on_start is not Bot.on_start:
            self._tell("on_start", partial(self._bot.on_start, game.info(self.seat)))

    def tell(self, game: LocalGame) -> None:
        """See `Player`."""
        self._tell("on_update", partial(self._bot.on_update, game.update()))

    def end(self, game: LocalGame) -> None:
        """See `Player`."""
        if type(self._bot).on_end is not Bot.on_end:
            self._tell("on_end", partial(self._bot.on_end, game.update(with_events=False)))

    def answer(self, game: LocalGame, offer: Offer | None) -> CoreAction:
        """See `Player`."""
        decision = game.decision(offer)
        self.report.decisions += 1
        action = self._decide(game, decision)
        listed = game.listed(decision, action) if offer is None else None
        if listed is not None:
            return listed
        while True:  # twice at most: the fallback is legal
            found = self._judged(game.state, action, decision, offer)
            if isinstance(found, tuple):
                return found
            action = fallback_action(decision)

    def _decide(self, game: LocalGame, decision: Decision) -> Action:
        started = time.perf_counter()
        try:
            return self._budget.run(partial(self._bot.decide, game.view, decision))
        except OutOfTime as error:
            return self._fall_back(decision, "too slow", error)
        except FAULTS as error:
            return self._fall_back(decision, told_error(error), error)
        finally:
            self.report.thinking_s.append(time.perf_counter() - started)

    def _judged(
        self, state: State, action: Action, decision: Decision, offer: Offer | None
    ) -> CoreAction | None:
        """The rules' form of what the bot does; None, noted, where they refuse it."""
        try:
            found = core_action(action, self.seat)
        except TypeError as error:
            self._fall_back(decision, str(error), error)
            return None
        refusal = refusal_of(state, found, offer)
        if refusal is None and isinstance(found, tuple):
            return found
        told = told_value(action)
        self.report.refusals.append(f"{told}: {refusal}")
        if self._strict:
            raise BotError(f"{told} was refused: {refusal}")
        self.report.fallbacks += 1
        return None

    def _fall_back(self, decision: Decision, why: str, error: BaseException) -> Action:
        self._fail(f"in {decision.phase.name}: {why}", error)
        self.report.fallbacks += 1
        return fallback_action(decision)

    def _tell(self, what: str, job: Callable[[], None]) -> None:
        try:
            self._budget.run(job)
        except OutOfTime as error:
            self._fail(f"in {what}: too slow", error)
        except FAULTS as error:
            self._fail(f"in {what}: {told_error(error)}", error)

    def _fail(self, why: str, error: BaseException) -> None:
        if self._strict:
            raise BotError(f"bot failed {why}") from error
        self.report.failures.append(why)


def refusal_of(
    state: State, action: CoreAction | CoreRefusal, offer: Offer | None
) -> Refusal | None:
    """Why an action is no answer to an offer, or to the table's decision; None when it is."""
    if isinstance(action, CoreRefusal):
        return sdk_refusal(action)
    if not _fits(action, offer):
        return _STALE
    refusal = check(state, action)
    return None if refusal is None else sdk_refusal(refusal)


def default_answer(state: State, offer: Offer | None) -> CoreAction:
    """What the game itself would play; where that is to wait for the clock, any legal action."""
    if offer is not None:
        return (DECLINE_TRADE, offer[2], offer[0])
    seat = awaited_seat(state)
    action = default_action(state, seat)
    return action if action[KIND] < TIME_OUT else awaited_actions(state, seat)[0]


def _fits(action: CoreAction, offer: Offer | None) -> bool:
    """Whether an action answers what was asked; leaving and withdrawing answer anything."""
    if action[KIND] in ANSWERS:
        return offer is not None and action[ARGUMENT] == offer[0]
    return offer is None or action[KIND] in _FREE


def _narrowed(state: State, offer: Offer | None) -> State:
    """The state with no other decision open to the seat: a policy answers the first it sees."""
    if not state.offers:
        return state
    seat = awaited_seat(state)
    offers = [one for one in state.offers if one[2] != seat] if offer is None else [offer]
    if len(offers) == len(state.offers):
        return state
    narrowed = state.clone()
    narrowed.offers = offers
    return narrowed
