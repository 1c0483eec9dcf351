"""The tax on rents (RTAX)."""

from itertools import pairwise

import pytest

from opolyx_rules import events as ev
from opolyx_rules import get_ruleset
from opolyx_rules.actions import BUY_BY, PAY_BAIL_BY, PAY_DEBT_BY, SURRENDER_BY
from opolyx_rules.ids import CASH_RENT_TAX
from opolyx_rules.mechanics.rent import rent_tax_rate
from opolyx_rules.ruleset import BAIL_BEFORE_ROLL
from support_rules import (
    ALL,
    act,
    draw,
    found,
    paid,
    rulesets_with,
    stop_on,
    table,
)

LONG = rulesets_with(rent_tax_from=100)
SPEED = rulesets_with(rent_tax_from=40)
UNTAXED = ["blitz@full"]


@pytest.mark.rule("RTAX-1")
def test_every_ruleset_is_long_speed_or_untaxed() -> None:
    assert sorted([*LONG, *SPEED, *UNTAXED]) == ALL
    assert all(name.startswith("speed@") for name in SPEED)


@pytest.mark.rule("RTAX-1")
@pytest.mark.statement("R183", "R184", "R185")
@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize(
    ("round_number", "rate"),
    [
        (1, 0),
        (99, 0),
        (100, 98),
        (101, 196),
        (125, 2548),
        (150, 4999),
        (199, 9801),
        (200, 9900),
        (201, 9900),
        (500, 9900),
    ],
)
def test_long_games_tax_rents_from_round_100_to_200(
    name: str, round_number: int, rate: int
) -> None:
    state = table(name, round_number=round_number)

    assert rate == rent_tax_rate(state)


@pytest.mark.rule("RTAX-1")
@pytest.mark.statement("R183", "R184", "R186", "R187")
@pytest.mark.parametrize("name", SPEED)
@pytest.mark.parametrize(
    ("round_number", "rate"),
    [(39, 0), (40, 162), (41, 324), (70, 5031), (99, 9737), (100, 9900), (101, 9900), (300, 9900)],
)
def test_speed_taxes_rents_from_round_40_to_100(name: str, round_number: int, rate: int) -> None:
    state = table(name, round_number=round_number)

    assert rate == rent_tax_rate(state)


@pytest.mark.rule("RTAX-1")
@pytest.mark.statement("R189")
@pytest.mark.parametrize("name", UNTAXED)
def test_blitz_never_taxes_rents(name: str) -> None:
    assert {0} == {rent_tax_rate(table(name, round_number=number)) for number in (1, 25, 250)}


@pytest.mark.rule("RTAX-1")
@pytest.mark.statement("R183")
@pytest.mark.parametrize("name", LONG + SPEED)
def test_the_rate_never_falls_and_rises_by_even_steps(name: str) -> None:
    state = table(name)
    rates = []
    for number in range(1, 501):
        state.round = number
        rates.append(rent_tax_rate(state))
    steps = {later - earlier for earlier, later in pairwise(rates)}

    even = 9900 // (get_ruleset(name).rent_tax_full - get_ruleset(name).rent_tax_from + 1)
    assert {0, even, even + 1} == steps


@pytest.mark.rule("RTAX-2")
@pytest.mark.statement("R183")
@pytest.mark.parametrize("name", LONG)
def test_the_tenant_pays_the_whole_rent(name: str) -> None:
    state = table(name, owns={1: (5, 15, 25, 35)}, round_number=200)
    stop_on(state, 5)
    log = act(state, PAY_DEBT_BY[0])

    assert 1980 == paid(log, CASH_RENT_TAX)
    assert [13_000, 15_020] == state.cash[:2]


@pytest.mark.rule("RTAX-2")
@pytest.mark.statement("R188")
@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize(("square", "amount"), [(4, 2000), (38, 1000)])
def test_taxes_are_paid_as_ever(name: str, square: int, amount: int) -> None:
    state = table(name, round_number=250)
    stop_on(state, square)
    log = act(state, PAY_DEBT_BY[0])

    assert (15_000 - amount, 0) == (state.cash[0], paid(log, CASH_RENT_TAX))


@pytest.mark.rule("RTAX-2")
@pytest.mark.statement("R188")
@pytest.mark.parametrize("name", [name for name in LONG if name != "fortune@full"])
def test_what_a_card_makes_one_pay_to_others_is_theirs(name: str) -> None:
    state = table(name, round_number=250)
    draw(state, "charity_dinner")
    opponents = 2 if get_ruleset(name).sides else 3
    log = act(state, PAY_DEBT_BY[0])

    assert 0 == paid(log, CASH_RENT_TAX)
    assert 15_000 - 500 * opponents == state.cash[0]
    assert 15_500 == state.cash[1]


@pytest.mark.rule("RTAX-2")
@pytest.mark.parametrize("name", LONG)
def test_what_others_pay_by_a_card_is_the_drawer_s(name: str) -> None:
    state = table(name, round_number=250)
    draw(state, "birthday")

    assert 15_000 + 200 * (2 if get_ruleset(name).sides else 3) == state.cash[0]


@pytest.mark.rule("RTAX-2")
@pytest.mark.statement("R188")
@pytest.mark.parametrize("name", [n for n in LONG if n in rulesets_with(bail_timing=0)])
def test_bail_is_paid_as_ever(name: str) -> None:
    assert BAIL_BEFORE_ROLL == get_ruleset(name).bail_timing
    state = table(name, jailed={0: 0}, round_number=250)
    log = act(state, PAY_BAIL_BY[0])

    assert (14_500, 0) == (state.cash[0], paid(log, CASH_RENT_TAX))


@pytest.mark.rule("RTAX-2")
@pytest.mark.parametrize("name", LONG)
def test_purchases_are_paid_as_ever(name: str) -> None:
    state = table(name, round_number=250)
    stop_on(state, 39)
    log = act(state, BUY_BY[0])

    assert (11_000, 0) == (state.cash[0], paid(log, CASH_RENT_TAX))


@pytest.mark.rule("RTAX-2")
def test_a_debtor_who_surrenders_leaves_the_tax_its_share() -> None:
    state = table(owns={1: (39,)}, cash={0: 300}, round_number=150)
    stop_on(state, 39)
    log = act(state, SURRENDER_BY[0])

    withheld = 500 * 4999 // 10_000
    assert 300 * withheld // 500 == paid(log, CASH_RENT_TAX)
    assert 15_000 + 300 * (500 - withheld) // 500 == state.cash[1]
    assert [(ev.ELIMINATED, 0, 1)] == found(log, ev.ELIMINATED)
