"""Jail: how a seat gets in, how it gets out, what it may do inside (JAIL)."""

import pytest

from opolyx_rules import RULESETS, actors
from opolyx_rules.actions import (
    ACCEPT_TRADE,
    BID_BY,
    BUILD_BY,
    BUY_BY,
    DECLARE_BANKRUPTCY_BY,
    DECLINE_PURCHASE_BY,
    MORTGAGE_BY,
    PASS_BID_BY,
    PAY_BAIL,
    PAY_BAIL_BY,
    PAY_DEBT_BY,
    ROLL,
    ROLL_BY,
    STAY_IN_JAIL_BY,
    propose_trade,
)
from opolyx_rules.content.boards import RENTS
from opolyx_rules.content.decks import CARD_IDS
from opolyx_rules.events import (
    DEBT_OPENED,
    DICE_ROLLED,
    JAIL_ROLL_FAILED,
    JAILED,
    RELEASED,
    TOKEN_MOVED,
)
from opolyx_rules.ids import (
    CASH_BAIL,
    CASH_RENT,
    CASH_SALARY,
    JAILED_BY_CARD,
    JAILED_BY_DOUBLES,
    JAILED_BY_SQUARE,
    MOVE_TO_JAIL,
    PHASE_AUCTION,
    PHASE_JAIL,
    PHASE_JAIL_BAIL,
    PHASE_PAYMENT,
    PHASE_ROLL,
    RELEASE_BAIL,
    RELEASE_DOUBLE,
    RELEASE_FORCED_BAIL,
    RELEASE_FREE,
)
from opolyx_rules.queries import awaited_phase
from opolyx_rules.reasons import NO_BAIL_NOW, NOT_ENOUGH_CASH, WRONG_PHASE
from opolyx_rules.ruleset import (
    BAIL_AFTER_ROLL,
    BAIL_BEFORE_ROLL,
    LAST_FREE_RELEASE,
    LAST_PAY_AND_MOVE,
    LAST_PAY_AND_STAY,
)
from support_rules import (
    ALL,
    act,
    cash_moves,
    found,
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

BEFORE = rulesets_with(bail_timing=BAIL_BEFORE_ROLL)
AFTER = rulesets_with(bail_timing=BAIL_AFTER_ROLL)
FORCED = [name for name in ALL if RULESETS[name].last_attempt != LAST_FREE_RELEASE]


@pytest.mark.rule("JAIL-1", "TURN-3")
@pytest.mark.statement("R059", "R132")
@pytest.mark.parametrize("ruleset", ALL)
def test_square_30_jails_without_salary(ruleset: str) -> None:
    state = table(ruleset, at={0: 25})

    log = roll(state, 1, 4)

    assert (10, 1, 0) == (state.position[0], state.jailed[0], state.attempts[0])
    assert [(JAILED, 0, JAILED_BY_SQUARE)] == found(log, JAILED)
    assert [] == cash_moves(log)


@pytest.mark.rule("JAIL-1", "CHANCE-4")
@pytest.mark.statement("R132", "R158")
@pytest.mark.parametrize("ruleset", ALL)
def test_card_jails_straight_from_beyond_the_jail(ruleset: str) -> None:
    """From square 36 the way to jail would lead over Start: no salary is paid."""
    state = table(ruleset, at={0: 33}, deck=["go_to_jail"])

    log = roll(state, 1, 2)

    assert [(JAILED, 0, JAILED_BY_CARD)] == found(log, JAILED)
    assert (TOKEN_MOVED, 0, 36, 10, MOVE_TO_JAIL) == found(log, TOKEN_MOVED)[-1]
    assert 0 == paid(log, CASH_SALARY)


@pytest.mark.rule("JAIL-1", "TURN-2")
@pytest.mark.statement("R067", "R132")
@pytest.mark.parametrize("ruleset", ALL)
def test_third_double_jails_without_moving(ruleset: str) -> None:
    state = table(ruleset, owns={0: (16,)}, at={0: 6})
    roll(state, 2, 2)  # to 10, a visitor
    roll(state, 3, 3)  # to 16, its own
    log = roll(state, 1, 1)

    assert [(JAILED, 0, JAILED_BY_DOUBLES)] == found(log, JAILED)
    assert [(TOKEN_MOVED, 0, 16, 10, MOVE_TO_JAIL)] == found(log, TOKEN_MOVED)
    assert [1] == actors(state)


@pytest.mark.rule("TURN-3")
@pytest.mark.parametrize("ruleset", ALL)
def test_jailed_by_a_double_does_not_roll_again(ruleset: str) -> None:
    state = table(ruleset, at={0: 26})

    log = roll(state, 2, 2)

    assert "turn_ended" in names(log)
    assert [1] == actors(state)


@pytest.mark.rule("JAIL-2")
@pytest.mark.statement("R134", "R135")
@pytest.mark.parametrize("ruleset", BEFORE)
def test_bail_before_the_roll_then_rolls_as_usual(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 1}, owns={0: (18,)})

    log = act(state, PAY_BAIL_BY[0])

    assert 14_500 == state.cash[0]
    assert [(RELEASED, 0, RELEASE_BAIL)] == found(log, RELEASED)
    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))
    roll(state, 4, 4)  # to 18, its own: a double is a double again
    assert 18 == state.position[0]
    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("JAIL-2")
