"""What every kind of decision can answer."""

from abc import ABC, abstractmethod

from opolyx_rules.actions import BUILD, KIND, REDEEM, TIME_OUT_BY, Action
from opolyx_rules.chance import Chance
from opolyx_rules.events import Log
from opolyx_rules.ids import Seat
from opolyx_rules.reasons import WRONG_PHASE, Refusal
from opolyx_rules.state import State


class Phase(ABC):
    """One kind of decision. Stateless: everything is in the state's topmost frame."""

    __slots__ = ()

    rule: str = "TURN-1"
    """Rule that says what this decision is; cited when an action does not answer it."""

    @abstractmethod
    def list_actions(self, state: State, seat: Seat, out: list[Action]) -> None:
        """Append every action that answers the decision now. Must agree with `refuse`."""

    @abstractmethod
    def refuse(self, state: State, action: Action) -> Refusal | None:
        """Why the action does not answer the decision; None when it does. Changes nothing."""

    @abstractmethod
    def take(self, state: State, action: Action, chance: Chance, log: Log) -> None:
        """Carry out an action that `refuse` lets pass."""

    @abstractmethod
    def default(self, state: State, seat: Seat) -> Action:
        """What the game plays when the clock runs out (CLOCK-3)."""

    def take_default(self, state: State, seat: Seat, chance: Chance, log: Log) -> None:
        """Play the default; phases whose default is no player's action override this."""
        self.take(state, self.default(state, seat), chance, log)

    def wrong(self, action: Action) -> Refusal:
        """The refusal of an action that answers another kind of decision."""
        rule = "TURN-4" if BUILD <= action[KIND] <= REDEEM else self.rule
        return Refusal(WRONG_PHASE, rule, (("action", action[KIND]),))


class TimedOutPhase(Phase):
    """A decision whose clock has a consequence that no player can ask for."""

    __slots__ = ()

    def default(self, state: State, seat: Seat) -> Action:
        """The clock's own action."""
        return TIME_OUT_BY[seat]

    @abstractmethod
    def take_default(self, state: State, seat: Seat, chance: Chance, log: Log) -> None:
        """What the clock does."""
