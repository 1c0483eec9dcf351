"""The policy `trader`: plays like `steady`, and takes the trades that lose it nothing.

What comes must be worth what goes, twice: at list price, and with a property that completes a
group for either side counted double. The reserve stays in hand. It proposes nothing itself.
"""

from opolyx_rules.actions import ACCEPT_TRADE, ARGUMENT, KIND, Action, squares_of
from opolyx_rules.chance import Chance
from opolyx_rules.content.boards import GROUP, GROUPS, PRICE
from opolyx_rules.engine import legal_actions
from opolyx_rules.ids import Seat, Square
from opolyx_rules.mechanics.offers import required_offer
from opolyx_rules.policies.steady import choose_steadily, reserve
from opolyx_rules.queries import held_in_group, trade_value
from opolyx_rules.state import Offer, State


def choose_like_a_trader(state: State, seat: Seat, chance: Chance) -> Action:
    """A trade that loses nothing is accepted; else the action that a careful player takes."""
    for action in legal_actions(state, seat):
        if action[KIND] != ACCEPT_TRADE:
            continue
        if loses_nothing(state, seat, required_offer(state, action[ARGUMENT])):
            return action
    return choose_steadily(state, seat, chance)


def loses_nothing(state: State, seat: Seat, offer: Offer) -> bool:
    """Whether `seat`, its recipient, is no worse off by the offer."""
    _, proposer, _, comes_cash, comes, goes_cash, goes, _ = offer
    if goes_cash > comes_cash and state.cash[seat] - goes_cash + comes_cash < reserve(state, seat):
        return False
    if trade_value(state, comes_cash, comes) < trade_value(state, goes_cash, goes):
        return False
    gain = comes_cash + _worth_of(state, seat, proposer, comes)
    return gain >= goes_cash + _worth_of(state, proposer, seat, goes)


def _worth_of(state: State, taker: Seat, giver: Seat, mask: int) -> int:
    """Worth of properties that change hands; double where a whole group is made or broken."""
    total = 0
    moved = squares_of(mask)
    for square in moved:
        price = PRICE[square] // 2 if state.mortgaged[square] else PRICE[square]
        total += price * 2 if _is_key(state, taker, giver, square, moved) else price
    return total


def _is_key(state: State, taker: Seat, giver: Seat, square: Square, moved: list[Square]) -> bool:
    """Whether the giver holds the square's whole group now, or the taker will."""
    group = GROUP[square]
    size = len(GROUPS[group])
    coming = sum([GROUP[other] == group for other in moved])
    return (
        held_in_group(state, giver, group) == size
        or held_in_group(state, taker, group) + coming == size
    )
