"""Before the roll: manage, trade, roll (TURN-4)."""

from opolyx_rules.actions import (
    KIND,
    PAY_OFF_FINANCING,
    PAY_OFF_FINANCING_BY,
    ROLL,
    ROLL_BY,
    SEAT,
    Action,
)
from opolyx_rules.chance import Chance
from opolyx_rules.events import Log
from opolyx_rules.ids import Seat
from opolyx_rules.mechanics.dice import roll_and_move
from opolyx_rules.mechanics.financing import may_pay_off, pay_off, refuse_pay_off
from opolyx_rules.mechanics.managing import is_managing, list_managing, manage, refuse_managing
from opolyx_rules.mechanics.turns import skip_rest_of_turn
from opolyx_rules.phases.phase import TimedOutPhase
from opolyx_rules.reasons import Refusal
from opolyx_rules.state import State


class RollPhase(TimedOutPhase):
    """The seat on turn manages, and rolls; running out skips the turn (CLOCK-3)."""

    __slots__ = ()
    rule = "TURN-1"

    def list_actions(self, state: State, seat: Seat, out: list[Action]) -> None:
        """See `Phase`."""
        out.append(ROLL_BY[seat])
        list_managing(state, seat, out)
        if may_pay_off(state, seat):
            out.append(PAY_OFF_FINANCING_BY[seat])

    def refuse(self, state: State, action: Action) -> Refusal | None:
        """See `Phase`."""
        kind = action[KIND]
        if kind == ROLL:
            return None
        if is_managing(kind):
            return refuse_managing(state, action)
        if kind == PAY_OFF_FINANCING:
            return refuse_pay_off(state, action[SEAT])
        return self.wrong(action)

    def take(self, state: State, action: Action, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        kind = action[KIND]
        if kind == ROLL:
            state.stack.pop()
            roll_and_move(state, action[SEAT], chance, log)
        elif kind == PAY_OFF_FINANCING:
            pay_off(state, action[SEAT], log)
        else:
            manage(state, action, log)

    def take_default(self, state: State, seat: Seat, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        skip_rest_of_turn(state, seat, log)
