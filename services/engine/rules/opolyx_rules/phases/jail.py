"""In jail, before the roll: roll for a double, pay bail, manage, trade (JAIL-2, JAIL-3, JAIL-5)."""

from opolyx_rules.actions import (
    KIND,
    PAY_BAIL,
    PAY_BAIL_BY,
    PAY_OFF_FINANCING,
    PAY_OFF_FINANCING_BY,
    ROLL,
    ROLL_BY,
    SEAT,
    Action,
)
from opolyx_rules.chance import Chance
from opolyx_rules.events import Log
from opolyx_rules.ids import PHASE_ROLL, Seat
from opolyx_rules.mechanics.dice import roll_in_jail
from opolyx_rules.mechanics.financing import may_pay_off, pay_off, refuse_pay_off
from opolyx_rules.mechanics.jail import pay_bail, refuse_bail
from opolyx_rules.mechanics.managing import is_managing, list_managing, manage, refuse_managing
from opolyx_rules.mechanics.turns import skip_rest_of_turn
from opolyx_rules.phases.phase import TimedOutPhase
from opolyx_rules.reasons import Refusal
from opolyx_rules.state import State


class JailPhase(TimedOutPhase):
    """The prisoner on turn; running out skips the turn and uses no attempt (CLOCK-3)."""

    __slots__ = ()
    rule = "JAIL-3"

    def list_actions(self, state: State, seat: Seat, out: list[Action]) -> None:
        """See `Phase`."""
        out.append(ROLL_BY[seat])
        if refuse_bail(state, seat, rolled=False) is None:
            out.append(PAY_BAIL_BY[seat])
        list_managing(state, seat, out)
        if may_pay_off(state, seat):
            out.append(PAY_OFF_FINANCING_BY[seat])

    def refuse(self, state: State, action: Action) -> Refusal | None:
        """See `Phase`."""
        kind = action[KIND]
        if kind == ROLL:
            return None
        if kind == PAY_BAIL:
            return refuse_bail(state, action[SEAT], rolled=False)
        if is_managing(kind):
            return refuse_managing(state, action)
        if kind == PAY_OFF_FINANCING:
            return refuse_pay_off(state, action[SEAT])
        return self.wrong(action)

    def take(self, state: State, action: Action, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        kind, seat = action[KIND], action[SEAT]
        if kind == ROLL:
            state.stack.pop()
            roll_in_jail(state, seat, chance, log)
        elif kind == PAY_BAIL:
            state.stack.pop()
            pay_bail(state, seat, log)
            state.push(PHASE_ROLL, seat)
        elif kind == PAY_OFF_FINANCING:
            pay_off(state, seat, log)
        else:
            manage(state, action, log)

    def take_default(self, state: State, seat: Seat, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        skip_rest_of_turn(state, seat, log)
