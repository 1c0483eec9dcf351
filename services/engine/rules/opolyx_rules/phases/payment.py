"""The payment pause: raise cash, pay all of it, or go bankrupt (DEBT-1 to DEBT-4)."""

from opolyx_rules.actions import (
    DECLARE_BANKRUPTCY,
    DECLARE_BANKRUPTCY_BY,
    KIND,
    PAY_DEBT,
    PAY_DEBT_BY,
    SEAT,
    Action,
)
from opolyx_rules.chance import Chance
from opolyx_rules.events import Log
from opolyx_rules.ids import Seat
from opolyx_rules.mechanics.bankruptcy import go_bankrupt, raise_cash, refuse_bankruptcy
from opolyx_rules.mechanics.financing import settle_called_in
from opolyx_rules.mechanics.managing import is_managing, list_raising, manage, refuse_raising
from opolyx_rules.mechanics.payments import pay_in_full, required_debt
from opolyx_rules.phases.phase import TimedOutPhase
from opolyx_rules.queries import debt_total
from opolyx_rules.reasons import NOT_ENOUGH_CASH, Refusal
from opolyx_rules.state import State


class PaymentPhase(TimedOutPhase):
    """The debtor need not be the seat on turn; running out raises the cash and pays (DEBT-3)."""

    __slots__ = ()
    rule = "DEBT-2"

    def list_actions(self, state: State, seat: Seat, out: list[Action]) -> None:
        """See `Phase`."""
        if state.cash[seat] >= debt_total(required_debt(state, seat)):
            out.append(PAY_DEBT_BY[seat])
        elif refuse_bankruptcy(state, seat) is None:
            out.append(DECLARE_BANKRUPTCY_BY[seat])
        list_raising(state, seat, out)

    def refuse(self, state: State, action: Action) -> Refusal | None:
        """See `Phase`."""
        kind, seat = action[KIND], action[SEAT]
        if kind == PAY_DEBT:
            owed = debt_total(required_debt(state, seat))
            if state.cash[seat] >= owed:
                return None
            numbers = (("owed", owed), ("cash", state.cash[seat]))
            return Refusal(NOT_ENOUGH_CASH, "DEBT-2", numbers)
        if kind == DECLARE_BANKRUPTCY:
            return refuse_bankruptcy(state, seat)
        if is_managing(kind):
            return refuse_raising(state, action)
        return self.wrong(action)

    def take(self, state: State, action: Action, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        kind, seat = action[KIND], action[SEAT]
        if kind == PAY_DEBT:
            _pay(state, seat, log)
        elif kind == DECLARE_BANKRUPTCY:
            go_bankrupt(state, seat, log)
        else:
            manage(state, action, log)

    def take_default(self, state: State, seat: Seat, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        if raise_cash(state, seat, debt_total(required_debt(state, seat)), log):
            _pay(state, seat, log)
        else:
            go_bankrupt(state, seat, log)


def _pay(state: State, seat: Seat, log: Log) -> None:
    claims = required_debt(state, seat)[1]
    pay_in_full(state, seat, log)
    settle_called_in(state, seat, claims, log)
