"""Building and selling levels (BUILD)."""

import pytest

from opolyx_rules import State, actors
from opolyx_rules import events as ev
from opolyx_rules.actions import (
    BUILD_BY,
    PAY_DEBT_BY,
    REDEEM_BY,
    SELL_BUILDING_BY,
)
from opolyx_rules.content.boards import BUILD_COST, GROUPS
from opolyx_rules.ids import BANK, CASH_BUILD, CASH_SELL_BUILDING
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
)
from support_rules import (
    ALL,
    act,
    cash_moves,
    found,
    idle_until,
    refused,
    roll,
    rules,
    rulesets_with,
    stop_on,
    table,
    why,
)

EVEN = rulesets_with(even_build=True)
UNEVENLY = rulesets_with(even_build=False)
ONE_A_TURN = rulesets_with(builds_per_street=1)
PINK = (11, 13, 14)


def built(state: State, *squares: int) -> list[int]:
    """Build on each in turn; the levels of the pink group then."""
    for square in squares:
        act(state, BUILD_BY[0][square])
    return [state.level[square] for square in PINK]


@pytest.mark.rule("BUILD-1")
@pytest.mark.parametrize("group", GROUPS[:8])
def test_a_level_costs_what_the_group_says(group: tuple[int, ...]) -> None:
    state = table(owns={0: group})
    log = act(state, BUILD_BY[0][group[0]])
    cost = BUILD_COST[group[0]]

    assert [(ev.CASH_MOVED, 0, BANK, cost, CASH_BUILD)] == cash_moves(log)
    assert [(ev.BUILDING_BUILT, 0, group[0], 1)] == found(log, ev.BUILDING_BUILT)
    assert (15_000 - cost, 1, [0]) == (state.cash[0], state.level[group[0]], actors(state))


@pytest.mark.rule("BUILD-1")
@pytest.mark.statement("R110")
@pytest.mark.parametrize("name", ALL)
def test_the_whole_group_must_be_one_s_own(name: str) -> None:
    lacking = table(name, owns={0: (11, 13)})
    shared = table(name, owns={0: (11, 13), 2: (14,)})

    for state in (lacking, shared):
        assert (GROUP_INCOMPLETE, "BUILD-1") == why(state, BUILD_BY[0][11])
    assert (NOT_OWNER, "BUILD-1") == why(lacking, BUILD_BY[0][14])
    assert (NOT_OWNER, "BUILD-1") == why(shared, BUILD_BY[0][14])


@pytest.mark.rule("BUILD-1")
@pytest.mark.statement("R116")
@pytest.mark.parametrize("name", ALL)
def test_no_mortgage_may_lie_on_the_group(name: str) -> None:
    state = table(name, owns={0: PINK}, mortgaged=[14])
    for square in PINK:
        assert (GROUP_MORTGAGED, "BUILD-1") == why(state, BUILD_BY[0][square])

    act(state, REDEEM_BY[0][14])
    assert [1, 0, 0] == built(state, 11)


@pytest.mark.rule("BUILD-1")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("square", [0, 5, 12, 20, 7, 4])
def test_only_streets_are_built_on(name: str, square: int) -> None:
    """Case A-15: all four stations are owned."""
    state = table(name, owns={0: (5, 15, 25, 35, 12, 28)})

    assert (NOT_A_STREET, "BUILD-1") == why(state, BUILD_BY[0][square])


@pytest.mark.rule("BUILD-1")
@pytest.mark.statement("R111")
@pytest.mark.parametrize("name", ALL)
def test_five_levels_are_the_most(name: str) -> None:
    state = table(name, owns={0: PINK}, levels=dict.fromkeys(PINK, 5))

    assert (FULLY_BUILT, "BUILD-1") == why(state, BUILD_BY[0][11])


@pytest.mark.rule("BUILD-1")
@pytest.mark.parametrize("name", ALL)
def test_exactly_the_cost_is_enough_and_one_less_is_not(name: str) -> None:
    state = table(name, owns={0: PINK}, cash={0: 999})
    refusal = refused(state, BUILD_BY[0][11])
    assert NOT_ENOUGH_CASH == refusal.reason
    assert (("square", 11), ("cost", 1000), ("cash", 999)) == refusal.numbers

    state.cash[0] = 1000
    assert [1, 0, 0] == built(state, 11)
    assert 0 == state.cash[0]


