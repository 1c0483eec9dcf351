"""Turns, doubles, rounds, Start, and when property is managed (TURN)."""

import pytest

from opolyx_rules import actors, get_ruleset, legal_actions
from opolyx_rules import events as ev
from opolyx_rules.actions import (
    BUILD,
    BUILD_BY,
    BUY,
    BUY_BY,
    CHOOSE_BUS,
    DECLARE_BANKRUPTCY_BY,
    MORTGAGE,
    MORTGAGE_BY,
    NAMES,
    PAY_DEBT_BY,
    REDEEM,
    REDEEM_BY,
    ROLL_BY,
    SELL_BUILDING,
    SELL_BUILDING_BY,
    propose_trade,
)
from opolyx_rules.ids import (
    CASH_LANDING_BONUS,
    CASH_SALARY,
    JAILED_BY_CARD,
    JAILED_BY_DOUBLES,
    JAILED_BY_SQUARE,
    PHASE_BUS,
    PHASE_BUY,
    PHASE_PAYMENT,
    PHASE_ROLL,
    PHASE_WAGER,
)
from opolyx_rules.queries import awaited_phase
from opolyx_rules.reasons import NO_TRADE_NOW, NOT_AWAITED, RAISING_ONLY, WRONG_PHASE
from opolyx_rules.ruleset import CORNER_WAGER
from support_rules import (
    ALL,
    act,
    draw,
    found,
    idle_turn,
    idle_until,
    is_legal,
    kinds,
    names,
    paid,
    roll,
    rules,
    rulesets_with,
    stop_on,
    table,
    time_out,
    why,
)

MANAGING = {BUILD, SELL_BUILDING, MORTGAGE, REDEEM}
MANAGES_LATER = rulesets_with(manage_after_roll=True)
MANAGES_BEFORE_ONLY = rulesets_with(manage_after_roll=False)
# Seat 0 could build on 6, 8 and 9, sell at 11, mortgage 5 and redeem 15.
HOLDINGS = {0: (5, 6, 8, 9, 11, 13, 14, 15)}


@pytest.mark.rule("TURN-1")
@pytest.mark.statement("R065", "R068")
@pytest.mark.parametrize("name", ALL)
def test_two_dice_move_and_the_turn_ends_by_itself(name: str) -> None:
    state = table(name, at={0: 3})
    log = roll(state, 3, 4)

    assert 10 == state.position[0]
    assert ["dice_rolled", "token_moved", "turn_ended", "turn_started"] == names(log)
    assert [1] == actors(state)
    assert "end_turn" not in NAMES.values()


@pytest.mark.rule("TURN-1")
@pytest.mark.statement("R068")
@pytest.mark.parametrize("name", ALL)
def test_a_decision_on_the_square_comes_before_the_end(name: str) -> None:
    state = table(name)
    roll(state, 2, 3)
    assert (PHASE_BUY, [0]) == (awaited_phase(state), actors(state))

    act(state, BUY_BY[0])
    assert (PHASE_ROLL, [1]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("TURN-1")
def test_nobody_rolls_for_another() -> None:
    assert (NOT_AWAITED, "TURN-1") == why(table(), ROLL_BY[1])


@pytest.mark.rule("TURN-1")
def test_nobody_rolls_in_place_of_an_answer() -> None:
    state = table()
    roll(state, 2, 3)

    assert (WRONG_PHASE, "BUY-1") == why(state, ROLL_BY[0])


@pytest.mark.rule("TURN-2")
@pytest.mark.statement("R066")
@pytest.mark.parametrize("name", ALL)
def test_a_double_rolls_again_once_its_square_is_resolved(name: str) -> None:
    state = table(name)
    roll(state, 3, 3)
    assert (6, PHASE_BUY, [0]) == (state.position[0], awaited_phase(state), actors(state))

    act(state, BUY_BY[0])
    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))

    roll(state, 1, 3)
    assert (10, [1]) == (state.position[0], actors(state))


@pytest.mark.rule("TURN-2")
@pytest.mark.statement("R067")
@pytest.mark.parametrize("name", ALL)
def test_the_third_double_goes_to_jail_without_moving(name: str) -> None:
    state = table(name)
    roll(state, 5, 5)
    state.position[0] = 6
    roll(state, 2, 2)
    state.position[0] = 33
    log = roll(state, 6, 6)

    assert [(ev.JAILED, 0, JAILED_BY_DOUBLES)] == found(log, ev.JAILED)
    assert [(0, 33, 10)] == [move[1:4] for move in found(log, ev.TOKEN_MOVED)]
    assert 0 == paid(log, CASH_SALARY)
    assert (10, 1, [1]) == (state.position[0], state.jailed[0], actors(state))


