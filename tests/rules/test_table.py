"""Who can sit down, who begins, and with what (TABLE)."""

from collections import Counter
from typing import Any

import pytest

from opolyx_rules import ScriptedChance, SeededChance, State, actors, get_ruleset, start
from opolyx_rules.chance import FIRST_SEAT
from opolyx_rules.content.boards import PROPERTIES
from opolyx_rules.events import CASH_MOVED, GAME_STARTED, Log
from opolyx_rules.ids import BANK, CASH_START, NOBODY
from opolyx_rules.queries import are_allies, side_of
from support_rules import ALL, found, rules, rulesets_with

TEAM = [name for name in ALL if get_ruleset(name).sides]
SINGLE = rulesets_with(sides=0)


def started(name: str, seats: int, first: int = 0, log: Log | None = None) -> State:
    chance = ScriptedChance(other={FIRST_SEAT: [first]})
    return start(get_ruleset(name), seats, chance, log=log)


@pytest.mark.rule("TABLE-1")
@pytest.mark.statement("R003")
@pytest.mark.parametrize("name", SINGLE)
def test_two_to_six_play(name: str) -> None:
    for seats in (2, 3, 4, 5, 6):
        assert seats == started(name, seats).seats
    for seats in (0, 1, 7):
        with pytest.raises(ValueError, match=f"{name} is for 2, 3, 4, 5, 6 seats, not {seats}"):
            started(name, seats)


@pytest.mark.rule("TABLE-2")
@pytest.mark.statement("R003", "R019")
@pytest.mark.parametrize("name", TEAM)
def test_sides_are_four_or_six(name: str) -> None:
    for seats in (4, 6):
        assert seats == started(name, seats).seats
    for seats in (2, 3, 5, 7, 8):
        with pytest.raises(ValueError, match="is for 4, 6 seats"):
            started(name, seats)


@pytest.mark.rule("TABLE-2")
@pytest.mark.statement("R019")
@pytest.mark.parametrize("name", TEAM)
@pytest.mark.parametrize("seats", [4, 6])
def test_sides_are_equal_and_alternate(name: str, seats: int) -> None:
    state = started(name, seats)

    assert [0, 1] * (seats // 2) == [side_of(state, seat) for seat in range(seats)]
    assert are_allies(state, 0, 2)
    assert not are_allies(state, 0, 1)
    assert not are_allies(state, 2, 2)


@pytest.mark.rule("TABLE-2")
@pytest.mark.parametrize("name", SINGLE)
def test_without_sides_nobody_is_an_ally(name: str) -> None:
    state = started(name, 6)

    assert not any(are_allies(state, one, other) for one in range(6) for other in range(6))


@pytest.mark.rule("TABLE-5")
@pytest.mark.statement("R012")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("first", [0, 1, 2, 3])
def test_drawn_seat_begins(name: str, first: int) -> None:
    log: Log = []
    state = started(name, 4, first, log)

    assert [first] == actors(state)
    assert (first, first, 1) == (state.first_seat, state.turn_seat, state.turn_number)
    assert [(GAME_STARTED, first)] == found(log, GAME_STARTED)


@pytest.mark.rule("TABLE-5")
@pytest.mark.statement("R012")
def test_every_seat_begins_equally_often() -> None:
    ruleset = get_ruleset("classic@guide")
    firsts = Counter(
        start(ruleset, 4, SeededChance(number.to_bytes(2, "big"))).first_seat
        for number in range(800)
    )

    assert {0, 1, 2, 3} == set(firsts)
    assert all(150 <= count <= 250 for count in firsts.values())


@pytest.mark.rule("TABLE-7")
@pytest.mark.statement("R046", "R060")
@pytest.mark.parametrize("name", ALL)
def test_all_begin_on_start_with_15000_and_no_property(name: str) -> None:
    log: Log = []
    state = started(name, 4, log=log)

    assert [15_000] * 4 == state.cash
    assert [0] * 4 == state.position
    assert {NOBODY} == {state.owner[square] for square in PROPERTIES}
    assert 1 == state.round
    assert [(CASH_MOVED, BANK, seat, 15_000, CASH_START) for seat in range(4)] == found(
        log, CASH_MOVED
    )


@pytest.mark.rule("TABLE-7")
def test_start_cash_is_the_rulesets() -> None:
    assert [20_000] * 2 == start(rules(start_cash=20_000), 2, ScriptedChance()).cash


@pytest.mark.rule("TABLE-7")
@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("start_cash", 999, "start_cash must be from 1000 to 1000000, is 999"),
        ("start_cash", 1_000_001, "start_cash must be from 1000 to 1000000, is 1000001"),
        ("round_cap", 0, "round_cap must be from 1 to 1000, is 0"),
        ("deck", "tarot", "deck must be one of fortune, halal, standard, is 'tarot'"),
        ("rent_tax_full", 99, "rent_tax_full must not be before rent_tax_from"),
    ],
)
def test_senseless_rulesets_start_no_game(field: str, value: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        start(rules(**{field: value}), 4, ScriptedChance())


@pytest.mark.rule("TABLE-7")
@pytest.mark.parametrize("name", ALL)
def test_every_preset_is_sound(name: str) -> None:
    assert [] == get_ruleset(name).validate()
