"""The policy `steady`: buys, completes groups, builds from what it can spare, pays in time.

It keeps a reserve that grows with the rents on the board, bids up to what a property is worth to
it, redeems when rich, and declines every trade.
"""

from typing import Final

from opolyx_rules.actions import (
    BID,
    BUILD,
    BUY,
    CHOOSE_BUS,
    CHOOSE_SQUARE,
    DECLARE_BANKRUPTCY,
    DECLINE_PURCHASE,
    DECLINE_TRADE,
    DECLINE_WAGER,
    KIND,
    MORTGAGE,
    PASS_BID,
    PAY_BAIL,
    PAY_DEBT,
    PAY_OFF_FINANCING,
    REDEEM,
    ROLL,
    SELL_BUILDING,
    STAY_IN_JAIL,
    Action,
)
from opolyx_rules.chance import Chance
from opolyx_rules.content.boards import BUILD_COST, COLOUR_GROUPS, GROUP, GROUPS, PRICE, PROPERTIES
from opolyx_rules.engine import legal_actions
from opolyx_rules.ids import NOBODY, SQUARES, Seat, Square
from opolyx_rules.mechanics.building import cheapest_sellable
from opolyx_rules.mechanics.mortgage import cheapest_mortgageable
from opolyx_rules.mechanics.rent import base_rent
from opolyx_rules.queries import are_allies, next_bid, redeem_cost
from opolyx_rules.state import State

_ORDER = (PAY_DEBT, PAY_OFF_FINANCING, DECLINE_WAGER, STAY_IN_JAIL)
_SPENDING: Final = frozenset({BUILD, REDEEM, PAY_BAIL})
_NO_STREETS: Final = tuple(square for square in PROPERTIES if GROUP[square] >= COLOUR_GROUPS)


def choose_steadily(state: State, seat: Seat, chance: Chance) -> Action:
    """The action that a careful player takes."""
    actions = legal_actions(state, seat)
    kinds = {action[KIND] for action in actions}
    for kind in _ORDER:
        if kind in kinds:
            return _first(actions, kind)
    if BID in kinds:
        return _bid_or_pass(state, seat, actions)
    if BUY in kinds or DECLINE_PURCHASE in kinds:
        return _buy_or_decline(state, seat, actions)
    if ROLL in kinds:
        return _manage_or_roll(state, seat, actions, kinds)
    if DECLARE_BANKRUPTCY in kinds:
        return _first(actions, DECLARE_BANKRUPTCY)
    if MORTGAGE in kinds or SELL_BUILDING in kinds:
        return _raise(state, seat, actions)
    if CHOOSE_SQUARE in kinds:
        return _choose_square(state, seat, actions)
    if CHOOSE_BUS in kinds:
        return _first(actions, CHOOSE_BUS)
    return _answer_offers(actions)


def reserve(state: State, seat: Seat) -> int:
    """Cash to keep: half of the highest rent that a rival could charge, at least 500."""
    # No street without a building takes more than 1,000, a whole group's doubled rent included.
    highest = 1_000
    for owner in range(state.seats):
        if owner == seat or are_allies(state, seat, owner):
            continue
        for group in state.whole[owner]:
            for square in GROUPS[group]:
                if state.level[square]:
                    highest = max(highest, base_rent(state, square))
    for square in _NO_STREETS:
        owner = state.owner[square]
        if owner in (NOBODY, seat) or state.mortgaged[square] or are_allies(state, seat, owner):
            continue
        highest = max(highest, base_rent(state, square))
    return highest // 2


def worth_to(state: State, seat: Seat, square: Square) -> int:
    """The most that the seat would pay for a property: more when it completes or blocks a group."""
    group = GROUP[square]
    size = len(GROUPS[group])
    price = PRICE[square]
    owners = [state.owner[one] for one in GROUPS[group]]
    own = owners.count(seat)
    if own == size - 1:
        return price * 2
    for other in range(state.seats):
        if other != seat and owners.count(other) == size - 1:
            return price * 3 // 2
    return price + price * own // size


def _bid_or_pass(state: State, seat: Seat, actions: list[Action]) -> Action:
    bid = next_bid(state)
    limit = min(worth_to(state, seat, state.auction_square), state.cash[seat] - 300)
    return _first(actions, BID if bid <= limit else PASS_BID)


def _buy_or_decline(state: State, seat: Seat, actions: list[Action]) -> Action:
    square = state.position[seat]
    spare = state.cash[seat] - PRICE[square]
    wanted = worth_to(state, seat, square) > PRICE[square]
    if spare >= (0 if wanted else min(500, reserve(state, seat))):
        for action in actions:
            if action[KIND] == BUY:
                return action
    return _first(actions, DECLINE_PURCHASE)


def _manage_or_roll(state: State, seat: Seat, actions: list[Action], kinds: set[int]) -> Action:
    if kinds.isdisjoint(_SPENDING):
        return _first(actions, ROLL)
    spare = state.cash[seat] - reserve(state, seat)
    best: Action | None = None
    for action in actions:
        if action[KIND] != BUILD or BUILD_COST[action[2]] > spare:
            continue
        if best is None or PRICE[action[2]] > PRICE[best[2]]:
            best = action
    if best is not None:
        return best
    for action in actions:
        if action[KIND] == REDEEM and redeem_cost(state, action[2]) <= spare // 2:
            return action
    for action in actions:
        if action[KIND] == PAY_BAIL and spare >= state.ruleset.bail and _early(state):
            return action
    return _first(actions, ROLL)


def _early(state: State) -> bool:
    """Whether there is still property to be bought, so that sitting in jail costs."""
    return any([state.owner[square] == NOBODY for square in PROPERTIES])


def _raise(state: State, seat: Seat, actions: list[Action]) -> Action:
    square = cheapest_mortgageable(state, seat)
    if square != NOBODY:
        return (MORTGAGE, seat, square)
    return (SELL_BUILDING, seat, cheapest_sellable(state, seat))


def _choose_square(state: State, seat: Seat, actions: list[Action]) -> Action:
    best, best_worth = state.position[seat], 0
    for square in range(SQUARES):
        if GROUP[square] >= 0 and state.owner[square] == NOBODY:
            worth = worth_to(state, seat, square) - PRICE[square] + PRICE[square] // 10
            if state.cash[seat] >= PRICE[square] and worth > best_worth:
                best, best_worth = square, worth
    return (CHOOSE_SQUARE, seat, best if best_worth else 0)


def _answer_offers(actions: list[Action]) -> Action:
    for action in actions:
        if action[KIND] == DECLINE_TRADE:
            return action
    return actions[0]


def _first(actions: list[Action], kind: int) -> Action:
    for action in actions:
        if action[KIND] == kind:
            return action
    return actions[0]
