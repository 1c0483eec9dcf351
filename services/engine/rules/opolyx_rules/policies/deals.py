"""Trades that make a seat stand better: which offers it takes, and what it proposes.

A proposal is for groups that the two seats hold between them: one of them goes to either side, or
one to each, with as much cash as makes both gain alike.
"""

from typing import Final

from opolyx_rules.actions import PROPOSE_TRADE, Action, squares_of
from opolyx_rules.chance import DICE, Chance
from opolyx_rules.content.boards import COLOUR_GROUPS, GROUPS
from opolyx_rules.ids import PHASE_JAIL, PHASE_ROLL, Seat
from opolyx_rules.mechanics.offers import (
    offers_by,
    refuse_proposal,
    trade_partners,
)
from opolyx_rules.policies.valuation import rival_sides, strength
from opolyx_rules.queries import are_allies, awaited_phase, trade_value
from opolyx_rules.state import Offer, State

ROUND_TO: Final = 50
"""Cash in proposals is a multiple of this."""
LEAST_GAIN: Final = 100
"""What a proposal must gain each side, in k."""
ASK_EVERY: Final = 4
"""A seat that alone proposes asks every so many rounds less one."""
MOST_PAIRS: Final = 10
"""How many pairs of groups are weighed with one partner."""

Terms = tuple[int, int, int, int]
"""(give cash, give mask, want cash, want mask)."""


class Bench:
    """A copy of a state on which deals between two seats are tried.

    Gains are in k times the number of rival sides, as of `standing`.
    """

    __slots__ = ("allied", "copy", "one", "one_before", "other", "other_before", "sides")

    def __init__(self, state: State, one: Seat, other: Seat) -> None:
        self.copy = state.clone()
        self.one = one
        self.other = other
        self.allied = are_allies(state, one, other)
        self.sides = rival_sides(state, one)
        self.one_before = strength(self.copy, one)
        self.other_before = strength(self.copy, other)

    def gains(self, terms: Terms) -> tuple[int, int]:
        """By how much each of the two stands better after the deal that the first proposes."""
        give_cash, give, want_cash, want = terms
        self._move(want_cash - give_cash, give, want)
        one = strength(self.copy, self.one) - self.one_before
        other = strength(self.copy, self.other) - self.other_before
        self._move(give_cash - want_cash, want, give)
        if self.allied:
            both = (one + other) * self.sides
            return both, both
        return one * self.sides - other, other * self.sides - one

    def _move(self, cash: int, give: int, want: int) -> None:
        """`cash` and `want` go to the first seat, `give` to the second."""
        copy = self.copy
        copy.cash[self.one] += cash
        copy.cash[self.other] -= cash
        for square in squares_of(give):
            copy.give(square, self.other)
        for square in squares_of(want):
            copy.give(square, self.one)


def loses_nothing(state: State, seat: Seat, offer: Offer) -> bool:
    """Whether `seat`, proposer or recipient, stands no worse once the offer is accepted."""
    _, proposer, recipient, give_cash, give, want_cash, want, _ = offer
    one, other = Bench(state, proposer, recipient).gains((give_cash, give, want_cash, want))
    return (one if seat == proposer else other) >= 0


def promised(state: State, seat: Seat) -> int:
    """The cash that the seat's open offers would cost it."""
    return sum([offer[3] for offer in state.offers if offer[1] == seat])


def may_ask(state: State, seat: Seat) -> bool:
    """Whether this is the moment of the turn in which the seat may propose one trade.

    Before the first roll of the turn, when nobody else can propose; and only while the count of all
    offers made leaves the right remainder, which moves with the round. A proposal raises the count:
    so there is one a turn, and nothing has to be remembered.
    """
    first, second, third = state.dice
    return (
        awaited_phase(state) in (PHASE_ROLL, PHASE_JAIL)
        and state.doubles == 0
        and (third == 0 or not first == second == third)
        and (state.last_offer + state.round + seat) % ASK_EVERY == 0
        and offers_by(state, seat) < state.ruleset.max_offers
    )


def choose_proposal(state: State, seat: Seat, chance: Chance) -> Action | None:
    """The best deal with one of the partners, drawn from those with whom there may be one."""
    partners = []
    for partner in trade_partners(state, seat):
        if not _has_asked(state, seat, partner) and _pairs(state, seat, partner):
            partners.append(partner)
    if not partners:
        return None
    partner = partners[chance.draw(DICE, len(partners))]
    terms = _best_terms(state, seat, partner)
    return None if terms is None else (PROPOSE_TRADE, seat, partner, *terms)


def _has_asked(state: State, seat: Seat, partner: Seat) -> bool:
    for offer in state.offers:
        if offer[1] == seat and offer[2] == partner:
            return True
    return False


def _best_terms(state: State, seat: Seat, partner: Seat) -> Terms | None:
    """The deal of which the one who gains less gains most."""
    bench = Bench(state, seat, partner)
    best: Terms | None = None
    best_gain = LEAST_GAIN * bench.sides
    for give, want in _pairs(state, seat, partner):
        cash = 0
        for _ in range(3):
            one, other = bench.gains(_terms(cash, give, want))
            if min(one, other) > best_gain:
                terms = _terms(cash, give, want)
                if refuse_proposal(state, (PROPOSE_TRADE, seat, partner, *terms)) is None:
                    best, best_gain = terms, min(one, other)
            if one + other <= best_gain:
                break
            shift = 0 if bench.allied else (one - other) // (2 * bench.sides + 2)
            cash = _payable(state, seat, partner, give, want, cash + shift)
    return best


def _terms(cash: int, give: int, want: int) -> Terms:
    """Terms in which the proposer pays `cash`, or gets it if it is negative."""
    return (cash, give, 0, want) if cash > 0 else (0, give, -cash, want)


def _payable(state: State, seat: Seat, partner: Seat, give: int, want: int, cash: int) -> int:
    """The cash nearest to `cash`, in round figures, that is there and keeps the deal fair."""
    cash -= cash % ROUND_TO
    if not are_allies(state, seat, partner):
        least, most = _fair_cash(state, trade_value(state, 0, give), trade_value(state, 0, want))
        cash = max(least, min(most, cash))
    return max(-state.cash[partner], min(state.cash[seat], cash))


def _fair_cash(state: State, given: int, wanted: int) -> tuple[int, int]:
    """Least and most that the proposer may pay for what it wants; less than 0 is paid to it.

    Either side, cash and all, is worth at least a share of the other (TRADE-5).
    """
    share = max(1, state.ruleset.trade_fairness_bp)
    most = wanted * 10_000 // share - given
    if most < 0:
        most = wanted - (given * share + 9_999) // 10_000
    least = wanted - given * 10_000 // share
    if least > 0:
        least = (wanted * share + 9_999) // 10_000 - given
    return least, most


def _pairs(state: State, seat: Seat, partner: Seat) -> list[tuple[int, int]]:
    """What may change hands: (given, wanted) as masks."""
    mine, theirs = [], []
    for group in range(len(GROUPS)):
        own = other = 0
        whole = True
        for square in GROUPS[group]:
            if state.owner[square] == seat:
                own |= 1 << square
            elif state.owner[square] == partner:
                other |= 1 << square
            else:
                whole = False
        if own and other and (whole or group >= COLOUR_GROUPS):
            mine.append(own)
            theirs.append(other)
    pairs = []
    for index, want in enumerate(theirs):
        for place, give in enumerate(mine):
            if index != place:
                pairs.append((give, want))
        pairs.append((0, want))
        pairs.append((mine[index], 0))
    return pairs[:MOST_PAIRS]
