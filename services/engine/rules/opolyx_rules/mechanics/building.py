"""Building and selling levels (BUILD)."""

from opolyx_rules.content.boards import (
    BUILD_COST,
    GROUP,
    GROUPS,
    KIND,
    MAX_LEVEL,
    STREET,
)
from opolyx_rules.events import BUILDING_BUILT, BUILDING_SOLD, Log
from opolyx_rules.ids import BANK, CASH_BUILD, CASH_SELL_BUILDING, NOBODY, Seat, Square
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.queries import (
    group_mortgaged,
    highest_level,
    holds_group,
    lowest_level,
    sale_value,
)
from opolyx_rules.reasons import (
    BUILD_LIMIT,
    FULLY_BUILT,
    GROUP_INCOMPLETE,
    GROUP_MORTGAGED,
    NO_BUILDING,
    NOT_A_STREET,
    NOT_ENOUGH_CASH,
    NOT_OWNER,
    UNEVEN,
    Refusal,
)
from opolyx_rules.state import State


def refuse_build(state: State, seat: Seat, square: Square) -> Refusal | None:
    """Why the seat can't build on the square now. Must agree with `buildable`."""
    if KIND[square] != STREET:
        return Refusal(NOT_A_STREET, "BUILD-1", (("square", square),))
    if state.owner[square] != seat:
        return Refusal(NOT_OWNER, "BUILD-1", (("square", square),))
    group, level = GROUP[square], state.level[square]
    if not holds_group(state, seat, group):
        return Refusal(GROUP_INCOMPLETE, "BUILD-1", (("square", square), ("group", group)))
    if group_mortgaged(state, group):
        return Refusal(GROUP_MORTGAGED, "BUILD-1", (("square", square), ("group", group)))
    if level >= MAX_LEVEL:
        return Refusal(FULLY_BUILT, "BUILD-1", (("square", square), ("level", level)))
    if state.ruleset.even_build and level > lowest_level(state, group):
        return Refusal(UNEVEN, "BUILD-2", (("square", square), ("level", level)))
    if state.built[square] >= state.ruleset.builds_per_street:
        limit = state.ruleset.builds_per_street
        return Refusal(BUILD_LIMIT, "BUILD-3", (("square", square), ("limit", limit)))
    cost = BUILD_COST[square]
    if state.cash[seat] < cost:
        numbers = (("square", square), ("cost", cost), ("cash", state.cash[seat]))
        return Refusal(NOT_ENOUGH_CASH, "BUILD-1", numbers)
    return None


def buildable(state: State, seat: Seat) -> list[Square]:
    """Streets on which the seat can build now, ascending. Must agree with `refuse_build`."""
    found = []
    even, limit = state.ruleset.even_build, state.ruleset.builds_per_street
    cash = state.cash[seat]
    for group in state.whole[seat]:
        squares = GROUPS[group]
        if cash < BUILD_COST[squares[0]] or group_mortgaged(state, group):
            continue
        lowest = lowest_level(state, group)
        for square in squares:
            level = state.level[square]
            if level < MAX_LEVEL and state.built[square] < limit and (level == lowest or not even):
                found.append(square)
    return found


def build(state: State, seat: Seat, square: Square, log: Log) -> None:
    """Build one level."""
    move_cash(state, seat, BANK, BUILD_COST[square], CASH_BUILD, log)
    state.level[square] += 1
    state.built[square] += 1
    log.append((BUILDING_BUILT, seat, square, state.level[square]))


def refuse_sale(state: State, seat: Seat, square: Square) -> Refusal | None:
    """Why the seat can't sell a level of the square now. Must agree with `sellable`."""
    if KIND[square] != STREET:
        return Refusal(NOT_A_STREET, "BUILD-4", (("square", square),))
    if state.owner[square] != seat:
        return Refusal(NOT_OWNER, "BUILD-4", (("square", square),))
    level = state.level[square]
    if level == 0:
        return Refusal(NO_BUILDING, "BUILD-4", (("square", square),))
    if state.ruleset.even_build and level < highest_level(state, GROUP[square]):
        return Refusal(UNEVEN, "BUILD-2", (("square", square), ("level", level)))
    return None


def sellable(state: State, seat: Seat) -> list[Square]:
    """Streets of which the seat can sell a level, ascending. Must agree with `refuse_sale`.

    Only whole groups have buildings: while there is one, no street of the group leaves its owner.
    """
    found = []
    even = state.ruleset.even_build
    for group in state.whole[seat]:
        highest = highest_level(state, group)
        for square in GROUPS[group]:
            level = state.level[square]
            if level and (level == highest or not even):
                found.append(square)
    return found


def sell_building(state: State, seat: Seat, square: Square, log: Log) -> None:
    """Sell one level to the bank for half its cost (BUILD-4)."""
    state.level[square] -= 1
    move_cash(state, BANK, seat, sale_value(square), CASH_SELL_BUILDING, log)
    log.append((BUILDING_SOLD, seat, square, state.level[square]))


def cheapest_sellable(state: State, seat: Seat) -> Square:
    """The level that the game sells first for a seat: cheapest group, its highest street (DEBT-3).

    Returns:
        The square; NOBODY when the seat has no building.
    """
    best, best_key = NOBODY, (0, 0, 0)
    for square in sellable(state, seat):
        key = (BUILD_COST[square], GROUP[square], -state.level[square])
        if best == NOBODY or key < best_key:
            best, best_key = square, key
    return best