@pytest.mark.rule("BUILD-2")
@pytest.mark.statement("R112")
@pytest.mark.parametrize("name", EVEN)
def test_the_lowest_streets_are_built_first(name: str) -> None:
    """Case A-15 from 1, 0, 0."""
    state = table(name, owns={0: PINK}, levels={11: 1})

    assert (UNEVEN, "BUILD-2") == why(state, BUILD_BY[0][11])
    assert [1, 1, 0] == built(state, 13)
    assert (UNEVEN, "BUILD-2") == why(state, BUILD_BY[0][11])
    assert [1, 1, 1] == built(state, 14)


@pytest.mark.rule("BUILD-2", "BUILD-3")
@pytest.mark.statement("R112")
@pytest.mark.parametrize("name", EVEN)
def test_even_groups_are_filled_to_the_top_a_level_a_street(name: str) -> None:
    """Case A-15 from 4, 4, 4: all three reach the top in one turn; the first can't have two."""
    state = table(name, owns={0: PINK}, levels=dict.fromkeys(PINK, 4))
    assert [5, 4, 4] == built(state, 11)
    assert (FULLY_BUILT, "BUILD-1") == why(state, BUILD_BY[0][11])

    assert [5, 5, 5] == built(state, 13, 14)


@pytest.mark.rule("BUILD-2")
@pytest.mark.parametrize("name", EVEN)
def test_the_highest_streets_are_sold_first(name: str) -> None:
    state = table(name, owns={0: PINK}, levels={11: 2, 13: 2, 14: 1})

    assert (UNEVEN, "BUILD-2") == why(state, SELL_BUILDING_BY[0][14])
    act(state, SELL_BUILDING_BY[0][11])
    assert (UNEVEN, "BUILD-2") == why(state, SELL_BUILDING_BY[0][11])
    assert (UNEVEN, "BUILD-2") == why(state, SELL_BUILDING_BY[0][14])
    act(state, SELL_BUILDING_BY[0][13])
    act(state, SELL_BUILDING_BY[0][14])
    assert [1, 1, 0] == [state.level[square] for square in PINK]


@pytest.mark.rule("BUILD-2")
@pytest.mark.parametrize("name", EVEN)
def test_evenness_is_a_matter_of_each_group(name: str) -> None:
    state = table(name, owns={0: (*PINK, 1, 3)}, levels={1: 5, 3: 5})

    assert [1, 0, 0] == built(state, 11)
    act(state, SELL_BUILDING_BY[0][1])
    assert 4 == state.level[1]


@pytest.mark.rule("BUILD-2")
@pytest.mark.statement("R018", "R114")
@pytest.mark.parametrize("name", UNEVENLY)
def test_speed_builds_and_sells_any_street(name: str) -> None:
    state = table(name, owns={0: PINK}, levels={11: 3})

    assert [4, 0, 0] == built(state, 11)
    act(state, SELL_BUILDING_BY[0][11])
    assert [3, 1, 0] == built(state, 13)
    act(state, SELL_BUILDING_BY[0][13])
    assert [3, 0, 0] == [state.level[square] for square in PINK]


@pytest.mark.rule("BUILD-3")
@pytest.mark.statement("R113")
@pytest.mark.parametrize("name", ONE_A_TURN)
def test_a_street_takes_one_level_a_turn(name: str) -> None:
    state = table(name, owns={0: PINK})
    assert [1, 1, 1] == built(state, *PINK)

    refusal = refused(state, BUILD_BY[0][11])
    assert (BUILD_LIMIT, "BUILD-3", (("square", 11), ("limit", 1))) == (
        refusal.reason,
        refusal.rule,
        refusal.numbers,
    )
    idle_until(state, 0, 2)
    assert [2, 1, 1] == built(state, 11)


