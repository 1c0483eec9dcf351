"""The third die: numbers, bus, X and triples (DIE)."""

import pytest

from opolyx_rules import RULESETS, actors, legal_actions
from opolyx_rules.actions import (
    BUY_BY,
    CHOOSE_BUS,
    CHOOSE_SQUARE,
    CHOOSE_SQUARE_BY,
    MORTGAGE,
    PAY_DEBT_BY,
    ROLL_BY,
)
from opolyx_rules.content.boards import PROPERTIES
from opolyx_rules.events import BUS_MOVED, DICE_ROLLED, JAILED, SQUARE_CHOSEN, TOKEN_MOVED
from opolyx_rules.ids import (
    BUS_FIRST,
    BUS_SECOND,
    BUS_SUM,
    CASH_RENT,
    CASH_SALARY,
    MOVE_JUMP,
    MOVE_TELEPORT,
    MOVE_WALK,
    PHASE_BUS,
    PHASE_BUY,
    PHASE_PAYMENT,
    PHASE_ROLL,
    PHASE_TRIPLE,
    THIRD_BUS,
    THIRD_X,
)
from opolyx_rules.mechanics.rent import dice_total
from opolyx_rules.queries import awaited_phase
from opolyx_rules.reasons import INVALID_ACTION, WRONG_PHASE
from opolyx_rules.ruleset import NEVER
from support_rules import (
    ALL,
    act,
    found,
    kinds,
    paid,
    roll,
    rulesets_with,
    table,
    why,
)

SPEED = rulesets_with(third_die_from=7)
ONE, TWO, THREE, BUS, X, X_TOO = range(6)
"""What is drawn for each face."""


@pytest.mark.rule("DIE-1")
@pytest.mark.statement("R018", "R071")
@pytest.mark.parametrize(("round_number", "third"), [(6, 0), (7, 2), (8, 2)])
@pytest.mark.parametrize("ruleset", SPEED)
def test_third_die_is_rolled_from_round_seven(ruleset: str, round_number: int, third: int) -> None:
    state = table(ruleset, round_number=round_number)

    log = roll(state, 3, 5, third=[TWO] if third else [])

    assert [(DICE_ROLLED, 0, 3, 5, third)] == found(log, DICE_ROLLED)


@pytest.mark.rule("DIE-1")
@pytest.mark.statement("R017")
@pytest.mark.parametrize("ruleset", [name for name in ALL if name not in SPEED])
def test_other_modes_roll_two_dice(ruleset: str) -> None:
    state = table(ruleset, round_number=RULESETS[ruleset].round_cap)

    assert [(DICE_ROLLED, 0, 4, 6, 0)] == found(roll(state, 4, 6), DICE_ROLLED)
    assert NEVER == RULESETS[ruleset].third_die_from


@pytest.mark.rule("DIE-1")
@pytest.mark.parametrize(
    ("drawn", "face"), [(0, 1), (1, 2), (2, 3), (3, THIRD_BUS), (4, THIRD_X), (5, THIRD_X)]
)
@pytest.mark.parametrize("ruleset", SPEED)
def test_faces_are_three_numbers_a_bus_and_two_x(ruleset: str, drawn: int, face: int) -> None:
    state = table(ruleset, round_number=7)

    log = roll(state, 4, 6, third=[drawn])

    assert [face] == [event[4] for event in found(log, DICE_ROLLED)]


@pytest.mark.rule("DIE-2", "RENT-4")
@pytest.mark.statement("R073")
@pytest.mark.parametrize(("drawn", "square"), [(ONE, 10), (TWO, 11), (THREE, 12)])
@pytest.mark.parametrize("ruleset", SPEED)
def test_number_is_added_to_the_move(ruleset: str, drawn: int, square: int) -> None:
    state = table(ruleset, round_number=7)

    roll(state, 4, 5, third=[drawn])

    assert square == state.position[0]
    assert square == dice_total(state)


