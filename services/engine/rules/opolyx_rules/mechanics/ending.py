"""The end of a game, its places and its result (END)."""

from opolyx_rules.events import GAME_ENDED, Log
from opolyx_rules.ids import END_LAST_STANDING, END_ROUND_CAP, NOBODY, Seat
from opolyx_rules.queries import full_colour_groups, net_worth, seats_in, side_of
from opolyx_rules.state import State


def end_if_last_standing(state: State, log: Log) -> bool:
    """End the game when one player, or one side, is left (END-1).

    Returns:
        Whether the game is over.
    """
    if not state.over and len({side_of(state, seat) for seat in seats_in(state)}) <= 1:
        _end(state, END_LAST_STANDING, log)
    return state.over


def end_at_cap(state: State, log: Log) -> bool:
    """End the game when the round that is complete is the last (END-1).

    Returns:
        Whether the game is over.
    """
    if state.round >= state.ruleset.round_cap:
        _end(state, END_ROUND_CAP, log)
    return state.over


def _end(state: State, cause: int, log: Log) -> None:
    state.over = True
    state.end_cause = cause
    state.stack.clear()
    state.debts.clear()
    state.offers.clear()
    state.auction_square = NOBODY
    state.auction_bid = 0
    state.auction_leader = NOBODY
    state.auction_queue = []
    state.auction_bids = []
    state.rolls_again = 0
    state.jump_due = 0
    log.append((GAME_ENDED, cause))


class SeatResult:
    """One seat's part of the result (END-5)."""

    __slots__ = ("full_groups", "net_worth", "place", "seat", "survived")

    def __init__(
        self, seat: Seat, place: int, survived: bool, worth: int, full_groups: int
    ) -> None:
        self.seat = seat
        self.place = place
        self.survived = survived
        self.net_worth = worth
        self.full_groups = full_groups


class Result:
    """The result of a game: how and in which round it ended, and each seat's part in seat order.

    `places` counts the places: players, or sides in Team mode.
    """

    __slots__ = ("cause", "places", "round", "seats")

    def __init__(self, cause: int, round_number: int, places: int, seats: list[SeatResult]) -> None:
        self.cause = cause
        self.round = round_number
        self.places = places
        self.seats = seats


def result_of(state: State) -> Result:
    """The result as the table stands, meant for a game that is over (END-2, END-4, END-5).

    Survivors come by net worth, ties to the lower seat; then the eliminated, last out first. A
    side comes by the sum of its survivors' worth, or by when its last seat went; its seats share
    the place.
    """
    groups: dict[int, list[Seat]] = {}
    for seat in range(state.seats):
        groups.setdefault(side_of(state, seat), []).append(seat)
    ranked = sorted(groups.values(), key=_RankKey(state).of)
    places = [0] * state.seats
    for place, seats in enumerate(ranked, start=1):
        for seat in seats:
            places[seat] = place
    parts = []
    for seat in range(state.seats):
        survived = state.out_order[seat] == 0
        worth = net_worth(state, seat) if survived else 0
        held = full_colour_groups(state, seat)
        parts.append(SeatResult(seat, places[seat], survived, worth, held))
    return Result(state.end_cause, state.round, len(ranked), parts)


class _RankKey:
    """Sorts sides, the best first."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    def of(self, seats: list[Seat]) -> tuple[int, int, int]:
        state = self._state
        alive = [seat for seat in seats if state.out_order[seat] == 0]
        if alive:
            return (0, -sum([net_worth(state, seat) for seat in alive]), min(seats))
        return (1, -max([state.out_order[seat] for seat in seats]), min(seats))