@pytest.mark.rule("TURN-2")
@pytest.mark.parametrize("name", ALL)
def test_two_doubles_are_not_three(name: str) -> None:
    state = table(name)
    roll(state, 5, 5)
    state.position[0] = 6
    roll(state, 2, 2)
    state.position[0] = 7
    roll(state, 1, 2)

    assert (10, 0, [1]) == (state.position[0], state.jailed[0], actors(state))


@pytest.mark.rule("TURN-2")
def test_doubles_are_counted_in_one_turn_only() -> None:
    state = table(seats=2)
    for _ in range(3):
        state.position[0] = 8
        roll(state, 1, 1)
        idle_turn(state)
        idle_turn(state)

    assert (0, 0, 4) == (state.jailed[0], state.doubles, state.round)


@pytest.mark.rule("TURN-3")
@pytest.mark.parametrize("name", ALL)
def test_go_to_jail_ends_the_turn_of_a_double(name: str) -> None:
    state = table(name, at={0: 20})
    log = roll(state, 5, 5)

    assert [(ev.JAILED, 0, JAILED_BY_SQUARE)] == found(log, ev.JAILED)
    assert (1, [1]) == (state.jailed[0], actors(state))


@pytest.mark.rule("TURN-3")
@pytest.mark.parametrize("name", ALL)
def test_a_card_to_jail_ends_the_turn_of_a_double(name: str) -> None:
    state = table(name, at={0: 9}, deck=["go_to_jail"])
    log = roll(state, 4, 4)

    assert [(ev.JAILED, 0, JAILED_BY_CARD)] == found(log, ev.JAILED)
    assert (1, [1]) == (state.jailed[0], actors(state))


@pytest.mark.rule("TURN-4")
@pytest.mark.statement("R069")
@pytest.mark.parametrize("name", ALL)
def test_property_is_managed_before_the_roll(name: str) -> None:
    state = table(name, owns=HOLDINGS, levels={11: 1}, mortgaged=[15])
    assert kinds(state, 0) >= MANAGING

    for action in (BUILD_BY[0][6], SELL_BUILDING_BY[0][11], MORTGAGE_BY[0][5], REDEEM_BY[0][15]):
        act(state, action)
    assert [0] == actors(state)


@pytest.mark.rule("TURN-4")
@pytest.mark.parametrize("name", ALL)
def test_property_is_managed_and_trade_proposed_before_the_roll_after_a_double(name: str) -> None:
    state = table(name, owns=HOLDINGS, levels={11: 1}, mortgaged=[15])
    roll(state, 5, 5)

    assert kinds(state, 0) >= MANAGING
    assert is_legal(state, propose_trade(0, 1, give_squares=(5,), want_cash=2000))


@pytest.mark.rule("TURN-4")
@pytest.mark.parametrize("name", ALL)
def test_nobody_manages_in_the_turn_of_another(name: str) -> None:
    state = table(name, turn=1, owns=HOLDINGS, levels={11: 1}, mortgaged=[15])

    for action in (BUILD_BY[0][6], SELL_BUILDING_BY[0][11], MORTGAGE_BY[0][5], REDEEM_BY[0][15]):
        assert (NOT_AWAITED, "TURN-1") == why(state, action)
    trade = propose_trade(0, 1, give_squares=(5,), want_cash=2000)
    assert (NO_TRADE_NOW, "TRADE-2") == why(state, trade)


@pytest.mark.rule("TURN-4")
@pytest.mark.statement("R069")
@pytest.mark.parametrize("name", MANAGES_BEFORE_ONLY)
def test_after_the_roll_nothing_is_managed(name: str) -> None:
    state = table(name, owns=HOLDINGS, levels={11: 1}, mortgaged=[15])
    stop_on(state, 21)

    assert PHASE_BUY == awaited_phase(state)
    for action in (BUILD_BY[0][6], SELL_BUILDING_BY[0][11], MORTGAGE_BY[0][5], REDEEM_BY[0][15]):
        assert (WRONG_PHASE, "TURN-4") == why(state, action)