@pytest.mark.statement("R134")
@pytest.mark.parametrize("ruleset", BEFORE)
def test_failed_roll_is_not_followed_by_bail_where_bail_comes_before(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 0})

    roll(state, 1, 2)

    assert [1] == actors(state)
    assert (1, 1, 10) == (state.jailed[0], state.attempts[0], state.position[0])


@pytest.mark.rule("JAIL-2")
@pytest.mark.statement("R134")
@pytest.mark.parametrize("ruleset", AFTER)
def test_bail_after_a_failed_roll_moves_by_that_roll(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 0}, owns={0: (13,)})

    assert (NO_BAIL_NOW, "JAIL-2") == why(state, PAY_BAIL_BY[0])
    roll(state, 1, 2)
    assert (PHASE_JAIL_BAIL, [0]) == (awaited_phase(state), actors(state))
    log = act(state, PAY_BAIL_BY[0])

    assert 500 == paid(log, CASH_BAIL)
    assert (0, 13) == (state.jailed[0], state.position[0])
    assert [] == found(log, DICE_ROLLED)
    assert [1] == actors(state)


@pytest.mark.rule("JAIL-2")
@pytest.mark.parametrize("ruleset", AFTER)
def test_staying_after_a_failed_roll_costs_nothing(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 0})
    roll(state, 1, 2)

    log = act(state, STAY_IN_JAIL_BY[0])

    assert [] == cash_moves(log)
    assert (1, 1) == (state.jailed[0], state.attempts[0])
    assert [1] == actors(state)


@pytest.mark.rule("JAIL-2")
@pytest.mark.parametrize("ruleset", AFTER)
def test_no_bail_is_offered_after_the_roll_to_who_cannot_pay_it(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 0}, cash={0: 499})

    roll(state, 1, 2)

    assert [1] == actors(state)


@pytest.mark.rule("JAIL-2")
@pytest.mark.statement("R135")
@pytest.mark.parametrize(("cash", "legal"), [(500, True), (499, False)])
@pytest.mark.parametrize("ruleset", BEFORE)
def test_bail_takes_500_in_hand(ruleset: str, cash: int, legal: bool) -> None:
    state = table(ruleset, jailed={0: 0}, cash={0: cash})

    assert legal == is_legal(state, PAY_BAIL_BY[0])
    assert legal == (PAY_BAIL in kinds(state, 0))
    if not legal:
        assert (NOT_ENOUGH_CASH, "JAIL-2") == why(state, PAY_BAIL_BY[0])


