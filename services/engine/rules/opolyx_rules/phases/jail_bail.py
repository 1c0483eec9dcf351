"""In jail, after a roll that failed: pay bail and move by it, or stay (JAIL-2, after_roll)."""

from opolyx_rules.actions import (
    KIND,
    PAY_BAIL,
    PAY_BAIL_BY,
    SEAT,
    STAY_IN_JAIL,
    STAY_IN_JAIL_BY,
    Action,
)
from opolyx_rules.chance import Chance
from opolyx_rules.events import Log
from opolyx_rules.ids import Seat
from opolyx_rules.mechanics.jail import pay_bail, refuse_bail, walk
from opolyx_rules.phases.phase import Phase
from opolyx_rules.reasons import Refusal
from opolyx_rules.state import State


class JailBailPhase(Phase):
    """The frame's argument is the roll that failed; running out stays."""

    __slots__ = ()
    rule = "JAIL-2"

    def list_actions(self, state: State, seat: Seat, out: list[Action]) -> None:
        """See `Phase`."""
        if refuse_bail(state, seat, rolled=True) is None:
            out.append(PAY_BAIL_BY[seat])
        out.append(STAY_IN_JAIL_BY[seat])

    def refuse(self, state: State, action: Action) -> Refusal | None:
        """See `Phase`."""
        if action[KIND] == PAY_BAIL:
            return refuse_bail(state, action[SEAT], rolled=True)
        return None if action[KIND] == STAY_IN_JAIL else self.wrong(action)

    def take(self, state: State, action: Action, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        steps = state.stack.pop()[2]
        if action[KIND] == PAY_BAIL:
            pay_bail(state, action[SEAT], log)
            walk(state, action[SEAT], steps, log)

    def default(self, state: State, seat: Seat) -> Action:
        """See `Phase`."""
        return STAY_IN_JAIL_BY[seat]
