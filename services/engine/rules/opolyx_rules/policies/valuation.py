"""What a position is worth to a seat, in k: the measure by which `trader` buys, bids and trades.

A seat's strength is its net worth (END-3), the rents to come in the next rounds, and a premium on
the first cash in hand. A whole group counts with the buildings that there is cash for, a group that
lacks one property with a part of that. A seat's standing sets the strength of its side against the
average of the rival sides, so that what a deal does for the partner counts against it.
"""

from typing import Final

from opolyx_rules.content.boards import (
    BUILD_COST,
    COLOUR_GROUPS,
    GROUPS,
    KIND,
    MAX_LEVEL,
    PRICE,
    RENTS,
    UTILITY,
)
from opolyx_rules.ids import NOBODY, SQUARES, Seat, Square
from opolyx_rules.mechanics.rent import rent_tax_rate
from opolyx_rules.queries import (
    debt_of,
    debt_total,
    financing_owed,
    side_of,
)
from opolyx_rules.state import State

HORIZON: Final = 16
"""Rounds whose rents count."""
CUSHION: Final = 2_000
"""Cash in hand up to which each k counts half as much again."""
INCOME_SOON: Final = 3_000
"""What a seat can build from beside its cash: what the next rounds bring it."""
USUAL_DICE: Final = 7

# fmt: off
VISITS: Final[tuple[int, ...]] = (
    333, 224, 241, 248, 251, 286, 258, 262, 260, 231,
    701, 334, 322, 249, 307, 301, 328, 325, 332, 328,
    326, 316, 313, 291, 391, 330, 287, 302, 328, 290,
    311, 322, 299, 298, 291, 290, 250, 232, 232, 360,
)
# fmt: on
"""Stops on each square in 10,000 turns of a player, counted in games of `steady` bots."""


def _incomes(square: Square) -> tuple[int, ...]:
    dice = USUAL_DICE if KIND[square] == UTILITY else 1
    return tuple([VISITS[square] * rent * dice for rent in RENTS[square]])


INCOMES: Final[tuple[tuple[int, ...], ...]] = tuple(_incomes(square) for square in range(SQUARES))
"""By square, by level (of a station and a utility by how many are held less one): what a property
charges one rival in 10,000 of its turns; a whole group's doubling left out."""


def _group_incomes(group: int) -> tuple[int, ...]:
    levels = range(MAX_LEVEL + 1)
    sums = [sum([INCOMES[square][level] for square in GROUPS[group]]) for level in levels]
    return (sums[0] * 2, *sums[1:])


GROUP_INCOMES: Final[tuple[tuple[int, ...], ...]] = tuple(
    _group_incomes(group) for group in range(COLOUR_GROUPS)
)
"""By colour group, by level of all its streets: what the whole group charges likewise."""


def standing(state: State, seat: Seat) -> int:
    """How a seat's side stands against the others, in k times the number of rival sides.

    A deal is good for the seat exactly if this rises.
    """
    side = side_of(state, seat)
    own = others = 0
    for other in range(state.seats):
        if state.out_order[other] == 0:
            if side_of(state, other) == side:
                own += strength(state, other)
            else:
                others += strength(state, other)
    return own * rival_sides(state, seat) - others


def rival_sides(state: State, seat: Seat) -> int:
    """How many sides are still in beside the seat's own; at least 1."""
    side = side_of(state, seat)
    seen: list[int] = []
    for other in range(state.seats):
        its = side_of(state, other)
        if state.out_order[other] == 0 and its != side and its not in seen:
            seen.append(its)
    return max(1, len(seen))


def rivals_of(state: State, seat: Seat) -> int:
    """How many opponents are still in."""
    side = side_of(state, seat)
    count = 0
    for other in range(state.seats):
        if state.out_order[other] == 0 and side_of(state, other) != side:
            count += 1
    return count


def strength(state: State, seat: Seat) -> int:
    """Net worth, rents to come, and the premium on cash in hand, in k."""
    cash = state.cash[seat] - financing_owed(state, seat)
    debt = debt_of(state, seat)
    if debt is not None:
        cash -= debt_total(debt)
    total = cash + min(cash, CUSHION) // 2
    factor = rent_factor(state, seat)
    budget = max(0, cash + INCOME_SOON)
    for group, squares in enumerate(GROUPS):
        if group < COLOUR_GROUPS:
            total += _streets_worth(state, seat, group, budget, factor)
        else:
            total += _others_worth(state, seat, squares, factor)
    return total


def rent_factor(state: State, seat: Seat) -> int:
    """What an income in k for 10,000 turns of a rival comes to until the horizon, in 1/10,000.

    Of the rent that is withheld (RTAX) half counts: nobody gets it, but the rivals pay it.
    """
    rounds = max(0, min(HORIZON, state.ruleset.round_cap - state.round))
    return rounds * rivals_of(state, seat) * (20_000 - rent_tax_rate(state)) // 2


def _streets_worth(state: State, seat: Seat, group: int, budget: int, factor: int) -> int:
    """What the seat's part of a colour group adds to its strength."""
    owner, level, mortgaged = state.owner, state.level, state.mortgaged
    squares = GROUPS[group]
    cost = BUILD_COST[squares[0]]
    held = free = worth = income = mortgages = 0
    lowest = MAX_LEVEL
    for square in squares:
        if owner[square] != seat:
            free += owner[square] == NOBODY
            continue
        held += 1
        if mortgaged[square]:
            mortgages += PRICE[square] // 2
            continue
        height = level[square]
        lowest = min(lowest, height)
        worth += PRICE[square] + height * cost
        income += INCOMES[square][height]
    if held == 0:
        return 0
    size = len(squares)
    if held >= size - 1:
        lowest = 0 if mortgages or held < size else lowest
        budget -= mortgages
        if budget > 0:
            lowest = min(MAX_LEVEL, lowest + budget // (cost * size))
        whole = GROUP_INCOMES[group][lowest]
        if held == size:
            income = max(income, whole)
        else:
            income += whole // (4 if free else 6)
    return worth + mortgages + income * factor // 100_000_000


def _others_worth(state: State, seat: Seat, squares: tuple[int, ...], factor: int) -> int:
    """What the seat's stations or utilities add to its strength."""
    owner = state.owner
    held = [square for square in squares if owner[square] == seat]
    worth = income = 0
    for square in held:
        if state.mortgaged[square]:
            worth += PRICE[square] // 2
        else:
            worth += PRICE[square]
            income += INCOMES[square][len(held) - 1]
    return worth + income * factor // 100_000_000


def worth_of(state: State, seat: Seat, square: Square) -> int:
    """The most that an unowned property is worth to a seat, in k: to own it and to deny it.

    Denying counts the gain of the rival to whom it is worth most and who has the list price.
    """
    copy = state.clone()
    own = _gain_by(copy, seat, square)
    rival = 0
    for other in range(state.seats):
        if state.out_order[other] or side_of(state, other) == side_of(state, seat):
            continue
        if state.cash[other] >= PRICE[square]:
            rival = max(rival, _gain_by(copy, other, square) - PRICE[square])
    return own + rival // rival_sides(state, seat)


def _gain_by(copy: State, seat: Seat, square: Square) -> int:
    """How much stronger a seat gets by an unowned property; the copy is left as it was."""
    before = strength(copy, seat)
    copy.give(square, seat)
    after = strength(copy, seat)
    copy.give(square, NOBODY)
    return after - before
