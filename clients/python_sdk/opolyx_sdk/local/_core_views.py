"""The public state of the rules as the SDK's view: the same value that a client's mirror holds.

A view is made anew for every step of a game, and most steps change little. So the maker of a game
keeps what it made last and makes only what differs; without that everything comes out the same.
"""

from collections.abc import Iterable
from typing import Final

from opolyx_rules import engine, views
from opolyx_rules.content.boards import PROPERTIES
from opolyx_rules.ids import NOBODY
from opolyx_rules.queries import awaited_phase, awaited_seat, financing_owed, net_worth
from opolyx_rules.state import Offer, State
from opolyx_sdk.enums import CashCause, EndCause, God, Phase
from opolyx_sdk.local._game_clock import GameClock
from opolyx_sdk.local._quick import quick_maker
from opolyx_sdk.views import (
    AuctionView,
    ClaimView,
    DebtView,
    GameView,
    OfferView,
    PlayerView,
    PropertyView,
    ResultView,
    SeatResult,
    TurnView,
)

PHASES: Final = tuple(Phase(number) for number in range(len(Phase)))
"""The kinds of decision by number."""

_GODS: Final = tuple(God(number) for number in range(len(God)))
_make_view: Final = quick_maker(GameView)
_make_player: Final = quick_maker(PlayerView)
_make_property: Final = quick_maker(PropertyView)
_make_turn: Final = quick_maker(TurnView)


class ViewMaker:
    """Makes the views of one game."""

    __slots__ = ("_board", "_players", "_properties", "_property_parts", "_seats", "_worth")

    def __init__(self) -> None:
        self._board: list[list[int]] = []
        self._property_parts: list[list[int]] = []
        self._worth: list[int] = []
        self._seats: list[tuple[int, ...]] = []
        self._players: tuple[PlayerView, ...] = ()
        self._properties: tuple[PropertyView, ...] = ()

    def view(self, state: State, clock: GameClock | None = None) -> GameView:
        """The whole public state.

        Args:
            state: of the game that this maker is for.
            clock: knows when offers lapse; without one they seem to lapse at 0.
        """
        self._update_properties(state)
        self._update_players(state)
        return _make_view(
            self._players,
            self._properties,
            _turn(state),
            _auction(state) if state.auction_square != NOBODY else None,
            _debts(state) if state.debts else (),
            tuple([_offer(one, clock) for one in state.offers]) if state.offers else (),
            sdk_result(state) if state.over else None,
        )

    def _update_properties(self, state: State) -> None:
        parts = [state.owner, state.level, state.mortgaged, state.built]
        known = self._property_parts
        if parts == known:
            return
        if not known:
            self._properties = tuple([_property(state, square) for square in PROPERTIES])
        else:
            owner, level, mortgaged, built = known
            self._properties = tuple(
                [
                    last
                    if owner[square] == state.owner[square]
                    and level[square] == state.level[square]
                    and mortgaged[square] == state.mortgaged[square]
                    and built[square] == state.built[square]
                    else _property(state, square)
                    for square, last in zip(PROPERTIES, self._properties, strict=True)
                ]
            )
        self._property_parts = [part[:] for part in parts]

    def _update_players(self, state: State) -> None:
        """Worth changes with the board and, where something is financed, with the round."""
        board = [state.owner, state.financed, state.out_order, state.level, state.mortgaged]
        if board != self._board:
            for seat in self._worth_changed(state, board):
                self._worth[seat] = net_worth(state, seat) - state.cash[seat]
                self._seats[seat] = ()
            self._board = [part[:] for part in board]
        keys: list[tuple[int, ...]] = [
            (
                state.cash[seat],
                state.position[seat],
                state.jailed[seat],
                state.attempts[seat],
                state.missed[seat],
                state.god[seat],
                state.god_until[seat],
                state.round if state.financed[seat] != NOBODY else 0,
            )
            for seat in range(state.seats)
        ]
        if keys == self._seats:
            return
        self._players = tuple(
            [
                self._players[seat]
                if keys[seat] == self._seats[seat]
                else self._player(state, seat)
                for seat in range(state.seats)
            ]
        )
        self._seats = keys

    def _worth_changed(self, state: State, board: list[list[int]]) -> Iterable[int]:
        """Seats whose worth may differ from that on the board before: mostly who has just acted."""
        if board[:3] != self._board[:3]:
            if not self._board:
                self._worth, self._seats = [0] * state.seats, [()] * state.seats
                self._players = (None,) * state.seats  # type: ignore[assignment]
            return range(state.seats)
        level, mortgaged = self._board[3:]
        return {
            state.owner[square]
            for square in PROPERTIES
            if state.level[square] != level[square] or state.mortgaged[square] != mortgaged[square]
        } - {NOBODY}

    def _player(self, state: State, seat: int) -> PlayerView:
        financed, gone = state.financed[seat], state.out_order[seat]
        cash = state.cash[seat]
        if financed == NOBODY:
            owed = due = 0
            worth = 0 if gone else cash + self._worth[seat]
        else:
            owed = financing_owed(state, seat)
            due = state.financed_round[seat] + state.ruleset.financing_rounds
            worth = net_worth(state, seat)
        return _make_player(
            seat,
            cash,
            state.position[seat],
            not gone,
            state.jailed[seat] == 1,
            state.attempts[seat],
            state.missed[seat],
            _GODS[state.god[seat]],
            state.god_until[seat],
            None if financed == NOBODY else financed,
            owed,
            due,
            worth,
            gone,
        )


