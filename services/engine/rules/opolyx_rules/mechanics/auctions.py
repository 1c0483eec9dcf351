"""Auctions: turn-based, in fixed steps, passing is final (AUCTION)."""

from opolyx_rules.content.boards import PRICE
from opolyx_rules.events import (
    AUCTION_ENDED,
    AUCTION_STARTED,
    BID_PASSED,
    BID_PLACED,
    BID_VOIDED,
    Log,
)
from opolyx_rules.ids import (
    BANK,
    CASH_AUCTION,
    NOBODY,
    PASS_CASH,
    PASS_GONE,
    PHASE_AUCTION,
    PROPERTY_AUCTION,
    Seat,
    Square,
)
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.mechanics.property import move_property
from opolyx_rules.queries import next_bid
from opolyx_rules.state import State


def start_auction(state: State, square: Square, decliner: Seat, log: Log) -> None:
    """Offer the property to everybody still in, the decliner last (AUCTION-1)."""
    state.auction_square = square
    state.auction_bid = 0
    state.auction_leader = NOBODY
    state.auction_bids = []
    state.auction_queue = []
    for step in range(1, state.seats + 1):
        seat = (decliner + step) % state.seats
        if state.out_order[seat] == 0:
            state.auction_queue.append(seat)
    log.append((AUCTION_STARTED, square, PRICE[square]))
    state.push(PHASE_AUCTION, decliner, square)
    ask_next_bidder(state, log)


def place_bid(state: State, seat: Seat, log: Log) -> None:
    """Bid the minimum (AUCTION-2, AUCTION-3)."""
    amount = next_bid(state)
    state.auction_bid = amount
    state.auction_leader = seat
    state.auction_bids.append((seat, amount))
    state.auction_queue.remove(seat)
    state.auction_queue.append(seat)
    log.append((BID_PLACED, seat, amount))
    ask_next_bidder(state, log)


def pass_bid(state: State, seat: Seat, cause: int, log: Log) -> None:
    """Pass for good (AUCTION-3)."""
    state.auction_queue.remove(seat)
    log.append((BID_PASSED, seat, cause))
    ask_next_bidder(state, log)


def ask_next_bidder(state: State, log: Log) -> None:
    """Await the next bidder, passing by those who can't afford it, or end (AUCTION-4 to -7)."""
    queue = state.auction_queue
    while True:
        asked = _first_but_leader(state)
        if asked == NOBODY:
            _end_auction(state, log)
            return
        if state.cash[asked] >= next_bid(state):
            state.stack.pop()
            state.push(PHASE_AUCTION, asked, state.auction_square)
            return
        queue.remove(asked)
        log.append((BID_PASSED, asked, PASS_CASH))


def leave_auction(state: State, seat: Seat, log: Log) -> None:
    """A bidder who goes out passes, and its leading bid is void (AUCTION-9)."""
    if state.auction_square == NOBODY or seat not in state.auction_queue:
        return
    state.auction_queue.remove(seat)
    log.append((BID_PASSED, seat, PASS_GONE))
    if state.auction_leader == seat:
        log.append((BID_VOIDED, seat, state.auction_bid))
        _restore_standing_bid(state)
    elif state.stack[-1][1] != seat:
        return  # the bidder who is asked keeps the question and the clock
    ask_next_bidder(state, log)


def _restore_standing_bid(state: State) -> None:
    state.auction_bid = 0
    state.auction_leader = NOBODY
    for seat, amount in state.auction_bids:  # rising: the last that counts is the highest
        if seat in state.auction_queue:
            state.auction_bid = amount
            state.auction_leader = seat


def _first_but_leader(state: State) -> Seat:
    for seat in state.auction_queue:
        if seat != state.auction_leader:
            return seat
    return NOBODY


def _end_auction(state: State, log: Log) -> None:
    square, winner, price = state.auction_square, state.auction_leader, state.auction_bid
    state.stack.pop()
    state.auction_square = NOBODY
    state.auction_bid = 0
    state.auction_leader = NOBODY
    state.auction_queue = []
    state.auction_bids = []
    log.append((AUCTION_ENDED, square, winner, price))
    if winner != NOBODY:
        move_cash(state, winner, BANK, price, CASH_AUCTION, log)
        move_property(state, square, winner, PROPERTY_AUCTION, log)
