"""The policy `trader`: buys, bids, builds and trades by what it makes the seat's standing.

It takes an offer exactly if it loses nothing by it, and proposes at most one trade a turn, which
gains both sides something.
"""

from opolyx_rules.actions import (
    ACCEPT_TRADE,
    ARGUMENT,
    BID,
    BUY,
    CHOOSE_BUS,
    CHOOSE_SQUARE,
    DECLARE_BANKRUPTCY,
    DECLINE_PURCHASE,
    DECLINE_TRADE,
    DECLINE_WAGER,
    FINANCE_PURCHASE,
    KIND,
    PASS_BID,
    PAY_BAIL,
    PAY_DEBT,
    PAY_OFF_FINANCING,
    ROLL,
    STAY_IN_JAIL,
    WITHDRAW_TRADE,
    Action,
)
from opolyx_rules.chance import Chance
from opolyx_rules.content.boards import GROUP, PRICE, PROPERTIES
from opolyx_rules.engine import legal_actions
from opolyx_rules.ids import BUS_FIRST, BUS_SUM, NOBODY, SQUARES, Seat, Square
from opolyx_rules.mechanics.offers import required_offer
from opolyx_rules.policies.deals import choose_proposal, loses_nothing, may_ask
from opolyx_rules.policies.estate import choose_managing, choose_raising, expected_rent, reserve
from opolyx_rules.policies.valuation import worth_of
from opolyx_rules.queries import awaited_seat, next_bid
from opolyx_rules.state import State

_ALWAYS = (PAY_DEBT, DECLINE_WAGER, DECLARE_BANKRUPTCY)


def choose_like_a_trader(state: State, seat: Seat, chance: Chance) -> Action:
    """The action that makes the seat stand best."""
    actions = legal_actions(state, seat)
    answer = _answer_offers(state, seat, actions)
    if answer is not None:
        return answer
    kinds = {action[KIND] for action in actions}
    for kind in _ALWAYS:
        if kind in kinds:
            return _first(actions, kind)
    if BID in kinds:
        return _first(actions, BID if _bids_on(state, seat) else PASS_BID)
    if DECLINE_PURCHASE in kinds:
        return _buy_or_decline(state, seat, actions)
    if ROLL in kinds:
        return _before_the_roll(state, seat, actions, chance)
    if STAY_IN_JAIL in kinds:
        return _first(actions, PAY_BAIL if _leaves_jail(state, seat) else STAY_IN_JAIL)
    if CHOOSE_SQUARE in kinds:
        return _choose_square(state, seat)
    if CHOOSE_BUS in kinds:
        return _choose_bus(state, seat)
    raising = choose_raising(state, seat, actions)
    return actions[0] if raising is None else raising


def _answer_offers(state: State, seat: Seat, actions: list[Action]) -> Action | None:
    """Accept or decline what is offered; take back what would lose something, or can't be paid."""
    awaited = awaited_seat(state) == seat
    for action in actions:
        kind = action[KIND]
        if kind == DECLINE_TRADE:
            return action
        if kind == ACCEPT_TRADE or (kind == WITHDRAW_TRADE and awaited):
            offer = required_offer(state, action[ARGUMENT])
            good = loses_nothing(state, seat, offer)
            if kind == WITHDRAW_TRADE and offer[3] > state.cash[seat]:
                good = False
            if good == (kind == ACCEPT_TRADE):
                return action
    return None


def _bids_on(state: State, seat: Seat) -> bool:
    """Whether the next bid is below what the property is worth, to own or to deny."""
    square, bid = state.auction_square, next_bid(state)
    left = state.cash[seat] - bid
    return left >= 300 and bid <= worth_of(state, seat, square)


def _buy_or_decline(state: State, seat: Seat, actions: list[Action]) -> Action:
    """Buy what is worth its price; finance it where there is no cash for it."""
    square = state.position[seat]
    worth = worth_of(state, seat, square)
    left = state.cash[seat] - PRICE[square]
    for action in actions:
        if action[KIND] == BUY and (left >= 300 or worth > 2 * PRICE[square]):
            return action
        if action[KIND] == FINANCE_PURCHASE and worth > 2 * PRICE[square]:
            return action
    return _first(actions, DECLINE_PURCHASE)


def _before_the_roll(state: State, seat: Seat, actions: list[Action], chance: Chance) -> Action:
    if may_ask(state, seat):
        proposal = choose_proposal(state, seat, chance)
        if proposal is not None:
            return proposal
    managing = choose_managing(state, seat, actions)
    if managing is not None:
        return managing
    for action in actions:
        if action[KIND] == PAY_BAIL and _leaves_jail(state, seat):
            return action
        if action[KIND] == PAY_OFF_FINANCING:
            return action
    return _first(actions, ROLL)


def _leaves_jail(state: State, seat: Seat) -> bool:
    """Whether moving is better than sitting: while there is property to be bought."""
    if state.cash[seat] < state.ruleset.bail + reserve(state, seat):
        return False
    return any([state.owner[square] == NOBODY for square in PROPERTIES])


def _choose_bus(state: State, seat: Seat) -> Action:
    best, best_worth = BUS_SUM, 0
    first, second, _ = state.dice
    for move in (BUS_SUM, BUS_FIRST, BUS_FIRST + 1):
        steps = first + second if move == BUS_SUM else first if move == BUS_FIRST else second
        target = state.position[seat] + steps
        worth = _landing_worth(state, seat, target % SQUARES)
        if target >= SQUARES:
            worth += state.ruleset.salary
        if move == BUS_SUM or worth > best_worth:
            best, best_worth = move, worth
    return (CHOOSE_BUS, seat, best)


def _choose_square(state: State, seat: Seat) -> Action:
    best, best_worth = 0, _landing_worth(state, seat, 0)
    for square in range(1, SQUARES):
        worth = _landing_worth(state, seat, square)
        if worth > best_worth:
            best, best_worth = square, worth
    return (CHOOSE_SQUARE, seat, best)


def _landing_worth(state: State, seat: Seat, square: Square) -> int:
    """What stopping on a square brings or costs, in k, roughly."""
    if GROUP[square] < 0:
        if square == 0:
            return state.ruleset.salary + state.ruleset.start_landing_bonus
        return -500 if square == 30 else -PRICE[square]
    if state.owner[square] == NOBODY:
        if state.cash[seat] < PRICE[square]:
            return -100
        return worth_of(state, seat, square) - PRICE[square]
    return -expected_rent(state, square, seat)


def _first(actions: list[Action], kind: int) -> Action:
    for action in actions:
        if action[KIND] == kind:
            return action
    return actions[0]