@pytest.mark.rule("JAIL-3")
@pytest.mark.statement("R137")
@pytest.mark.parametrize("attempts", [0, 1, 2])
@pytest.mark.parametrize("ruleset", ALL)
def test_double_in_jail_moves_by_its_sum_without_a_further_roll(
    ruleset: str, attempts: int
) -> None:
    state = table(ruleset, jailed={0: attempts}, owns={0: (16,)})

    log = roll(state, 3, 3)

    assert [(RELEASED, 0, RELEASE_DOUBLE)] == found(log, RELEASED)
    assert (0, 0, 16) == (state.jailed[0], state.attempts[0], state.position[0])
    assert [] == [move for move in cash_moves(log) if move[4] == CASH_BAIL]
    assert [1] == actors(state)


@pytest.mark.rule("JAIL-3")
@pytest.mark.statement("R136")
@pytest.mark.parametrize("ruleset", ALL)
def test_three_attempts(ruleset: str) -> None:
    state = table(ruleset, seats=4, jailed={0: 0})

    for attempt in (1, 2):
        log = roll(state, 1, 2)
        assert [(JAIL_ROLL_FAILED, 0, attempt)] == found(log, JAIL_ROLL_FAILED)
        if awaited_phase(state) == PHASE_JAIL_BAIL:
            act(state, STAY_IN_JAIL_BY[0])
        assert 1 == state.jailed[0]
        idle_until(state, 0)
    log = roll(state, 1, 2)

    assert [(JAIL_ROLL_FAILED, 0, 3)] == found(log, JAIL_ROLL_FAILED)
    assert bool(found(log, RELEASED)) == (RULESETS[ruleset].last_attempt == LAST_FREE_RELEASE)


@pytest.mark.rule("JAIL-4")
@pytest.mark.statement("R138", "R139", "R162")
@pytest.mark.parametrize("ruleset", rulesets_with(last_attempt=LAST_PAY_AND_MOVE))
def test_third_failure_pays_and_moves_by_that_roll(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 2}, owns={0: (13,)})

    log = roll(state, 1, 2)
    assert [(DEBT_OPENED, 0, 500)] == found(log, DEBT_OPENED)
    assert PHASE_PAYMENT == awaited_phase(state)
    log = act(state, PAY_DEBT_BY[0])

    assert 14_500 == state.cash[0]
    assert [(RELEASED, 0, RELEASE_FORCED_BAIL)] == found(log, RELEASED)
    assert (0, 0, 13) == (state.jailed[0], state.attempts[0], state.position[0])
    assert [1] == actors(state)


@pytest.mark.rule("JAIL-4")
@pytest.mark.statement("R138", "R139", "R162")
@pytest.mark.parametrize("ruleset", rulesets_with(last_attempt=LAST_PAY_AND_STAY))
def test_third_failure_pays_and_stays_as_a_visitor(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 2})

    log = roll(state, 1, 2)
    assert [(DEBT_OPENED, 0, 500)] == found(log, DEBT_OPENED)
    log = act(state, PAY_DEBT_BY[0])

    assert 14_500 == state.cash[0]
    assert [(RELEASED, 0, RELEASE_FORCED_BAIL)] == found(log, RELEASED)
    assert (0, 10) == (state.jailed[0], state.position[0])
    assert [1] == actors(state)


@pytest.mark.rule("JAIL-4")
@pytest.mark.statement("R138")
@pytest.mark.parametrize("ruleset", rulesets_with(last_attempt=LAST_FREE_RELEASE))
def test_third_failure_frees_for_nothing(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 2})

    log = roll(state, 1, 2)

    assert [(RELEASED, 0, RELEASE_FREE)] == found(log, RELEASED)
    assert [] == cash_moves(log)
    assert (0, 10, 15_000) == (state.jailed[0], state.position[0], state.cash[0])
    assert [1] == actors(state)


