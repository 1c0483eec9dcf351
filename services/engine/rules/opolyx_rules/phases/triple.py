"""Choose the square that a triple goes to (DIE-5)."""

from opolyx_rules.actions import ARGUMENT, CHOOSE_SQUARE, CHOOSE_SQUARE_BY, KIND, SEAT, Action
from opolyx_rules.chance import Chance
from opolyx_rules.events import SQUARE_CHOSEN, Log
from opolyx_rules.ids import Seat
from opolyx_rules.mechanics.movement import teleport
from opolyx_rules.phases.phase import TimedOutPhase
from opolyx_rules.reasons import Refusal
from opolyx_rules.state import State


class TriplePhase(TimedOutPhase):
    """Any square of the board; running out stays put and resolves nothing (CLOCK-3)."""

    __slots__ = ()
    rule = "DIE-5"

    def list_actions(self, state: State, seat: Seat, out: list[Action]) -> None:
        """See `Phase`."""
        out.extend(CHOOSE_SQUARE_BY[seat])

    def refuse(self, state: State, action: Action) -> Refusal | None:
        """See `Phase`."""
        return None if action[KIND] == CHOOSE_SQUARE else self.wrong(action)

    def take(self, state: State, action: Action, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        state.stack.pop()
        log.append((SQUARE_CHOSEN, action[SEAT], action[ARGUMENT]))
        teleport(state, action[SEAT], action[ARGUMENT], log)

    def take_default(self, state: State, seat: Seat, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        state.stack.pop()
