"""The third corner: rest, wager, temple (CORNER)."""

from fractions import Fraction
from itertools import combinations

import pytest

from opolyx_rules import RULESETS, actors, legal_actions
from opolyx_rules.actions import BUILD_BY, DECLINE_WAGER_BY, KIND, WAGER, WAGER_MASKS, mask_of
from opolyx_rules.events import GOD_ARRIVED, WAGER_DECLINED, WAGER_PLACED, WAGER_ROLLED
from opolyx_rules.ids import (
    CASH_WAGER_STAKE,
    CASH_WAGER_WIN,
    GOD_WEALTH,
    PHASE_ROLL,
    PHASE_WAGER,
)
from opolyx_rules.mechanics.corner import wager_payout
from opolyx_rules.queries import awaited_phase
from opolyx_rules.reasons import NOT_ENOUGH_CASH, WAGER_NUMBERS
from opolyx_rules.ruleset import CORNER_REST, CORNER_TEMPLE, CORNER_WAGER
from support_rules import (
    act,
    cash_moves,
    found,
    is_legal,
    kinds,
    paid,
    roll,
    rules,
    rulesets_with,
    table,
    time_out,
    why,
)

REST = rulesets_with(third_corner=CORNER_REST)
WAGERS = rulesets_with(third_corner=CORNER_WAGER)
TEMPLE = rulesets_with(third_corner=CORNER_TEMPLE)


@pytest.mark.rule("CORNER-1")
@pytest.mark.statement("R028", "R044", "R053", "R054", "R058")
@pytest.mark.parametrize("ruleset", REST)
def test_corner_of_rest_does_nothing(ruleset: str) -> None:
    state = table(ruleset, at={0: 17})

    log = roll(state, 1, 2)

    assert 20 == state.position[0]
    assert [] == cash_moves(log)
    assert [1] == actors(state)


@pytest.mark.rule("CORNER-2")
@pytest.mark.statement("R053", "R141")
@pytest.mark.parametrize("ruleset", WAGERS)
def test_wager_is_offered_on_every_choice_of_one_to_three_numbers(ruleset: str) -> None:
    state = table(ruleset, at={0: 17})
    roll(state, 1, 2)

    choices = [set(chosen) for size in (1, 2, 3) for chosen in combinations(range(1, 7), size)]
    offered = [action for action in legal_actions(state, 0) if action[KIND] == WAGER]

    assert PHASE_WAGER == awaited_phase(state)
    assert 41 == len(choices) == len(offered)
    assert {mask_of(tuple(chosen)) for chosen in choices} == {action[2] for action in offered}


@pytest.mark.rule("CORNER-2")
@pytest.mark.statement("R142")
@pytest.mark.parametrize(("chosen", "payout"), [((3,), 6_000), ((3, 4), 3_000), ((1, 3, 6), 2_000)])
@pytest.mark.parametrize("ruleset", WAGERS)
def test_hit_pays_six_three_or_two_stakes(
    ruleset: str, chosen: tuple[int, ...], payout: int
) -> None:
    state = table(ruleset, at={0: 17})
    roll(state, 1, 2)

    log = act(state, (WAGER, 0, mask_of(chosen)), wager=3)

    assert payout == paid(log, CASH_WAGER_WIN)
    assert 1_000 == paid(log, CASH_WAGER_STAKE)
    assert 15_000 - 1_000 + payout == state.cash[0]
    assert [(WAGER_PLACED, 0, mask_of(chosen))] == found(log, WAGER_PLACED)
    assert [(WAGER_ROLLED, 0, 3, payout)] == found(log, WAGER_ROLLED)
    assert [1] == actors(state)


@pytest.mark.rule("CORNER-2")
@pytest.mark.statement("R143")
@pytest.mark.parametrize("chosen", [(3,), (3, 4), (1, 3, 6)])
@pytest.mark.parametrize("ruleset", WAGERS)
def test_miss_loses_the_stake(ruleset: str, chosen: tuple[int, ...]) -> None:
    state = table(ruleset, at={0: 17})
    roll(state, 1, 2)

    log = act(state, (WAGER, 0, mask_of(chosen)), wager=2)

    assert 14_000 == state.cash[0]
    assert [(WAGER_ROLLED, 0, 2, 0)] == found(log, WAGER_ROLLED)


@pytest.mark.rule("CORNER-2")
@pytest.mark.statement("R144")
@pytest.mark.parametrize("ruleset", WAGERS)
def test_wager_is_worth_exactly_nothing(ruleset: str) -> None:
    """Over the six outcomes every one of the 41 choices has the expected value 0."""
    stake = RULESETS[ruleset].wager_stake

    for mask in WAGER_MASKS:
        numbers = mask.bit_count()
        payouts = [wager_payout(stake, numbers) if mask >> die & 1 else 0 for die in range(1, 7)]
        assert 0 == Fraction(sum(payouts), 6) - stake