@pytest.mark.rule("DIE-3")
@pytest.mark.statement("R074")
@pytest.mark.parametrize(("move", "steps"), [(BUS_SUM, 9), (BUS_FIRST, 4), (BUS_SECOND, 5)])
@pytest.mark.parametrize("ruleset", SPEED)
def test_bus_moves_the_sum_or_one_die(ruleset: str, move: int, steps: int) -> None:
    state = table(ruleset, round_number=7, at={0: 1})
    roll(state, 4, 5, third=[BUS])
    assert (PHASE_BUS, [0]) == (awaited_phase(state), actors(state))
    assert {CHOOSE_BUS} == kinds(state, 0)

    log = act(state, (CHOOSE_BUS, 0, move))

    assert [(BUS_MOVED, 0, steps)] == found(log, BUS_MOVED)
    assert [(TOKEN_MOVED, 0, 1, 1 + steps, MOVE_WALK)] == found(log, TOKEN_MOVED)


@pytest.mark.rule("DIE-3", "TURN-4")
@pytest.mark.parametrize("ruleset", SPEED)
def test_bus_takes_no_other_move(ruleset: str) -> None:
    state = table(ruleset, round_number=7, owns={0: (5,)})
    roll(state, 4, 5, third=[BUS])

    assert (INVALID_ACTION, "DIE-3") == why(state, (CHOOSE_BUS, 0, 4))
    assert (WRONG_PHASE, "DIE-3") == why(state, ROLL_BY[0])
    assert (MORTGAGE in kinds(state, 0)) == RULESETS[ruleset].manage_after_roll


@pytest.mark.rule("DIE-3", "DIE-6", "TURN-2")
@pytest.mark.parametrize("ruleset", SPEED)
def test_double_with_a_bus_rolls_again(ruleset: str) -> None:
    state = table(ruleset, round_number=7, owns={0: (5,)})
    roll(state, 5, 5, third=[BUS])

    act(state, (CHOOSE_BUS, 0, BUS_FIRST))

    assert 5 == state.position[0]
    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("DIE-3", "DIE-5", "DIE-6")
@pytest.mark.statement("R077", "R079")
@pytest.mark.parametrize(
    ("pips", "drawn", "phase"), [(4, BUS, PHASE_BUS), (5, X, PHASE_ROLL), (5, X_TOO, PHASE_ROLL)]
)
@pytest.mark.parametrize("ruleset", SPEED)
def test_bus_and_x_are_never_part_of_a_triple(
    ruleset: str, pips: int, drawn: int, phase: int
) -> None:
    """4-4-bus and 5-5-X are doubles like any other, however the faces are numbered."""
    state = table(ruleset, round_number=7)

    roll(state, pips, pips, third=[drawn])

    assert (phase, [0]) == (awaited_phase(state), actors(state))
    assert 1 == state.doubles


@pytest.mark.rule("DIE-4")
@pytest.mark.statement("R075", "R076")
@pytest.mark.parametrize("ruleset", SPEED)
def test_x_jumps_to_the_nearest_unowned_property_at_the_turns_end(ruleset: str) -> None:
    """From 10 over the owned 11 to the utility 12; a jump, then a purchase."""
    state = table(ruleset, round_number=7, owns={1: (11,)}, at={0: 3})

    log = roll(state, 3, 4, third=[X])

    moves = [(TOKEN_MOVED, 0, 3, 10, MOVE_WALK), (TOKEN_MOVED, 0, 10, 12, MOVE_JUMP)]
    assert moves == found(log, TOKEN_MOVED)
    assert (PHASE_BUY, [0]) == (awaited_phase(state), actors(state))
    act(state, BUY_BY[0])
    assert [1] == actors(state)


@pytest.mark.rule("DIE-4")
@pytest.mark.statement("R075")
@pytest.mark.parametrize("ruleset", SPEED)
def test_x_first_resolves_where_it_walked(ruleset: str) -> None:
    state = table(ruleset, round_number=7)

    roll(state, 1, 3, third=[X])
    assert (PHASE_PAYMENT, 4) == (awaited_phase(state), state.position[0])
    act(state, PAY_DEBT_BY[0])

    assert (PHASE_BUY, 5) == (awaited_phase(state), state.position[0])


