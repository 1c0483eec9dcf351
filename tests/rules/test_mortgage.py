"""Mortgages, redeeming and the mortgage clock (MORT)."""

import pytest

from opolyx_rules import actors
from opolyx_rules import events as ev
from opolyx_rules.actions import (
    ACCEPT_TRADE,
    BUILD_BY,
    BUY_BY,
    MORTGAGE_BY,
    PAY_DEBT_BY,
    REDEEM_BY,
    SELL_BUILDING_BY,
    propose_trade,
)
from opolyx_rules.content.boards import PRICE, PROPERTIES
from opolyx_rules.events import Log
from opolyx_rules.ids import (
    BANK,
    CASH_MORTGAGE,
    CASH_REDEEM,
    NOBODY,
    PROPERTY_MORTGAGE_LAPSED,
)
from opolyx_rules.reasons import (
    GROUP_HAS_BUILDINGS,
    GROUP_MORTGAGED,
    MORTGAGED,
    NOT_A_PROPERTY,
    NOT_ENOUGH_CASH,
    NOT_MORTGAGED,
    NOT_OWNER,
)
from opolyx_rules.ruleset import NEVER
from support_rules import (
    ALL,
    act,
    cash_moves,
    found,
    idle_until,
    owned,
    refused,
    rules,
    rulesets_with,
    stop_on,
    table,
    why,
)

CLOCKED = rulesets_with(mortgage_rounds=10)
UNCLOCKED = rulesets_with(mortgage_rounds=NEVER)