@pytest.mark.rule("JAIL-4", "DEBT-2", "DEBT-4")
@pytest.mark.statement("R138", "R162", "R164")
@pytest.mark.parametrize("ruleset", FORCED)
def test_third_failure_short_of_cash_is_raised_and_paid(ruleset: str) -> None:
    """Case A-14 (i): 300 and a street of 600, mortgaged for 300: 100 is left."""
    state = table(ruleset, jailed={0: 2}, cash={0: 300}, owns={0: (1,)}, deck=["go_to_jail"])
    roll(state, 2, 5)

    assert not is_legal(state, DECLARE_BANKRUPTCY_BY[0])
    assert not is_legal(state, PAY_DEBT_BY[0])
    act(state, MORTGAGE_BY[0][1])
    assert 600 == state.cash[0]
    state.deck = [CARD_IDS.index("back_three")]
    act(state, PAY_DEBT_BY[0])

    assert 100 == state.cash[0]
    assert (0, 0) == (state.jailed[0], state.attempts[0])
    walked = RULESETS[ruleset].last_attempt == LAST_PAY_AND_MOVE
    assert (14 if walked else 10) == state.position[0]  # square 17, whose card goes back three
    assert (PHASE_AUCTION if walked else PHASE_ROLL) == awaited_phase(state)


@pytest.mark.rule("JAIL-4", "DEBT-4", "DEBT-7")
@pytest.mark.parametrize("ruleset", FORCED)
def test_third_failure_without_means_is_bankruptcy(ruleset: str) -> None:
    """Case A-14 (ii): 300 and no property: the bank gets the 300."""
    state = table(ruleset, jailed={0: 2}, cash={0: 300})
    roll(state, 2, 5)

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert 300 == paid(log, CASH_BAIL)
    assert (0, 0, 1) == (state.cash[0], state.jailed[0], state.out_order[0])
    assert [1] == actors(state)


@pytest.mark.rule("JAIL-4", "TRADE-2", "DEBT-2")
@pytest.mark.parametrize("ruleset", [name for name in FORCED if RULESETS[name].trade_in_debt])
def test_third_failure_is_paid_by_a_trade(ruleset: str) -> None:
    """Case A-14 (iii): the street goes for 400 during the pause."""
    state = table(ruleset, jailed={0: 2}, cash={0: 300}, owns={0: (1,)})
    roll(state, 2, 5)
    act(state, propose_trade(0, 1, give_squares=(1,), want_cash=400))
    act(state, (ACCEPT_TRADE, 1, state.last_offer))
    assert 700 == state.cash[0]

    act(state, PAY_DEBT_BY[0])

    assert 0 == state.jailed[0]
    assert 1 == state.owner[1]


@pytest.mark.rule("JAIL-4", "DEBT-3")
@pytest.mark.parametrize("ruleset", FORCED)
def test_third_failure_is_paid_by_the_clock(ruleset: str) -> None:
    """Case A-14 (iv): the game mortgages the street and pays."""
    state = table(ruleset, jailed={0: 2}, cash={0: 300}, owns={0: (1,)}, deck=["birthday"])
    roll(state, 2, 5)

    time_out(state)

    assert state.mortgaged[1]
    birthday = 600 if RULESETS[ruleset].last_attempt == LAST_PAY_AND_MOVE else 0
    allies = 200 if birthday and RULESETS[ruleset].sides else 0
    assert 100 + birthday - allies == state.cash[0]
    assert (0, 0) == (state.jailed[0], state.attempts[0])


@pytest.mark.rule("JAIL-5")
@pytest.mark.statement("R140")
@pytest.mark.parametrize("ruleset", ALL)
def test_only_bail_and_dice_lead_out(ruleset: str) -> None:
    """No card frees: the prisoner has no such action, and no card of the deck releases."""
    state = table(ruleset, jailed={0: 0})
    bail_first = RULESETS[ruleset].bail_timing == BAIL_BEFORE_ROLL

    assert ({ROLL, PAY_BAIL} if bail_first else {ROLL}) == kinds(state, 0)
    assert (WRONG_PHASE, "JAIL-3") == why(state, BUY_BY[0])


