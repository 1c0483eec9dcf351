"""What a learner sees of a state: one vector of numbers from -1 to 1, seats counted from its own.

For a table of n seats the vector has 13 n + 28 (n + 4) + n + 51 numbers, in this order:

| numbers | what |
|---|---|
| 13 for each seat, the own first, then in turn order | still in; cash; net worth; square / 39; in jail; failed attempts / 10; missed turns / 10; whether its turn; whether awaited; an ally; wealth god; misfortune god; owes on a financed property |
| n + 4 for each of the 28 properties by ascending square | owner: nobody, or which seat from the own on (one of n + 1 is 1); level / 5; mortgaged; built this turn / 5 |
| 11 | what is awaited: one of the 11 values of `Phase` is 1 |
| 8 | round / round cap; doubles / 3; rolls again; a jump is due; the dice / 6, / 6 and / 5; cards drawn / size of the deck |
| 28 | the property on auction |
| n | the leader of the auction, from the own seat on |
| 4 | an auction runs; the next bid; what the own seat owes; the bail |

Money m, in k, is m / (|m| + 15,000): 0 for none, a half for the usual cash at the start.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from opolyx_rules.content.boards import PROPERTIES
from opolyx_rules.ids import GOD_MISFORTUNE, GOD_WEALTH, LAST_PHASE, NOBODY
from opolyx_rules.queries import (
    are_allies,
    awaited_phase,
    awaited_seat,
    debt_of,
    debt_total,
    net_worth,
    next_bid,
)
from opolyx_rules.state import State

Vector = npt.NDArray[np.float32]

_HALF_MONEY: Final = 15_000
_PLACES: Final = {square: place for place, square in enumerate(PROPERTIES)}


def size_of(seats: int) -> int:
    """How many numbers an observation of a table has."""
    return 13 * seats + len(PROPERTIES) * (seats + 4) + LAST_PHASE + 1 + 8 + 28 + seats + 4


def observe(state: State, own: int) -> Vector:
    """The state as the seat `own` sees it; float32, shape (`size_of(seats)`,)."""
    order = [(own + step) % state.seats for step in range(state.seats)]
    numbers = [number for seat in order for number in _seat(state, own, seat)]
    for square in PROPERTIES:
        numbers += _property(state, own, square)
    phase = awaited_phase(state)
    numbers += [float(phase == number) for number in range(LAST_PHASE + 1)]
    numbers += _table(state)
    numbers += _auction(state, own)
    debt = debt_of(state, own)
    numbers += [
        float(state.auction_square != NOBODY),
        _money(next_bid(state) if state.auction_square != NOBODY else 0),
        _money(debt_total(debt) if debt is not None else 0),
        _money(state.ruleset.bail),
    ]
    return np.array(numbers, dtype=np.float32)


def _seat(state: State, own: int, seat: int) -> list[float]:
    god = state.god[seat]
    return [
        float(state.out_order[seat] == 0),
        _money(state.cash[seat]),
        _money(net_worth(state, seat)),
        state.position[seat] / 39,
        float(state.jailed[seat]),
        state.attempts[seat] / 10,
        min(state.missed[seat], 10) / 10,
        float(state.turn_seat == seat and not state.over),
        float(awaited_seat(state) == seat),
        float(are_allies(state, own, seat)),
        float(god == GOD_WEALTH),
        float(god == GOD_MISFORTUNE),
        float(state.financed[seat] != NOBODY),
    ]


def _property(state: State, own: int, square: int) -> list[float]:
    owner, seats = state.owner[square], state.seats
    place = 0 if owner == NOBODY else 1 + (owner - own) % seats
    return [
        *[float(place == number) for number in range(seats + 1)],
        state.level[square] / 5,
        float(state.mortgaged[square] > 0),
        state.built[square] / 5,
    ]


def _table(state: State) -> list[float]:
    first, second, third = state.dice
    return [
        state.round / state.ruleset.round_cap,
        state.doubles / 3,
        float(state.rolls_again),
        float(state.jump_due),
        first / 6,
        second / 6,
        third / 5,
        state.deck_at / len(state.deck),
    ]


def _auction(state: State, own: int) -> list[float]:
    square, leader = state.auction_square, state.auction_leader
    place = _PLACES.get(square, NOBODY)
    ahead = NOBODY if leader == NOBODY else (leader - own) % state.seats
    return [
        *[float(place == number) for number in range(len(PROPERTIES))],
        *[float(ahead == number) for number in range(state.seats)],
    ]


def _money(amount: int) -> float:
    return amount / (abs(amount) + _HALF_MONEY)
