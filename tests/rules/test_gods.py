"""The two gods and the roll of eight (GOD)."""

import pytest

from opolyx_rules import RULESETS
from opolyx_rules.actions import PAY_DEBT_BY
from opolyx_rules.events import DEBT_OPENED, GOD_ARRIVED, GOD_LEFT, RENT_CHARGED
from opolyx_rules.ids import (
    CASH_EIGHT_BONUS,
    CASH_RENT,
    CASH_RENT_TAX,
    GOD_MISFORTUNE,
    GOD_NONE,
    GOD_WEALTH,
)
from support_rules import (
    ALL,
    act,
    draw,
    found,
    idle_until,
    paid,
    roll,
    rulesets_with,
    stop_on,
    table,
)

FORTUNE = rulesets_with(deck="fortune")


@pytest.mark.rule("GOD-1", "RENT-7")
@pytest.mark.statement("R035", "R036")
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_wealth_god_raises_the_owners_rents_by_half_at_the_tenants_cost(ruleset: str) -> None:
    state = table(ruleset, owns={1: (24,)})
    state.god[1], state.god_until[1] = GOD_WEALTH, 4

    log = stop_on(state, 24)
    assert [300] == [event[4] for event in found(log, RENT_CHARGED)]
    act(state, PAY_DEBT_BY[0])

    assert [14_700, 15_300, 15_000, 15_000] == state.cash


@pytest.mark.rule("GOD-1", "RENT-7")
@pytest.mark.statement("R038")
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_misfortune_god_raises_the_rents_that_its_player_owes(ruleset: str) -> None:
    state = table(ruleset, owns={1: (24,)})
    state.god[0], state.god_until[0] = GOD_MISFORTUNE, 4

    stop_on(state, 24)
    act(state, PAY_DEBT_BY[0])

    assert [14_700, 15_300, 15_000, 15_000] == state.cash


@pytest.mark.rule("GOD-1")
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_gods_on_the_other_side_change_nothing(ruleset: str) -> None:
    """A tenant's wealth god and an owner's misfortune god don't touch the rent."""
    state = table(ruleset, owns={1: (24,)})
    state.god[0], state.god_until[0] = GOD_WEALTH, 4
    state.god[1], state.god_until[1] = GOD_MISFORTUNE, 4

    log = stop_on(state, 24)

    assert [(DEBT_OPENED, 0, 200)] == found(log, DEBT_OPENED)


@pytest.mark.rule("GOD-1", "RENT-7", "RTAX-1")
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_gods_and_card_add_up_before_the_tax(ruleset: str) -> None:
    """200 x (10000 + 3300 + 5000 + 5000) bp = 466; in round 100 98 bp of it are withheld."""
    state = table(ruleset, owns={1: (24,)}, cards={1: {24: 3_300}}, round_number=100)
    state.god[0], state.god_until[0] = GOD_MISFORTUNE, 102
    state.god[1], state.god_until[1] = GOD_WEALTH, 102

    stop_on(state, 24)
    log = act(state, PAY_DEBT_BY[0])

    assert (462, 4) == (paid(log, CASH_RENT), paid(log, CASH_RENT_TAX))


@pytest.mark.rule("GOD-1", "GOD-2")
@pytest.mark.statement("R035", "R037")
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_god_leaves_at_the_start_of_its_holders_turn_three_rounds_on(ruleset: str) -> None:
    state = table(ruleset, round_number=5)
    log = draw(state, "year_end_bonus")
    assert [(GOD_ARRIVED, 0, GOD_WEALTH, 8)] == found(log, GOD_ARRIVED)

    log = idle_until(state, 3, 7)
    assert [] == found(log, GOD_LEFT)
    assert GOD_WEALTH == state.god[0]
    log = idle_until(state, 0, 8)

    assert [(GOD_LEFT, 0, GOD_WEALTH)] == found(log, GOD_LEFT)
    assert (GOD_NONE, 0) == (state.god[0], state.god_until[0])


@pytest.mark.rule("GOD-2")
@pytest.mark.statement("R039")
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_new_god_replaces_the_old(ruleset: str) -> None:
    state = table(ruleset, round_number=5)
    draw(state, "year_end_bonus")
    idle_until(state, 0, 6)

    draw(state, "tax_audit")

    assert (GOD_MISFORTUNE, 9) == (state.god[0], state.god_until[0])


@pytest.mark.rule("GOD-2")
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_same_god_again_starts_its_rounds_anew(ruleset: str) -> None:
    state = table(ruleset, round_number=5)
    draw(state, "year_end_bonus")
    idle_until(state, 0, 7)

    stop_on(state, 20)

    assert (GOD_WEALTH, 10) == (state.god[0], state.god_until[0])


@pytest.mark.rule("GOD-3")
@pytest.mark.statement("R034", "R041")
@pytest.mark.parametrize("dice", [(2, 6), (3, 5), (4, 4)])
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_roll_of_eight_pays_88(ruleset: str, dice: tuple[int, int]) -> None:
    state = table(ruleset, owns={0: (8,)})

    log = roll(state, *dice)

    assert 88 == paid(log, CASH_EIGHT_BONUS)
    assert 15_088 == state.cash[0]


@pytest.mark.rule("GOD-3")
@pytest.mark.statement("R041")
@pytest.mark.parametrize(("dice", "jailed"), [((4, 4), 0), ((3, 5), 1)])
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_roll_of_eight_pays_in_jail(ruleset: str, dice: tuple[int, int], jailed: int) -> None:
    state = table(ruleset, owns={0: (18,)}, jailed={0: 0})

    log = roll(state, *dice)

    assert 88 == paid(log, CASH_EIGHT_BONUS)
    assert jailed == state.jailed[0]


@pytest.mark.rule("GOD-3", "TURN-2")
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_third_double_of_eight_pays_and_jails(ruleset: str) -> None:
    state = table(ruleset, owns={0: (8, 16)})

    log = roll(state, 4, 4) + roll(state, 4, 4) + roll(state, 4, 4)

    assert 3 * 88 == paid(log, CASH_EIGHT_BONUS)
    assert (1, 10) == (state.jailed[0], state.position[0])


@pytest.mark.rule("GOD-3")
@pytest.mark.parametrize("dice", [(1, 6), (3, 6)])
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_other_rolls_pay_nothing(ruleset: str, dice: tuple[int, int]) -> None:
    assert 0 == paid(roll(table(ruleset), *dice), CASH_EIGHT_BONUS)


@pytest.mark.rule("GOD-3")
@pytest.mark.parametrize("ruleset", [name for name in ALL if name not in FORTUNE])
def test_eight_is_only_a_number_elsewhere(ruleset: str) -> None:
    state = table(ruleset)

    roll(state, 3, 5)

    assert 15_000 == state.cash[0]
    assert 0 == RULESETS[ruleset].eight_bonus