@pytest.mark.rule("JAIL-5", "RENT-8")
@pytest.mark.statement("R133")
@pytest.mark.parametrize("ruleset", ALL)
def test_prisoner_collects_rent(ruleset: str) -> None:
    state = table(ruleset, owns={0: (6,)}, jailed={0: 1}, turn=1)
    stop_on(state, 6)

    log = act(state, PAY_DEBT_BY[1])

    assert RENTS[6][0] == paid(log, CASH_RENT)
    assert 15_060 == state.cash[0]


@pytest.mark.rule("JAIL-5", "AUCTION-10")
@pytest.mark.parametrize("ruleset", ALL)
def test_prisoner_bids(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 1}, turn=1)
    stop_on(state, 6)
    act(state, DECLINE_PURCHASE_BY[1])
    while actors(state) != [0]:
        act(state, PASS_BID_BY[actors(state)[0]])

    act(state, BID_BY[0])
    act(state, PASS_BID_BY[1])

    assert 0 == state.owner[6]


@pytest.mark.rule("JAIL-5", "TURN-4", "TRADE-2")
@pytest.mark.parametrize("ruleset", ALL)
def test_prisoner_manages_and_trades_before_the_roll(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 1}, owns={0: (1, 3, 5)})

    act(state, BUILD_BY[0][1])
    act(state, MORTGAGE_BY[0][5])
    act(state, propose_trade(0, 2, give_cash=100, want_cash=100))

    assert (PHASE_JAIL, [0]) == (awaited_phase(state), actors(state))
    assert is_legal(state, ROLL_BY[0])


@pytest.mark.rule("JAIL-5")
@pytest.mark.statement("R133")
@pytest.mark.parametrize("ruleset", ALL)
def test_sitting_costs_nothing(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 0})

    log = roll(state, 1, 2)
    if awaited_phase(state) == PHASE_JAIL_BAIL:
        log += act(state, STAY_IN_JAIL_BY[0])

    assert [] == cash_moves(log)


@pytest.mark.rule("JAIL-5")
@pytest.mark.statement("R058")
@pytest.mark.parametrize("ruleset", ALL)
def test_visitor_is_no_prisoner(ruleset: str) -> None:
    state = table(ruleset, at={0: 7})

    log = roll(state, 1, 2)

    assert (10, 0) == (state.position[0], state.jailed[0])
    assert [] == cash_moves(log)
    assert [1] == actors(state)


@pytest.mark.rule("JAIL-6", "DIE-1")
@pytest.mark.statement("R072")
@pytest.mark.parametrize("ruleset", rulesets_with(third_die_from=7))
def test_third_die_is_not_rolled_in_jail(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 0}, round_number=7, owns={0: (14,)})

    log = roll(state, 2, 2)

    assert [(DICE_ROLLED, 0, 2, 2, 0)] == found(log, DICE_ROLLED)
    assert 14 == state.position[0]


@pytest.mark.rule("JAIL-2", "DIE-1")
@pytest.mark.parametrize("ruleset", [name for name in BEFORE if name.startswith("speed")])
def test_third_die_is_rolled_again_once_bail_is_paid(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 0}, round_number=7, owns={0: (16,)})
    act(state, PAY_BAIL_BY[0])

    log = roll(state, 2, 1, third=[2])

    assert [(DICE_ROLLED, 0, 2, 1, 3)] == found(log, DICE_ROLLED)
    assert 16 == state.position[0]


@pytest.mark.rule("JAIL-3")
def test_number_of_attempts_is_a_field() -> None:
    state = table(rules(jail_attempts=1), jailed={0: 0})

    roll(state, 1, 2)

    assert PHASE_PAYMENT == awaited_phase(state)
