"""Cards that move the token: backwards onto a tax, forward to a station or utility (CHANCE-4)."""

import pytest

from opolyx_rules import State, actors
from opolyx_rules import events as ev
from opolyx_rules.actions import BUY_BY, PAY_DEBT_BY
from opolyx_rules.ids import CASH_RENT, CASH_SALARY, PHASE_AUCTION, PHASE_BUY, PHASE_PAYMENT
from opolyx_rules.queries import awaited_phase
from support_rules import ALL, act, found, paid, roll, stack_deck, table

HOLDINGS = (5, 15, 25, 12, 28)
"""Three stations and both utilities."""


@pytest.mark.rule("CHANCE-4", "DEBT-1", "TURN-2")
@pytest.mark.parametrize("name", ALL)
def test_back_onto_a_tax_is_paid_and_the_double_rolls_again(name: str) -> None:
    state = table(name, cash={0: 2500}, at={0: 1}, deck=["back_three"])
    roll(state, 3, 3)
    assert (4, PHASE_PAYMENT, [0]) == (state.position[0], awaited_phase(state), actors(state))

    act(state, PAY_DEBT_BY[0])
    assert 500 == state.cash[0]
    assert [0] == actors(state)
    roll(state, 2, 4)
    assert (10, [1]) == (state.position[0], actors(state))


@pytest.mark.rule("CHANCE-4", "TURN-5")
@pytest.mark.parametrize("name", ALL)
def test_back_over_start_pays_nothing_and_is_resolved_in_full(name: str) -> None:
    state = table(name, at={0: 39}, owns={1: (39,)}, deck=["back_three"])
    log = roll(state, 1, 2)

    assert 39 == state.position[0]
    assert 2000 == paid(log, CASH_SALARY), "the walk to the card passed Start, the way back did not"
    assert [(ev.RENT_CHARGED, 0, 1, 39, 500, 0, 0)] == found(log, ev.RENT_CHARGED)


@pytest.mark.rule("CHANCE-4")
@pytest.mark.parametrize("name", ALL)
def test_back_onto_a_chance_square_draws_the_next_card(name: str) -> None:
    state = table(name, at={0: 33}, deck=["back_three", "dividend"])
    log = roll(state, 1, 2)

    assert (33, 16_500) == (state.position[0], state.cash[0])
    assert 2 == len(found(log, ev.CARD_DRAWN))


@pytest.mark.rule("CHANCE-4")
@pytest.mark.parametrize("name", ALL)
def test_back_onto_go_to_jail_jails(name: str) -> None:
    state = table(name, at={0: 30}, deck=["back_three"])
    roll(state, 1, 2)

    assert (10, 1) == (state.position[0], state.jailed[0])


def sent(name: str, card: str, at: int, dice: tuple[int, int], state: State | None = None) -> State:
    """Seat 0 walks to a Chance square and draws the card."""
    made = state or table(name, cash={0: 3000}, owns={1: HOLDINGS})
    made.position[0] = at
    stack_deck(made, card)
    roll(made, *dice)
    return made


@pytest.mark.rule("CHANCE-4", "RENT-3")
@pytest.mark.parametrize("name", ALL)
def test_the_nearest_station_past_start_pays_the_salary_and_charges_the_plain_rent(
    name: str,
) -> None:
    """Forward only, and no doubling: 2000 for passing Start, 1000 for three stations."""
    state = sent(name, "nearest_station", 33, (1, 2))
    assert 5 == state.position[0]
    log = act(state, PAY_DEBT_BY[0])

    assert (1000, 4000) == (paid(log, CASH_RENT), state.cash[0])


@pytest.mark.rule("CHANCE-4", "RENT-4")
@pytest.mark.parametrize("name", ALL)
def test_the_nearest_utility_charges_by_the_roll_just_made(name: str) -> None:
    state = sent(name, "nearest_utility", 13, (4, 5))
    assert 28 == state.position[0]
    act(state, PAY_DEBT_BY[0])

    assert 3000 - 900 == state.cash[0]


@pytest.mark.rule("CHANCE-4", "RENT-1")
@pytest.mark.parametrize("name", ALL)
def test_a_mortgaged_target_charges_nothing(name: str) -> None:
    start = table(name, cash={0: 3000}, owns={1: HOLDINGS}, mortgaged=[28])
    state = sent(name, "nearest_utility", 13, (4, 5), start)

    assert (28, 3000, [1]) == (state.position[0], state.cash[0], actors(state))


@pytest.mark.rule("CHANCE-4", "BUY-1", "BUY-2")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("cash", "phase"), [(2000, PHASE_BUY), (1999, PHASE_AUCTION)])
def test_an_unowned_target_is_sold_as_usual(name: str, cash: int, phase: int) -> None:
    state = sent(name, "nearest_station", 13, (4, 5), table(name, cash={0: cash}))

    assert (25, phase) == (state.position[0], awaited_phase(state))
    if phase == PHASE_BUY:
        act(state, BUY_BY[0])
        assert (0, 0) == (state.owner[25], state.cash[0])


@pytest.mark.rule("CHANCE-4")
@pytest.mark.parametrize("name", ALL)
def test_one_s_own_target_asks_nothing(name: str) -> None:
    state = sent(name, "nearest_utility", 13, (4, 5), table(name, owns={0: (28,)}))

    assert (28, [1], 15_000) == (state.position[0], actors(state), state.cash[0])


@pytest.mark.rule("CHANCE-4", "TURN-5")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("card", "square"), [("to_square_11", 11), ("to_square_24", 24)])
def test_a_named_square_behind_is_reached_over_start(name: str, card: str, square: int) -> None:
    state = table(name, at={0: 33}, owns={0: (11, 24)}, deck=[card])
    log = roll(state, 1, 2)

    assert (square, 2000) == (state.position[0], paid(log, CASH_SALARY))
