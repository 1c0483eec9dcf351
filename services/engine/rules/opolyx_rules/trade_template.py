"""Within what a seat may propose trades now; the counterpart of the proto's TradeTemplate."""

from opolyx_rules.ids import Seat
from opolyx_rules.mechanics.offers import (
    may_propose,
    offers_by,
    tradable_squares,
    trade_partners,
)
from opolyx_rules.queries import are_allies
from opolyx_rules.state import State


class TradeTemplate:
    """Bounds of the trades that a seat may propose.

    Attributes:
        own_squares: The seat's properties that may be given.
        partners: Whom it may trade with, each with the properties that may be asked for, the most
            cash, and whether the two are allies (TRADE-5).
        max_give_cash: The most cash that the seat can give, in k.
        fairness_bp: Least worth of the smaller side as a share of the larger.
        offers_left: Offers that may still be opened (TRADE-3).
    """

    __slots__ = ("fairness_bp", "max_give_cash", "offers_left", "own_squares", "partners")

    def __init__(self, state: State, seat: Seat) -> None:
        self.own_squares = tradable_squares(state, seat)
        self.partners: list[tuple[Seat, list[int], int, bool]] = []
        for other in trade_partners(state, seat):
            squares = tradable_squares(state, other)
            ally = are_allies(state, seat, other)
            self.partners.append((other, squares, state.cash[other], ally))
        self.max_give_cash = state.cash[seat]
        self.fairness_bp = state.ruleset.trade_fairness_bp
        self.offers_left = state.ruleset.max_offers - offers_by(state, seat)


def trade_template(state: State, seat: Seat) -> TradeTemplate | None:
    """The bounds now; None when the seat may propose nothing (TRADE-2, TRADE-3)."""
    if state.over or state.out_order[seat] or not may_propose(state, seat):
        return None
    template = TradeTemplate(state, seat)
    return template if template.offers_left > 0 else None