@pytest.mark.rule("TURN-4")
@pytest.mark.statement("R069")
@pytest.mark.parametrize("name", MANAGES_LATER)
def test_the_guide_manages_in_a_purchase_too(name: str) -> None:
    state = table(name, owns=HOLDINGS, levels={11: 1}, mortgaged=[15])
    stop_on(state, 21)

    assert kinds(state, 0) >= MANAGING | {BUY}
    act(state, BUILD_BY[0][6])
    act(state, MORTGAGE_BY[0][5])
    act(state, BUY_BY[0])
    assert (1, 0, [1]) == (state.level[6], state.owner[21], actors(state))
    trade = propose_trade(0, 1, give_squares=(5,), want_cash=2000)
    assert (NO_TRADE_NOW, "TRADE-2") == why(state, trade)


@pytest.mark.rule("TURN-4")
@pytest.mark.parametrize("manages", [True, False])
def test_managing_at_the_wager_and_the_bus_goes_by_the_ruleset(manages: bool) -> None:
    ruleset = rules("speed@full", manage_after_roll=manages, third_corner=CORNER_WAGER)
    state = table(ruleset, owns=HOLDINGS, levels={11: 1}, mortgaged=[15], round_number=7)
    wager = state.clone()
    stop_on(wager, 20)
    roll(state, 1, 2, third=[3])

    for decision, phase in ((wager, PHASE_WAGER), (state, PHASE_BUS)):
        assert phase == awaited_phase(decision)
        for action in (BUILD_BY[0][6], SELL_BUILDING_BY[0][11], REDEEM_BY[0][15]):
            if manages:
                assert action in legal_actions(decision, 0)
                act(decision, action)
            else:
                assert (WRONG_PHASE, "TURN-4") == why(decision, action)
        assert phase == awaited_phase(decision)
    act(state, (CHOOSE_BUS, 0, 1))


@pytest.mark.rule("TURN-4")
@pytest.mark.parametrize("name", ALL)
def test_a_payment_pause_is_for_raising_cash_only(name: str) -> None:
    state = table(name, owns=HOLDINGS, levels={11: 1}, mortgaged=[15])
    stop_on(state, 4)
    assert PHASE_PAYMENT == awaited_phase(state)

    assert (RAISING_ONLY, "TURN-4") == why(state, BUILD_BY[0][6])
    assert (RAISING_ONLY, "TURN-4") == why(state, REDEEM_BY[0][15])
    act(state, SELL_BUILDING_BY[0][11])
    act(state, MORTGAGE_BY[0][5])
    act(state, PAY_DEBT_BY[0])
    assert [1] == actors(state)


@pytest.mark.rule("TURN-5")
@pytest.mark.statement("R061")
@pytest.mark.parametrize("name", ALL)
def test_passing_start_pays_the_salary(name: str) -> None:
    state = table(name, at={0: 37})
    log = roll(state, 3, 4)

    assert (2000, 0) == (paid(log, CASH_SALARY), paid(log, CASH_LANDING_BONUS))


@pytest.mark.rule("TURN-5")
@pytest.mark.parametrize("name", ALL)
def test_the_first_square_behind_start_is_past_it(name: str) -> None:
    state = table(name, at={0: 38}, owns={0: (1,)})
    log = roll(state, 1, 2)

    assert (1, 2000) == (state.position[0], paid(log, CASH_SALARY))


@pytest.mark.rule("TURN-5")
@pytest.mark.statement("R062")
@pytest.mark.parametrize("name", ALL)
def test_stopping_on_start_pays_the_salary_once_and_the_bonus(name: str) -> None:
    bonus = 0 if name.endswith(("@origins", "@guide")) else 1000
    state = table(name, at={0: 37})
    log = roll(state, 1, 2)

    assert (2000, bonus) == (paid(log, CASH_SALARY), paid(log, CASH_LANDING_BONUS))
    assert 15_000 + 2000 + bonus == state.cash[0]


@pytest.mark.rule("TURN-5")
@pytest.mark.statement("R154")
@pytest.mark.parametrize("name", ALL)
def test_the_card_to_start_pays_like_stopping_there(name: str) -> None:
    state = table(name)
    log = draw(state, "advance_start")

    assert 2000 == paid(log, CASH_SALARY)
    assert get_ruleset(name).start_landing_bonus == paid(log, CASH_LANDING_BONUS)