@pytest.mark.rule("DIE-4")
@pytest.mark.statement("R075")
@pytest.mark.parametrize("ruleset", SPEED)
def test_x_jumps_after_any_further_rolls_and_once_a_turn(ruleset: str) -> None:
    state = table(ruleset, round_number=7, at={0: 2}, owns={0: (15,)})
    log = roll(state, 4, 4, third=[X])
    assert [(TOKEN_MOVED, 0, 2, 10, MOVE_WALK)] == found(log, TOKEN_MOVED)
    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))

    log = roll(state, 2, 3, third=[X])

    walk_and_jump = [(TOKEN_MOVED, 0, 10, 15, MOVE_WALK), (TOKEN_MOVED, 0, 15, 16, MOVE_JUMP)]
    assert walk_and_jump == found(log, TOKEN_MOVED)
    act(state, BUY_BY[0])
    assert [1] == actors(state)


@pytest.mark.rule("DIE-4")
@pytest.mark.statement("R075", "R076")
@pytest.mark.parametrize("ruleset", SPEED)
def test_x_jumps_to_a_rivals_unmortgaged_property_when_none_is_free(ruleset: str) -> None:
    owns = {0: {11, 12}, 1: set(PROPERTIES) - {11, 12}}
    state = table(ruleset, round_number=7, owns=owns, mortgaged=(13, 14), at={0: 3})

    log = roll(state, 3, 4, third=[X])

    assert (TOKEN_MOVED, 0, 10, 15, MOVE_JUMP) == found(log, TOKEN_MOVED)[-1]
    assert 2_000 == paid(act(state, PAY_DEBT_BY[0]), CASH_RENT)


@pytest.mark.rule("DIE-4")
@pytest.mark.parametrize("ruleset", SPEED)
def test_x_prefers_a_far_free_property_to_a_near_rivals(ruleset: str) -> None:
    state = table(ruleset, round_number=7, owns={1: set(PROPERTIES) - {39}}, at={0: 3})

    roll(state, 3, 4, third=[X])

    assert (PHASE_BUY, 39) == (awaited_phase(state), state.position[0])


@pytest.mark.rule("DIE-4")
@pytest.mark.parametrize("ruleset", SPEED)
def test_x_stays_where_nothing_is_left_to_jump_to(ruleset: str) -> None:
    state = table(ruleset, round_number=7, owns={0: PROPERTIES}, at={0: 3})

    roll(state, 3, 4, third=[X])

    assert 10 == state.position[0]
    assert [1] == actors(state)


@pytest.mark.rule("DIE-4", "TURN-5")
@pytest.mark.parametrize("ruleset", SPEED)
def test_x_that_passes_start_is_paid(ruleset: str) -> None:
    owned = set(PROPERTIES) - {1}
    state = table(ruleset, round_number=7, owns={0: owned}, at={0: 32})

    log = roll(state, 3, 4, third=[X])

    assert 2_000 == paid(log, CASH_SALARY)
    assert (PHASE_BUY, 1) == (awaited_phase(state), state.position[0])


@pytest.mark.rule("DIE-4", "TURN-3")
@pytest.mark.parametrize("ruleset", SPEED)
def test_x_does_not_jump_out_of_jail(ruleset: str) -> None:
    state = table(ruleset, round_number=7, at={0: 23})

    log = roll(state, 3, 4, third=[X])

    assert 1 == len(found(log, JAILED))
    assert (10, 1) == (state.position[0], state.jailed[0])
    assert [1] == actors(state)


