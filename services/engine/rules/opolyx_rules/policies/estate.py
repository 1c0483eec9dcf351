"""What a trader does with its property: builds, redeems, raises cash, and how much it keeps."""

from typing import Final

from opolyx_rules.actions import ARGUMENT, BUILD, KIND, MORTGAGE, REDEEM, SELL_BUILDING, Action
from opolyx_rules.content.boards import (
    BUILD_COST,
    COLOUR_GROUPS,
    GROUP,
    GROUPS,
    MAX_LEVEL,
    PRICE,
    UTILITIES,
)
from opolyx_rules.ids import NOBODY, SQUARES, Seat, Square
from opolyx_rules.mechanics.rent import base_rent
from opolyx_rules.policies.deals import promised
from opolyx_rules.policies.valuation import INCOMES, rent_factor
from opolyx_rules.queries import (
    are_allies,
    group_mortgaged,
    held_in_group,
    holds_group,
    lowest_level,
    mortgage_value,
    redeem_cost,
)
from opolyx_rules.ruleset import NEVER
from opolyx_rules.state import State

WAYS: Final[tuple[int, ...]] = (0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1)
"""In how many of 36 ways two dice give a sum."""
LEAST_RESERVE: Final = 500
GOOD_LEVEL: Final = 3
"""The level up to which building comes before redeeming, and is worth mortgages elsewhere."""


def reserve(state: State, seat: Seat) -> int:
    """Cash to keep for the next roll: its expected rents three times over, half the worst of them."""
    expected = worst = 0
    position = state.position[seat]
    for steps in range(2, 13):
        rent = expected_rent(state, (position + steps) % SQUARES, seat)
        expected += rent * WAYS[steps]
        worst = max(worst, rent)
    return max(LEAST_RESERVE, expected * 3 // 36, worst // 2)


def expected_rent(state: State, square: Square, tenant: Seat) -> int:
    """What stopping on a square costs, as far as everybody knows: the owner's cards are its own."""
    owner = state.owner[square]
    if owner in (NOBODY, tenant) or state.mortgaged[square] or are_allies(state, owner, tenant):
        return 0
    return base_rent(state, square)


def choose_managing(state: State, seat: Seat, actions: list[Action]) -> Action | None:
    """The best building; else what makes one possible; else a mortgage to redeem; None for none.

    Buildings come first up to the good level: until then nothing is redeemed but for a building.
    """
    spare = state.cash[seat] - reserve(state, seat) - promised(state, seat)
    best = _best_building(state, actions)
    if best is not None and BUILD_COST[best[ARGUMENT]] <= spare:
        return best
    lacking = _lacks_buildings(state, seat)
    for action in actions:
        if action[KIND] != REDEEM or redeem_cost(state, action[ARGUMENT]) > spare:
            continue
        if not lacking or _is_whole(state, seat, GROUP[action[ARGUMENT]]):
            return action
    return _mortgage_to_build(state, seat, actions, spare) if lacking else None


def _best_building(state: State, actions: list[Action]) -> Action | None:
    """The building that brings most rent for its cost."""
    best: Action | None = None
    best_return = 0
    for action in actions:
        if action[KIND] == BUILD:
            gain = _return_of(state, action[ARGUMENT])
            if gain > best_return:
                best, best_return = action, gain
    return best


def _return_of(state: State, square: Square) -> int:
    """Rent that a level brings for each k of its cost; what the next brings is looked at too."""
    level = state.level[square]
    incomes = INCOMES[square]
    gain = incomes[level + 1] - incomes[level]
    if level + 2 <= MAX_LEVEL:
        gain = max(gain, (incomes[level + 2] - incomes[level]) // 2)
    return gain // BUILD_COST[square]


def _is_whole(state: State, seat: Seat, group: int) -> bool:
    return group < COLOUR_GROUPS and holds_group(state, seat, group)


def _lacks_buildings(state: State, seat: Seat) -> bool:
    """Whether a whole group of the seat can still be built up to the good level."""
    for group in range(COLOUR_GROUPS):
        if _is_whole(state, seat, group) and lowest_level(state, group) < GOOD_LEVEL:
            return True
    return False


def _mortgage_to_build(
    state: State, seat: Seat, actions: list[Action], spare: int
) -> Action | None:
    """Mortgage what stands alone, if all of it pays for a building; not where mortgages lapse."""
    cost = _cost_of_next(state, seat)
    if cost == 0 or state.ruleset.mortgage_rounds != NEVER:
        return None
    best: Action | None = None
    best_loss = 0
    for action in actions:
        square = action[ARGUMENT] if action[KIND] == MORTGAGE else NOBODY
        if square == NOBODY or _belongs(state, seat, square):
            continue
        spare += mortgage_value(square)
        loss = INCOMES[square][0] // PRICE[square]
        if best is None or loss < best_loss:
            best, best_loss = action, loss
    return best if spare >= cost else None


def _cost_of_next(state: State, seat: Seat) -> int:
    """Cost of the cheapest level that only cash keeps from being built now; 0 for none."""
    cheapest = 0
    limit = state.ruleset.builds_per_street
    for group in range(COLOUR_GROUPS):
        if not _is_whole(state, seat, group) or group_mortgaged(state, group):
            continue
        lowest = lowest_level(state, group)
        for square in GROUPS[group]:
            if (
                lowest < GOOD_LEVEL
                and state.level[square] == lowest
                and state.built[square] < limit
            ):
                cost = BUILD_COST[square]
                cheapest = cost if cheapest == 0 else min(cheapest, cost)
    return cheapest


def _belongs(state: State, seat: Seat, square: Square) -> bool:
    """Whether a property counts with others: a street of a whole group, one of three stations."""
    group = GROUP[square]
    held = held_in_group(state, seat, group)
    if group >= COLOUR_GROUPS:
        return group < UTILITIES and held >= 3
    return held == len(GROUPS[group])


def choose_raising(state: State, seat: Seat, actions: list[Action]) -> Action | None:
    """What raises cash at the least loss: the rents given up for each k."""
    best: Action | None = None
    best_loss = 0
    factor = rent_factor(state, seat)
    for action in actions:
        kind = action[KIND]
        if kind == MORTGAGE:
            loss = _loss_by_mortgage(state, seat, action[ARGUMENT], factor)
        elif kind == SELL_BUILDING:
            loss = _loss_by_sale(state, action[ARGUMENT], factor)
        else:
            continue
        if best is None or loss < best_loss:
            best, best_loss = action, loss
    return best


def _loss_by_mortgage(state: State, seat: Seat, square: Square, factor: int) -> int:
    """In thousandths of what it raises: interest, and rents until the horizon."""
    group = GROUP[square]
    held = held_in_group(state, seat, group)
    if group >= COLOUR_GROUPS:
        income = INCOMES[square][held - 1]
    else:
        income = INCOMES[square][0]
        if held == len(GROUPS[group]):
            income = INCOMES[square][2]
    raised = mortgage_value(square)
    interest = redeem_cost(state, square) - raised
    return (interest + income * factor // 100_000_000) * 1_000 // raised


def _loss_by_sale(state: State, square: Square, factor: int) -> int:
    """In thousandths of what it raises: the other half of the cost, and rents until the horizon."""
    level = state.level[square]
    income = INCOMES[square][level] - INCOMES[square][level - 1]
    half = BUILD_COST[square] // 2
    return (half + income * factor // 100_000_000) * 1_000 // half
