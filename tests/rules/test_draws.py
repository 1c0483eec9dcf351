"""What is drawn from chance, from which stream and between which bounds: nothing else is."""

import pytest

from opolyx_rules import RULESETS, Chance, State, actors, apply, start
from opolyx_rules.actions import ROLL_BY, WAGER, mask_of
from opolyx_rules.chance import DECK, DICE, FIRST_SEAT, PACKET, THIRD_DIE
from opolyx_rules.chance import WAGER as WAGER_STREAM
from opolyx_rules.ruleset import CORNER_WAGER
from support_rules import ALL, stack_deck, table


class NotingChance(Chance):
    """Gives the same number always, and notes what it is asked for."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.asked: list[tuple[int, int]] = []

    def draw(self, label: int, sides: int) -> int:
        self.asked.append((label, sides))
        return min(self.number, sides - 1)


def asked_by_a_roll(state: State, number: int = 0) -> list[tuple[int, int]]:
    chance = NotingChance(number)
    apply(state, ROLL_BY[actors(state)[0]], chance)
    return chance.asked


@pytest.mark.rule("TABLE-5", "CHANCE-1")
@pytest.mark.parametrize("ruleset", ALL)
def test_start_draws_the_first_seat_and_the_order_of_the_deck(ruleset: str) -> None:
    chance = NotingChance(0)

    start(RULESETS[ruleset], 4, chance)

    shuffle = [(DECK, sides) for sides in range(16, 1, -1)]
    assert [(FIRST_SEAT, 4)] + (shuffle if RULESETS[ruleset].deck_shuffled else []) == chance.asked


@pytest.mark.rule("TURN-1", "DIE-1")
@pytest.mark.parametrize(("round_number", "third"), [(6, 0), (7, 1)])
@pytest.mark.parametrize("ruleset", ALL)
def test_roll_draws_two_dice_and_the_third_where_it_is_rolled(
    ruleset: str, round_number: int, third: int
) -> None:
    state = table(ruleset, round_number=round_number)
    third_dice = third if RULESETS[ruleset].third_die_from == 7 else 0

    assert [(DICE, 6)] * 2 + [(THIRD_DIE, 6)] * third_dice == asked_by_a_roll(state)


@pytest.mark.rule("JAIL-6")
@pytest.mark.parametrize("ruleset", ALL)
def test_roll_in_jail_draws_two_dice(ruleset: str) -> None:
    state = table(ruleset, round_number=7, jailed={0: 0})

    assert [(DICE, 6)] * 2 == asked_by_a_roll(state)


@pytest.mark.rule("CORNER-2")
@pytest.mark.parametrize(
    "ruleset", [name for name in ALL if RULESETS[name].third_corner == CORNER_WAGER]
)
def test_wager_draws_one_die(ruleset: str) -> None:
    state = table(ruleset, at={0: 18})
    apply(state, ROLL_BY[0], NotingChance(0))
    chance = NotingChance(0)

    apply(state, (WAGER, 0, mask_of((1,))), chance)

    assert [(WAGER_STREAM, 6)] == chance.asked


@pytest.mark.rule("CHANCE-8")
@pytest.mark.parametrize("seats", [2, 4, 6])
def test_red_packet_draws_a_cut_for_each_opponent_but_one(seats: int) -> None:
    """Any point from 0 to the total."""
    state = table("fortune@full", seats=seats, at={0: 5})
    stack_deck(state, "charity_dinner")

    cuts = [(PACKET, 500 * (seats - 1) + 1)] * (seats - 2)
    assert [(DICE, 6)] * 2 + cuts == asked_by_a_roll(state)