@pytest.mark.rule("MORT-1")
@pytest.mark.statement("R117")
@pytest.mark.parametrize("square", PROPERTIES)
def test_a_mortgage_pays_half_the_list_price(square: int) -> None:
    state = table(owns={0: (square,)})
    log = act(state, MORTGAGE_BY[0][square])

    assert [(ev.CASH_MOVED, BANK, 0, PRICE[square] // 2, CASH_MORTGAGE)] == cash_moves(log)
    assert [(ev.PROPERTY_MORTGAGED, 0, square)] == found(log, ev.PROPERTY_MORTGAGED)
    assert (0, 1) == (state.owner[square], state.mortgaged[square])


@pytest.mark.rule("MORT-1")
@pytest.mark.statement("R105", "R117")
@pytest.mark.parametrize("name", ALL)
def test_mortgaged_property_charges_nothing(name: str) -> None:
    state = table(name, owns={0: (39, 12, 5)})
    for square in (39, 12, 5):
        act(state, MORTGAGE_BY[0][square])
    idle_until(state, 1)

    for square in (39, 12, 5):
        tenant = state.clone()
        assert [] == found(stop_on(tenant, square), ev.RENT_CHARGED)
        assert [2] == actors(tenant)


@pytest.mark.rule("MORT-1")
@pytest.mark.parametrize("name", ALL)
def test_only_one_s_own_unmortgaged_property_is_mortgaged(name: str) -> None:
    state = table(name, owns={0: (5,), 1: (15,)}, mortgaged=[5])

    assert (MORTGAGED, "MORT-1") == why(state, MORTGAGE_BY[0][5])
    assert (NOT_OWNER, "MORT-1") == why(state, MORTGAGE_BY[0][15])
    assert (NOT_OWNER, "MORT-1") == why(state, MORTGAGE_BY[0][25])
    for square in (0, 4, 7, 10, 20, 30):
        assert (NOT_A_PROPERTY, "MORT-1") == why(state, MORTGAGE_BY[0][square])


@pytest.mark.rule("MORT-2")
@pytest.mark.statement("R029", "R118")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("square", "half", "with_interest"),
    [(1, 300, 330), (12, 750, 825), (37, 1750, 1925), (39, 2000, 2200)],
)
def test_redeeming_costs_the_half_and_its_interest(
    name: str, square: int, half: int, with_interest: int
) -> None:
    """Case A-16: interest is on what was paid, not on the list price; Halal knows none."""
    cost = half if name == "halal@full" else with_interest
    state = table(name, owns={0: (square,)})
    act(state, MORTGAGE_BY[0][square])
    assert 15_000 + half == state.cash[0]
    log = act(state, REDEEM_BY[0][square])

    assert [(ev.CASH_MOVED, 0, BANK, cost, CASH_REDEEM)] == cash_moves(log)
    assert [(ev.PROPERTY_REDEEMED, 0, square)] == found(log, ev.PROPERTY_REDEEMED)
    assert (15_000 + half - cost, 0) == (state.cash[0], state.mortgaged[square])


@pytest.mark.rule("MORT-2")
def test_interest_rounds_down() -> None:
    state = table(rules(mortgage_interest_bp=333), owns={0: (1,)}, mortgaged=[1])
    act(state, REDEEM_BY[0][1])

    assert 15_000 - 309 == state.cash[0]


@pytest.mark.rule("MORT-2")
@pytest.mark.parametrize("name", ALL)
def test_exactly_the_cost_redeems_and_one_less_does_not(name: str) -> None:
    cost = 1000 if name == "halal@full" else 1100
    state = table(name, owns={0: (5,)}, mortgaged=[5], cash={0: cost - 1})
    refusal = refused(state, REDEEM_BY[0][5])
    assert (NOT_ENOUGH_CASH, "MORT-2") == (refusal.reason, refusal.rule)
    assert (("square", 5), ("cost", cost), ("cash", cost - 1)) == refusal.numbers

    state.cash[0] = cost
    act(state, REDEEM_BY[0][5])
    assert 0 == state.cash[0]


@pytest.mark.rule("MORT-2")
@pytest.mark.parametrize("name", ALL)
def test_only_one_s_own_mortgage_is_redeemed(name: str) -> None:
    state = table(name, owns={0: (5,), 1: (15,)}, mortgaged=[15])

    assert (NOT_MORTGAGED, "MORT-2") == why(state, REDEEM_BY[0][5])
    assert (NOT_OWNER, "MORT-2") == why(state, REDEEM_BY[0][15])
    assert (NOT_A_PROPERTY, "MORT-2") == why(state, REDEEM_BY[0][0])


@pytest.mark.rule("MORT-1", "MORT-2")
@pytest.mark.parametrize("name", ALL)
def test_mortgaging_over_and_over_makes_no_money_and_no_second_deed(name: str) -> None:
    """Case A-16: the price of mortgaging, redeeming and mortgaging, once each; the deed once."""
    interest = 0 if name == "halal@full" else 30
    state = table(name, owns={0: (1, 3)}, cash={0: 5000})
    cash = []
    for action in (MORTGAGE_BY[0][1], REDEEM_BY[0][1], MORTGAGE_BY[0][1]):
        act(state, action)
        cash.append(state.cash[0])

    assert [5300, 5000 - interest, 5300 - interest] == cash
    assert (MORTGAGED, "MORT-1") == why(state, MORTGAGE_BY[0][1])
    assert (GROUP_MORTGAGED, "BUILD-1") == why(state, BUILD_BY[0][3])
    assert [1, 3] == owned(state, 0)


@pytest.mark.rule("MORT-3")
@pytest.mark.statement("R119")
@pytest.mark.parametrize("name", ALL)
def test_every_building_of_the_group_is_sold_first(name: str) -> None:
    state = table(name, owns={0: (11, 13, 14, 5)}, levels={11: 1})
    for square in (11, 13, 14):
        assert (GROUP_HAS_BUILDINGS, "MORT-3") == why(state, MORTGAGE_BY[0][square])
    act(state, MORTGAGE_BY[0][5])

    act(state, SELL_BUILDING_BY[0][11])
    for square in (11, 13, 14):
        act(state, MORTGAGE_BY[0][square])
    assert 15_000 + 1000 + 500 + 700 + 700 + 800 == state.cash[0]


def rounds_left(log: Log) -> list[int]:
    return [event[3] for event in found(log, ev.MORTGAGE_COUNTED)]


@pytest.mark.rule("MORT-4")
@pytest.mark.statement("R120", "R121")
@pytest.mark.parametrize("name", CLOCKED)
@pytest.mark.parametrize("round_number", [1, 5, 30])
def test_a_mortgage_lapses_ten_rounds_after_its_own(name: str, round_number: int) -> None:
    state = table(name, owns={0: (5,)}, round_number=round_number)
    act(state, MORTGAGE_BY[0][5])
    log = idle_until(state, 1)
    log += idle_until(state, 0, round_number + 9)
    assert list(range(9, 0, -1)) == rounds_left(log)
    assert [] == found(log, ev.MORTGAGE_LAPSED)

    log = idle_until(state, 3, round_number + 9)
    assert 0 == state.owner[5]
    log += idle_until(state, 0, round_number + 10)
    assert [(ev.MORTGAGE_LAPSED, 0, 5)] == found(log, ev.MORTGAGE_LAPSED)
    assert [(ev.PROPERTY_MOVED, 5, 0, BANK, PROPERTY_MORTGAGE_LAPSED)] == found(
        log, ev.PROPERTY_MOVED
    )
    assert (NOBODY, 0, 16_000) == (state.owner[5], state.mortgaged[5], state.cash[0])


@pytest.mark.rule("MORT-4")
@pytest.mark.statement("R120")
@pytest.mark.parametrize("name", CLOCKED)
def test_lapsed_property_is_anybody_s_again(name: str) -> None:
    state = table(name, owns={0: (5,)}, mortgaged={5: 2}, round_number=11, turn=3)
    idle_until(state, 0, 12)
    idle_until(state, 1)
    stop_on(state, 5)
    act(state, BUY_BY[1])

    assert (1, 0) == (state.owner[5], state.mortgaged[5])


@pytest.mark.rule("MORT-4")
@pytest.mark.parametrize("name", CLOCKED)
def test_it_can_be_redeemed_up_to_the_last_turn_before(name: str) -> None:
    state = table(name, owns={0: (5,)}, mortgaged={5: 2}, round_number=11)
    act(state, REDEEM_BY[0][5])
    idle_until(state, 1)
    log = idle_until(state, 0, 12)

    assert (0, []) == (state.owner[5], found(log, ev.MORTGAGE_LAPSED))


@pytest.mark.rule("MORT-4")
@pytest.mark.parametrize("name", CLOCKED)
def test_a_new_mortgage_counts_anew(name: str) -> None:
    state = table(name, owns={0: (5,)}, mortgaged={5: 2}, round_number=11)
    act(state, REDEEM_BY[0][5])
    act(state, MORTGAGE_BY[0][5])
    idle_until(state, 1)
    log = idle_until(state, 0, 12)

    assert [9] == rounds_left(log)


@pytest.mark.rule("MORT-4")
@pytest.mark.parametrize("name", CLOCKED)
def test_each_mortgage_has_its_own_count_and_jail_stops_none(name: str) -> None:
    state = table(
        name,
        owns={0: (5, 15, 25)},
        mortgaged={5: 2, 15: 4},
        round_number=11,
        turn=3,
        jailed={0: 0},
    )
    log = idle_until(state, 0, 12)

    assert [(ev.MORTGAGE_LAPSED, 0, 5)] == found(log, ev.MORTGAGE_LAPSED)
    assert [(ev.MORTGAGE_COUNTED, 0, 15, 2)] == found(log, ev.MORTGAGE_COUNTED)
    assert [15, 25] == owned(state, 0)


@pytest.mark.rule("MORT-4")
@pytest.mark.parametrize("name", CLOCKED)
def test_it_lapses_at_its_owner_s_turn_only(name: str) -> None:
    state = table(name, owns={2: (5,)}, mortgaged={5: 2}, round_number=12)
    log = idle_until(state, 1)
    assert (2, []) == (state.owner[5], found(log, ev.MORTGAGE_LAPSED))

    idle_until(state, 2)
    assert NOBODY == state.owner[5]


@pytest.mark.rule("MORT-4", "TRADE-4")
def test_a_mortgage_that_changes_hands_keeps_its_count() -> None:
    state = table("speed@full", owns={0: (5,)}, mortgaged={5: 2}, round_number=6)
    act(state, propose_trade(0, 1, give_squares=(5,), want_cash=1000))
    act(state, (ACCEPT_TRADE, 1, 1))
    assert (1, 2) == (state.owner[5], state.mortgaged[5])

    log = idle_until(state, 1, 11)
    assert [6, 5, 4, 3, 2, 1] == rounds_left(log)
    log = idle_until(state, 2) + idle_until(state, 1, 12)
    assert [(ev.MORTGAGE_LAPSED, 1, 5)] == found(log, ev.MORTGAGE_LAPSED)


@pytest.mark.rule("MORT-4")
@pytest.mark.statement("R122")
@pytest.mark.parametrize("name", UNCLOCKED)
def test_elsewhere_a_mortgage_never_lapses(name: str) -> None:
    state = table(name, owns={0: (5,)}, mortgaged={5: 1}, round_number=20, turn=3)
    log = idle_until(state, 0)

    assert (0, 1) == (state.owner[5], state.mortgaged[5])
    assert [] == found(log, ev.MORTGAGE_COUNTED)


@pytest.mark.rule("MORT-1")
@pytest.mark.parametrize("name", ALL)
def test_a_mortgage_is_made_in_a_payment_pause(name: str) -> None:
    state = table(name, owns={0: (5,)}, cash={0: 1000})
    stop_on(state, 4)
    act(state, MORTGAGE_BY[0][5])
    act(state, PAY_DEBT_BY[0])

    assert (0, 0, 1) == (state.cash[0], state.owner[5], state.mortgaged[5])