def sdk_result(state: State) -> ResultView:
    """The result of a game that is over."""
    ended = engine.result(state)
    return ResultView(
        cause=EndCause(ended.cause),
        round=ended.round,
        seats=tuple(
            SeatResult(
                seat=part.seat,
                place=part.place,
                survived=part.survived,
                net_worth=part.net_worth,
                full_groups=part.full_groups,
            )
            for part in ended.seats
        ),
    )


def _property(state: State, square: int) -> PropertyView:
    owner, mortgaged = state.owner[square], state.mortgaged[square]
    return _make_property(
        square,
        None if owner == NOBODY else owner,
        state.level[square],
        mortgaged > 0,
        mortgaged,
        state.built[square],
    )


def _turn(state: State) -> TurnView:
    first, second, third = state.dice
    dice: tuple[int, ...] = ()
    if first:
        dice = (first, second, third) if third else (first, second)
    seat = awaited_seat(state)
    return _make_turn(
        state.round,
        state.turn_seat,
        state.first_seat,
        state.turn_number,
        PHASES[awaited_phase(state)],
        None if seat == NOBODY else seat,
        dice,
        state.doubles,
        state.rolls_again == 1,
        state.jump_due == 1,
    )


def _auction(state: State) -> AuctionView:
    square, bid, leader, next_bid, *bidders = views.auction_view(state)
    return AuctionView(
        square=square,
        bid=bid,
        leader=None if leader == NOBODY else leader,
        next_bid=next_bid,
        bidders=tuple(bidders),
    )


def _debts(state: State) -> tuple[DebtView, ...]:
    return tuple([_debt(values) for values in views.debts_view(state)])


def _debt(values: views.Ints) -> DebtView:
    claims = [
        ClaimView(
            creditor=None if values[at] == NOBODY else values[at],
            amount=values[at + 1],
            cause=CashCause(values[at + 2]),
        )
        for at in range(1, len(values), 3)
    ]
    return DebtView(debtor=values[0], claims=tuple(claims))


def _offer(offer: Offer, clock: GameClock | None) -> OfferView:
    offer_id, proposer, recipient, give_cash, want_cash, give, want = views.offer_view(offer)
    return OfferView(
        offer_id=offer_id,
        proposer=proposer,
        recipient=recipient,
        give_cash=give_cash,
        give_squares=tuple(give),
        want_cash=want_cash,
        want_squares=tuple(want),
        deadline_unix_ms=clock.offer_deadline_ms(offer_id) if clock is not None else 0,
    )
