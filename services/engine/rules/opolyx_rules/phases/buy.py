"""Buy the property underfoot, finance it, or decline it (BUY-1)."""

from opolyx_rules.actions import (
    BUY,
    BUY_BY,
    DECLINE_PURCHASE,
    DECLINE_PURCHASE_BY,
    FINANCE_PURCHASE,
    FINANCE_PURCHASE_BY,
    KIND,
    SEAT,
    Action,
)
from opolyx_rules.chance import Chance
from opolyx_rules.content.boards import PRICE
from opolyx_rules.events import PURCHASE_DECLINED, Log
from opolyx_rules.ids import BANK, CASH_PURCHASE, PROPERTY_PURCHASE, Seat
from opolyx_rules.mechanics.auctions import start_auction
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.mechanics.financing import finance, may_finance
from opolyx_rules.mechanics.managing import is_managing, list_managing, manage, refuse_managing
from opolyx_rules.mechanics.property import move_property
from opolyx_rules.phases.phase import Phase
from opolyx_rules.reasons import NO_FINANCING, NOT_ENOUGH_CASH, Refusal
from opolyx_rules.state import State


class BuyPhase(Phase):
    """The frame's argument is the property; running out declines (CLOCK-3)."""

    __slots__ = ()
    rule = "BUY-1"

    def list_actions(self, state: State, seat: Seat, out: list[Action]) -> None:
        """See `Phase`."""
        square = state.stack[-1][2]
        if state.cash[seat] >= PRICE[square]:
            out.append(BUY_BY[seat])
        out.append(DECLINE_PURCHASE_BY[seat])
        if may_finance(state, seat, square):
            out.append(FINANCE_PURCHASE_BY[seat])
        if state.ruleset.manage_after_roll:
            list_managing(state, seat, out)

    def refuse(self, state: State, action: Action) -> Refusal | None:
        """See `Phase`."""
        kind, seat = action[KIND], action[SEAT]
        if kind == BUY:
            price = PRICE[state.stack[-1][2]]
            if state.cash[seat] >= price:
                return None
            numbers = (("price", price), ("cash", state.cash[seat]))
            return Refusal(NOT_ENOUGH_CASH, "BUY-1", numbers)
        if kind == DECLINE_PURCHASE:
            return None
        if kind == FINANCE_PURCHASE:
            open_to_seat = may_finance(state, seat, state.stack[-1][2])
            return None if open_to_seat else Refusal(NO_FINANCING, "FIN-1")
        if is_managing(kind) and state.ruleset.manage_after_roll:
            return refuse_managing(state, action)
        return self.wrong(action)

    def take(self, state: State, action: Action, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        kind, seat, square = action[KIND], action[SEAT], state.stack[-1][2]
        if is_managing(kind):
            manage(state, action, log)
            return
        state.stack.pop()
        if kind == BUY:
            move_cash(state, seat, BANK, PRICE[square], CASH_PURCHASE, log)
            move_property(state, square, seat, PROPERTY_PURCHASE, log)
        elif kind == FINANCE_PURCHASE:
            finance(state, seat, square, log)
        else:
            log.append((PURCHASE_DECLINED, seat, square))
            start_auction(state, square, seat, log)

    def default(self, state: State, seat: Seat) -> Action:
        """See `Phase`."""
        return DECLINE_PURCHASE_BY[seat]