@pytest.mark.rule("CORNER-2")
@pytest.mark.statement("R144")
@pytest.mark.parametrize("chosen", [(5,), (2, 5), (2, 5, 6)])
@pytest.mark.parametrize("ruleset", WAGERS)
def test_six_wagers_on_six_faces_give_back_what_they_take(
    ruleset: str, chosen: tuple[int, ...]
) -> None:
    won = 0
    for face in range(1, 7):
        state = table(ruleset, at={0: 17})
        roll(state, 1, 2)
        act(state, (WAGER, 0, mask_of(chosen)), wager=face)
        won += state.cash[0] - 15_000

    assert 0 == won


@pytest.mark.rule("CORNER-2")
@pytest.mark.statement("R145")
@pytest.mark.parametrize("ruleset", WAGERS)
def test_declining_is_free(ruleset: str) -> None:
    state = table(ruleset, at={0: 17})
    roll(state, 1, 2)

    log = act(state, DECLINE_WAGER_BY[0])

    assert [] == cash_moves(log)
    assert [(WAGER_DECLINED, 0)] == found(log, WAGER_DECLINED)
    assert [1] == actors(state)


@pytest.mark.rule("CORNER-2")
@pytest.mark.statement("R146")
@pytest.mark.parametrize(("cash", "phase"), [(999, PHASE_ROLL), (1_000, PHASE_WAGER)])
@pytest.mark.parametrize("ruleset", WAGERS)
def test_less_than_the_stake_is_offered_nothing(ruleset: str, cash: int, phase: int) -> None:
    state = table(ruleset, at={0: 17}, cash={0: cash})

    roll(state, 1, 2)

    assert phase == awaited_phase(state)


@pytest.mark.rule("CORNER-2")
@pytest.mark.parametrize("ruleset", WAGERS)
def test_the_last_cash_can_be_staked(ruleset: str) -> None:
    state = table(ruleset, at={0: 17}, cash={0: RULESETS[ruleset].wager_stake})
    roll(state, 1, 2)
    wagers = [action for action in legal_actions(state, 0) if action[KIND] == WAGER]

    assert len(WAGER_MASKS) == len(wagers)
    act(state, (WAGER, 0, mask_of((1,))), wager=6)
    assert 0 == state.cash[0]
    assert 0 == state.out_order[0]


@pytest.mark.rule("CORNER-2")
@pytest.mark.parametrize("numbers", [(), (1, 2, 3, 4), (7,), (0,)])
@pytest.mark.parametrize("ruleset", WAGERS)
def test_other_choices_are_refused(ruleset: str, numbers: tuple[int, ...]) -> None:
    state = table(ruleset, at={0: 17})
    roll(state, 1, 2)

    assert (WAGER_NUMBERS, "CORNER-2") == why(state, (WAGER, 0, mask_of(numbers)))


@pytest.mark.rule("CORNER-2")
def test_cash_spent_while_the_wager_is_open_closes_it() -> None:
    """With managing after the roll a seat may build first: then it can't stake what is gone."""
    ruleset = rules("classic@full", manage_after_roll=True)
    state = table(ruleset, at={0: 17}, cash={0: 1_400}, owns={0: (1, 3)})
    roll(state, 1, 2)

    act(state, BUILD_BY[0][1])

    assert (NOT_ENOUGH_CASH, "CORNER-2") == why(state, (WAGER, 0, 2))
    assert WAGER not in kinds(state, 0)
    assert is_legal(state, DECLINE_WAGER_BY[0])


@pytest.mark.rule("CORNER-2", "CLOCK-3")
@pytest.mark.parametrize("ruleset", WAGERS)
def test_clock_declines_the_wager(ruleset: str) -> None:
    state = table(ruleset, at={0: 17})
    roll(state, 1, 2)

    log = time_out(state)

    assert [(WAGER_DECLINED, 0)] == found(log, WAGER_DECLINED)
    assert 15_000 == state.cash[0]


@pytest.mark.rule("CORNER-2", "TURN-2")
@pytest.mark.parametrize("ruleset", WAGERS)
def test_double_rolls_again_after_the_wager(ruleset: str) -> None:
    state = table(ruleset, at={0: 16})
    roll(state, 2, 2)

    act(state, DECLINE_WAGER_BY[0])

    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("CORNER-3", "GOD-1")
@pytest.mark.statement("R034", "R035", "R044", "R053")
@pytest.mark.parametrize("ruleset", TEMPLE)
def test_temple_brings_the_wealth_god_and_costs_nothing(ruleset: str) -> None:
    state = table(ruleset, at={0: 17}, round_number=5)

    log = roll(state, 1, 2)

    assert [(GOD_ARRIVED, 0, GOD_WEALTH, 8)] == found(log, GOD_ARRIVED)
    assert [] == cash_moves(log)
    assert [1] == actors(state)
