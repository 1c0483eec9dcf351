"""What must hold after every action of every game, whoever plays it.

`Invariants` keeps books of its own from the events alone: what the state says must be what the
events add up to.
"""

from typing import Final

from opolyx_rules import Event, State, actors, legal_actions
from opolyx_rules import events as ev
from opolyx_rules.content.boards import COLOUR_GROUPS, GROUPS, JAIL_SQUARE, MAX_LEVEL
from opolyx_rules.ids import (
    BANK,
    FRAME_LEAVE_JAIL,
    FRAME_TURN,
    NOBODY,
    PHASE_AUCTION,
    PHASE_JAIL,
    PHASE_JAIL_BAIL,
    PHASE_PAYMENT,
    PHASE_ROLL,
    SQUARES,
)
from opolyx_rules.queries import next_bid

_BUILDINGS: Final = frozenset(
    (
        ev.BUILDING_BUILT,
        ev.BUILDING_SOLD,
        ev.PROPERTY_MOVED,
        ev.PROPERTY_MORTGAGED,
        ev.PROPERTY_REDEEMED,
    )
)


class Invariants:
    """Checks a game after its start and after each of its actions.

    Args:
        state: The game, just started.
        log: The events of its start.
    """

    def __init__(self, state: State, log: list[Event]) -> None:
        self._state = state
        self._cash = [0] * state.seats
        self._position = [0] * state.seats
        self._jailed = [0] * state.seats
        self._out_order = [0] * state.seats
        self._owner = [NOBODY] * SQUARES
        self._level = [0] * SQUARES
        self._mortgaged = [False] * SQUARES
        self._offers: set[int] = set()
        self._round = 0
        self._turns = 0
        self._decision = 0
        self.after(log)

    def after(self, log: list[Event]) -> None:
        """Check the state after the action that had these events."""
        state, before = self._state, self._round
        for event in log:
            self._book(event)
        assert self._cash == state.cash, "cash that no event accounts for"
        assert self._position == state.position
        assert self._jailed == state.jailed
        assert self._owner == state.owner, "a property changed hands without an event"
        assert self._level == state.level
        assert self._mortgaged == [bool(since) for since in state.mortgaged]
        assert self._out_order == state.out_order
        assert self._round == state.round
        assert self._round - before in (0, 1), "a round was jumped over"
        assert self._turns == state.turn_number
        assert state.decision - self._decision in (0, 1)
        self._decision = state.decision
        if any(event[0] in _BUILDINGS for event in log):
            self._check_buildings()
        if state.outs:
            self._check_the_eliminated()
        if state.over:
            self._check_end(log)
            return
        self._check_awaited()
        self._check_stack()
        self._check_offers()
        self._check_auction()
        for seat, square in enumerate(state.financed):
            if square != NOBODY:
                assert state.owner[square] == seat
                assert not state.mortgaged[square]

    def _book(self, event: Event) -> None:
        kind = event[0]
        if kind == ev.CASH_MOVED:
            self._book_cash(event)
        elif kind == ev.TOKEN_MOVED:
            _, seat, origin, target, _ = event
            assert self._position[seat] == origin
            self._position[seat] = target
        elif kind == ev.PROPERTY_MOVED:
            _, square, giver, taker, _ = event
            assert self._owner[square] == giver != taker
            self._owner[square] = taker
            if taker == BANK:
                self._level[square], self._mortgaged[square] = 0, False
        elif kind in _BUILDINGS:
            self._book_managing(event)
        elif kind in (ev.OFFER_MADE, ev.OFFER_CLOSED):
            assert (event[1] in self._offers) == (kind == ev.OFFER_CLOSED)
            self._offers ^= {event[1]}
        else:
            self._book_seats(event)

    def _book_cash(self, event: Event) -> None:
        _, payer, payee, amount, _ = event
        assert amount > 0
        assert payer != payee
        if payer != BANK:
            self._cash[payer] -= amount
            assert self._cash[payer] >= 0, "more was paid than there was"
        if payee != BANK:
            self._cash[payee] += amount

    def _book_managing(self, event: Event) -> None:
        kind, seat, square = event[:3]
        assert self._owner[square] == seat
        if kind in (ev.PROPERTY_MORTGAGED, ev.PROPERTY_REDEEMED):
            assert self._mortgaged[square] == (kind == ev.PROPERTY_REDEEMED)
            self._mortgaged[square] = not self._mortgaged[square]
        elif kind == ev.BUILDING_BUILT:
            assert self._level[square] + 1 == event[3] <= MAX_LEVEL
            self._level[square] = event[3]
        else:
            assert 0 <= event[3] < self._level[square]
            self._level[square] = event[3]

    def _book_seats(self, event: Event) -> None:
        kind, value = event[:2]
        if kind == ev.ROUND_STARTED:
            self._round += 1
            assert self._round == value
        elif kind == ev.TURN_STARTED:
            self._turns += 1
            assert self._out_order[value] == 0
        elif kind == ev.JAILED:
            self._jailed[value] = 1
        elif kind == ev.RELEASED:
            assert self._jailed[value]
            self._jailed[value] = 0
        elif kind == ev.ELIMINATED:
            assert self._out_order[value] == 0
            assert max(self._out_order) + 1 == event[2]
            self._out_order[value], self._jailed[value] = event[2], 0

    def _check_buildings(self) -> None:
        state = self._state
        for group in range(COLOUR_GROUPS):
            squares = GROUPS[group]
            levels = [state.level[square] for square in squares]
            if not any(levels):
                continue
            assert len({state.owner[square] for square in squares}) == 1, "a built group is broken"
            assert not any(state.mortgaged[square] for square in squares)
            assert not state.ruleset.even_build or max(levels) - min(levels) <= 1
            for square in squares:
                assert state.built[square] <= state.ruleset.builds_per_street

    def _check_the_eliminated(self) -> None:
        state = self._state
        for seat, order in enumerate(state.out_order):
            if order:
                assert state.cash[seat] == 0
                assert seat not in state.owner
                assert all(seat not in offer[1:3] for offer in state.offers)
                assert all(seat != debtor for debtor, _ in state.debts)
                assert all(seat != claim[0] for _, claims in state.debts for claim in claims)
                assert all(seat != frame[1] for frame in state.stack[1:])
                assert seat not in state.auction_queue
                assert state.financed[seat] == NOBODY
                assert state.god[seat] == state.jailed[seat] == state.missed[seat] == 0

    def _check_awaited(self) -> None:
        state = self._state
        (seat,) = actors(state)
        assert state.out_order[seat] == 0
        assert legal_actions(state, seat), "the awaited seat can do nothing"
        phase = state.stack[-1][0]
        if phase in (PHASE_ROLL, PHASE_JAIL, PHASE_JAIL_BAIL):
            assert seat == state.turn_seat
            assert state.jailed[seat] == (phase != PHASE_ROLL)
            assert not state.jailed[seat] or state.position[seat] == JAIL_SQUARE
        assert 1 <= state.round <= state.ruleset.round_cap
        assert 0 <= state.doubles < 3
        assert max(state.missed) < state.ruleset.missed_turns

    def _check_stack(self) -> None:
        state = self._state
        assert state.stack[0][:2] == (FRAME_TURN, state.turn_seat)
        assert all(frame[0] != FRAME_TURN for frame in state.stack[1:])
        serials = [frame[3] for frame in state.stack]
        assert sorted(set(serials)) == sorted(serials)
        assert max(serials) <= state.serial
        debtors = [frame[1] for frame in state.stack if frame[0] == PHASE_PAYMENT]
        assert sorted(debtors) == sorted(debtor for debtor, _ in state.debts)
        assert len(set(debtors)) == len(debtors)
        for debtor, claims in state.debts:
            assert claims
            assert all(claim[0] != debtor and claim[1] > 0 for claim in claims)
        leaving = [frame[1] for frame in state.stack if frame[0] == FRAME_LEAVE_JAIL]
        assert all(state.jailed[seat] for seat in leaving)

    def _check_offers(self) -> None:
        state = self._state
        assert sorted(self._offers) == [offer[0] for offer in state.offers]
        for offer in state.offers:
            _, proposer, recipient, _, give, _, want, mortgaged = offer
            assert proposer != recipient
            made = sum(other[1] == proposer for other in state.offers)
            assert made <= state.ruleset.max_offers
            for square in range(SQUARES):
                if (give | want) >> square & 1:
                    assert state.owner[square] == (proposer if give >> square & 1 else recipient)
                    assert bool(state.mortgaged[square]) == bool(mortgaged >> square & 1)
                    assert square not in state.financed

    def _check_auction(self) -> None:
        state = self._state
        square = state.auction_square
        assert (square != NOBODY) == (state.stack[-1][0] == PHASE_AUCTION)
        if square == NOBODY:
            assert [] == [*state.auction_queue, *state.auction_bids]
            return
        queue, leader = state.auction_queue, state.auction_leader
        assert state.owner[square] == NOBODY
        assert len(set(queue)) == len(queue)
        assert state.stack[-1][1] in queue
        assert state.stack[-1][1] != leader
        assert state.cash[state.stack[-1][1]] >= next_bid(state)
        if leader != NOBODY:
            assert leader in queue
            assert (leader, state.auction_bid) in state.auction_bids
            assert state.cash[leader] >= state.auction_bid

    def _check_end(self, log: list[Event]) -> None:
        state = self._state
        assert (ev.GAME_ENDED, state.end_cause) == log[-1]
        assert state.round <= state.ruleset.round_cap
        assert actors(state) == []
        assert all(legal_actions(state, seat) == [] for seat in range(state.seats))
        assert [] == [*state.stack, *state.debts, *state.offers, *state.auction_queue]