@pytest.mark.rule("TURN-5")
@pytest.mark.parametrize("name", ALL)
def test_not_reaching_start_pays_nothing(name: str) -> None:
    state = table(name, at={0: 28})
    log = roll(state, 5, 6)

    assert (39, 0) == (state.position[0], paid(log, CASH_SALARY))


@pytest.mark.rule("TURN-5")
@pytest.mark.parametrize("name", ALL)
def test_walking_back_past_start_pays_nothing(name: str) -> None:
    state = table(name)
    log = draw(state, "back_three", square=2)

    assert (39, 15_000) == (state.position[0], state.cash[0])
    assert 0 == paid(log, CASH_SALARY)


@pytest.mark.rule("TURN-5")
@pytest.mark.statement("R063")
@pytest.mark.parametrize("name", rulesets_with(salary_until_tax=False))
def test_the_salary_is_never_taxed(name: str) -> None:
    state = table(name, at={0: 37}, round_number=20 if name == "blitz@full" else 250)
    third = [4] if get_ruleset(name).third_die_from <= state.round else []
    log = roll(state, 1, 2, third=third)

    assert 2000 + get_ruleset(name).start_landing_bonus == paid(log, CASH_SALARY) + paid(
        log, CASH_LANDING_BONUS
    )


@pytest.mark.rule("TURN-5")
@pytest.mark.statement("R063")
@pytest.mark.parametrize(("round_number", "salary"), [(99, 2000), (100, 0), (101, 0), (300, 0)])
def test_under_the_oldest_rules_start_pays_until_rents_are_taxed(
    round_number: int, salary: int
) -> None:
    ruleset = rules("classic@origins", start_landing_bonus=1000)
    passing = table(ruleset, at={0: 37}, round_number=round_number)
    stopping = passing.clone()

    assert salary == paid(roll(passing, 3, 4), CASH_SALARY)
    log = roll(stopping, 1, 2)
    assert (salary, salary // 2) == (paid(log, CASH_SALARY), paid(log, CASH_LANDING_BONUS))


@pytest.mark.rule("TURN-5")
def test_without_a_salary_stopping_on_start_still_pays_the_bonus() -> None:
    state = table(rules("classic@full", salary=0), at={0: 37})
    log = roll(state, 1, 2)

    assert (0, 1000) == (paid(log, CASH_SALARY), paid(log, CASH_LANDING_BONUS))


@pytest.mark.rule("TURN-6")
@pytest.mark.statement("R013")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("first", [0, 2])
def test_a_round_is_one_turn_of_everybody_from_the_first_seat(name: str, first: int) -> None:
    state = table(name, first=first, turn=first)
    turns = []
    for _ in range(9):
        turns.append((state.round, actors(state)[0]))
        idle_turn(state)

    order = [(first + step) % 4 for step in range(4)]
    assert [(1 + step // 4, order[step % 4]) for step in range(9)] == turns


@pytest.mark.rule("TURN-6")
def test_rolling_again_and_skipping_are_no_further_turns() -> None:
    state = table(seats=2)
    roll(state, 5, 5)
    state.position[0] = 7
    roll(state, 1, 2)
    assert (1, [1]) == (state.round, actors(state))

    log = time_out(state)
    assert [(ev.ROUND_STARTED, 2)] == found(log, ev.ROUND_STARTED)
    assert (2, [0]) == (state.round, actors(state))


@pytest.mark.rule("TURN-6")
@pytest.mark.parametrize("name", rulesets_with(sides=0))
def test_rounds_go_on_when_the_first_seat_is_gone(name: str) -> None:
    """Seat 2 began and goes out on its own turn: the round rises once, as its place is passed."""
    state = table(name, first=2, turn=2, cash={2: 100}, round_number=19)
    stop_on(state, 4)
    act(state, DECLARE_BANKRUPTCY_BY[2])

    rounds = []
    for _ in range(7):
        rounds.append((state.round, actors(state)[0]))
        idle_turn(state)
    assert [(19, 3), (19, 0), (19, 1), (20, 3), (20, 0), (20, 1), (21, 3)] == rounds


@pytest.mark.rule("TURN-6")
def test_the_turn_of_a_seat_that_went_out_is_passed_over() -> None:
    state = table(out=[1, 2])
    idle_turn(state)
    assert (1, [3]) == (state.round, actors(state))

    idle_until(state, 0)
    assert 2 == state.round
