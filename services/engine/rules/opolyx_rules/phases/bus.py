"""Choose the move that the bus gives: the sum, or just one die (DIE-3)."""

from opolyx_rules.actions import ARGUMENT, CHOOSE_BUS, KIND, SEAT, Action
from opolyx_rules.chance import Chance
from opolyx_rules.events import BUS_MOVED, Log
from opolyx_rules.ids import BUS_FIRST, BUS_SECOND, BUS_SUM, Seat
from opolyx_rules.mechanics.jail import walk
from opolyx_rules.mechanics.managing import is_managing, list_managing, manage, refuse_managing
from opolyx_rules.phases.phase import Phase
from opolyx_rules.reasons import INVALID_ACTION, Refusal
from opolyx_rules.state import State


class BusPhase(Phase):
    """Running out moves the sum (CLOCK-3)."""

    __slots__ = ()
    rule = "DIE-3"

    def list_actions(self, state: State, seat: Seat, out: list[Action]) -> None:
        """See `Phase`."""
        for move in (BUS_SUM, BUS_FIRST, BUS_SECOND):
            out.append((CHOOSE_BUS, seat, move))
        if state.ruleset.manage_after_roll:
            list_managing(state, seat, out)

    def refuse(self, state: State, action: Action) -> Refusal | None:
        """See `Phase`."""
        if action[KIND] == CHOOSE_BUS:
            if action[ARGUMENT] in (BUS_SUM, BUS_FIRST, BUS_SECOND):
                return None
            return Refusal(INVALID_ACTION, "DIE-3", (("move", action[ARGUMENT]),))
        if is_managing(action[KIND]) and state.ruleset.manage_after_roll:
            return refuse_managing(state, action)
        return self.wrong(action)

    def take(self, state: State, action: Action, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        if is_managing(action[KIND]):
            manage(state, action, log)
            return
        state.stack.pop()
        seat, move = action[SEAT], action[ARGUMENT]
        first, second, _ = state.dice
        steps = first + second if move == BUS_SUM else first if move == BUS_FIRST else second
        log.append((BUS_MOVED, seat, steps))
        walk(state, seat, steps, log)

    def default(self, state: State, seat: Seat) -> Action:
        """See `Phase`."""
        return (CHOOSE_BUS, seat, BUS_SUM)