@pytest.mark.rule("BUILD-3")
@pytest.mark.parametrize("name", ONE_A_TURN)
def test_a_double_and_a_sale_open_no_second_level(name: str) -> None:
    state = table(name, owns={0: PINK})
    built(state, *PINK)
    act(state, SELL_BUILDING_BY[0][11])
    assert (BUILD_LIMIT, "BUILD-3") == why(state, BUILD_BY[0][11])

    roll(state, 5, 5)
    assert [0] == actors(state)
    assert (BUILD_LIMIT, "BUILD-3") == why(state, BUILD_BY[0][11])


@pytest.mark.rule("BUILD-3")
@pytest.mark.statement("R115")
@pytest.mark.parametrize("name", ["speed@full", "speed@teams"])
def test_uneven_building_still_takes_one_level_a_street(name: str) -> None:
    """Case A-15 from 3, 0, 0."""
    state = table(name, owns={0: PINK}, levels={11: 3})
    built(state, 11)

    assert (BUILD_LIMIT, "BUILD-3") == why(state, BUILD_BY[0][11])


@pytest.mark.rule("BUILD-3")
@pytest.mark.statement("R115")
def test_the_guide_s_speed_builds_as_much_as_one_likes() -> None:
    """Case A-15 in the one ruleset without a limit a turn."""
    state = table("speed@guide", owns={0: PINK}, cash={0: 20_000})

    assert [5, 1, 0] == built(state, 11, 11, 11, 11, 11, 13)
    assert 20_000 - 6 * 1000 == state.cash[0]
    assert (FULLY_BUILT, "BUILD-1") == why(state, BUILD_BY[0][11])


@pytest.mark.rule("BUILD-3")
def test_the_limit_is_the_ruleset_s() -> None:
    state = table(rules(builds_per_street=2, even_build=False), owns={0: PINK})

    assert [2, 0, 0] == built(state, 11, 11)
    assert (BUILD_LIMIT, "BUILD-3") == why(state, BUILD_BY[0][11])


@pytest.mark.rule("BUILD-4")
@pytest.mark.parametrize("group", GROUPS[:8])
def test_the_bank_buys_back_for_half_the_cost(group: tuple[int, ...]) -> None:
    state = table(owns={0: group}, levels=dict.fromkeys(group, 1))
    log = act(state, SELL_BUILDING_BY[0][group[0]])
    half = BUILD_COST[group[0]] // 2

    assert [(ev.CASH_MOVED, BANK, 0, half, CASH_SELL_BUILDING)] == cash_moves(log)
    assert [(ev.BUILDING_SOLD, 0, group[0], 0)] == found(log, ev.BUILDING_SOLD)
    assert (15_000 + half, 0) == (state.cash[0], state.level[group[0]])


@pytest.mark.rule("BUILD-4")
@pytest.mark.parametrize("name", ALL)
def test_only_one_s_own_buildings_are_sold(name: str) -> None:
    state = table(name, owns={0: (*PINK, 5), 1: (1, 3)}, levels={1: 1})

    assert (NO_BUILDING, "BUILD-4") == why(state, SELL_BUILDING_BY[0][11])
    assert (NOT_OWNER, "BUILD-4") == why(state, SELL_BUILDING_BY[0][1])
    assert (NOT_A_STREET, "BUILD-4") == why(state, SELL_BUILDING_BY[0][5])
    assert (NOT_A_STREET, "BUILD-4") == why(state, SELL_BUILDING_BY[0][0])


@pytest.mark.rule("BUILD-4")
@pytest.mark.parametrize("name", ALL)
def test_the_bank_never_runs_out_of_buildings(name: str) -> None:
    streets = [square for group in GROUPS[:8] for square in group]
    state = table(name, owns={0: streets}, levels=dict.fromkeys(streets, 4), cash={0: 100_000})
    for square in streets:
        act(state, BUILD_BY[0][square])

    assert 22 * 5 == sum(state.level)


@pytest.mark.rule("BUILD-4")
@pytest.mark.parametrize("name", ALL)
def test_buildings_are_sold_in_a_payment_pause(name: str) -> None:
    state = table(name, owns={0: PINK}, levels=dict.fromkeys(PINK, 1), cash={0: 1000})
    stop_on(state, 4)
    act(state, SELL_BUILDING_BY[0][11])
    act(state, SELL_BUILDING_BY[0][13])
    act(state, PAY_DEBT_BY[0])

    assert (0, [1]) == (state.cash[0], actors(state))