@pytest.mark.rule("DIE-4")
@pytest.mark.parametrize("ruleset", SPEED)
def test_x_is_due_no_more_once_a_further_roll_jails(ruleset: str) -> None:
    state = table(ruleset, round_number=7, owns={0: PROPERTIES}, at={0: 3})
    state.doubles = 1
    roll(state, 5, 5, third=[X])
    assert 1 == state.jump_due

    log = roll(state, 6, 6, third=[TWO])

    assert [] == [move for move in found(log, TOKEN_MOVED) if move[4] == MOVE_JUMP]
    assert (10, [1]) == (state.position[0], actors(state))


@pytest.mark.rule("DIE-5")
@pytest.mark.statement("R077", "R078")
@pytest.mark.parametrize("ruleset", SPEED)
def test_triple_goes_to_any_square_and_rolls_again(ruleset: str) -> None:
    state = table(ruleset, round_number=7, at={0: 30})
    roll(state, 3, 3, third=[THREE])
    assert (PHASE_TRIPLE, [0]) == (awaited_phase(state), actors(state))
    assert 1 == state.rolls_again
    assert [(CHOOSE_SQUARE, 0, square) for square in range(40)] == legal_actions(state, 0)

    log = act(state, CHOOSE_SQUARE_BY[0][5])
    assert [(SQUARE_CHOSEN, 0, 5)] == found(log, SQUARE_CHOSEN)
    assert [(TOKEN_MOVED, 0, 30, 5, MOVE_TELEPORT)] == found(log, TOKEN_MOVED)
    assert 0 == paid(log, CASH_SALARY)
    assert PHASE_BUY == awaited_phase(state)
    act(state, BUY_BY[0])

    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("DIE-5", "TURN-5")
@pytest.mark.parametrize("ruleset", SPEED)
def test_triple_to_start_is_paid_for_stopping_there(ruleset: str) -> None:
    state = table(ruleset, round_number=7, at={0: 12})
    roll(state, 1, 1, third=[ONE])

    act(state, CHOOSE_SQUARE_BY[0][0])

    assert 17_000 + RULESETS[ruleset].start_landing_bonus == state.cash[0]


@pytest.mark.rule("DIE-5", "JAIL-1")
@pytest.mark.parametrize("ruleset", SPEED)
def test_triple_to_square_30_jails_and_rolls_no_more(ruleset: str) -> None:
    state = table(ruleset, round_number=7)
    roll(state, 1, 1, third=[ONE])

    act(state, CHOOSE_SQUARE_BY[0][30])

    assert 1 == state.jailed[0]
    assert [1] == actors(state)


@pytest.mark.rule("DIE-5", "DIE-6")
@pytest.mark.statement("R079")
@pytest.mark.parametrize("ruleset", SPEED)
def test_triple_is_never_a_double_for_jail(ruleset: str) -> None:
    """Two doubles, then a triple: the player goes where it wants, not to jail."""
    state = table(ruleset, round_number=7, owns={0: (15, 25)}, at={0: 2})
    roll(state, 6, 6, third=[ONE])
    roll(state, 4, 4, third=[TWO])
    assert 2 == state.doubles

    roll(state, 2, 2, third=[TWO])

    assert (PHASE_TRIPLE, 0, 2) == (awaited_phase(state), state.jailed[0], state.doubles)


@pytest.mark.rule("DIE-6")
@pytest.mark.parametrize("ruleset", SPEED)
def test_third_die_makes_no_double(ruleset: str) -> None:
    state = table(ruleset, round_number=7, owns={0: (5,)})

    roll(state, 1, 3, third=[ONE])

    assert 5 == state.position[0]
    assert [1] == actors(state)


@pytest.mark.rule("DIE-6", "TURN-2")
@pytest.mark.parametrize("drawn", [ONE, BUS, X])
@pytest.mark.parametrize("ruleset", SPEED)
def test_third_double_jails_whatever_the_third_die_shows(ruleset: str, drawn: int) -> None:
    state = table(ruleset, round_number=7, owns={0: PROPERTIES})
    state.doubles = 2

    roll(state, 6, 6, third=[drawn])

    assert 1 == state.jailed[0]
    assert [1] == actors(state)
