"""The 40 squares: a second copy of their numbers, to be changed by hand only (BOARD)."""

from dataclasses import replace

import pytest

from opolyx_rules import SeededChance, actors, apply, get_ruleset, legal_actions, start
from opolyx_rules.content.boards import (
    BUILD_COST,
    CHANCE,
    CORNER,
    GO_TO_JAIL,
    GROUP,
    GROUPS,
    JAIL,
    KIND,
    MAX_LEVEL,
    PRICE,
    PROPERTIES,
    RENTS,
    START,
    STATION,
    STREET,
    TAX,
    UTILITY,
)
from opolyx_rules.views import public_view
from support_rules import ALL, roll, table

STREETS = """
1 600 500 20 100 300 900 1600 2500
3 600 500 40 200 600 1800 3200 4500
6 1000 500 60 300 900 2700 4000 5500
8 1000 500 60 300 900 2700 4000 5500
9 1200 500 80 400 1000 3000 4500 6000
11 1400 1000 100 500 1500 4500 6250 7500
13 1400 1000 100 500 1500 4500 6250 7500
14 1600 1000 120 600 1800 5000 7000 9000
16 1800 1000 140 700 2000 5500 7500 9500
18 1800 1000 140 700 2000 5500 7500 9500
19 2000 1000 160 800 2200 6000 8000 10000
21 2200 1500 180 900 2500 7000 8750 10500
23 2200 1500 180 900 2500 7000 8750 10500
24 2400 1500 200 1000 3000 7500 9250 11000
26 2600 1500 220 1100 3300 8000 9750 11500
27 2600 1500 220 1100 3300 8000 9750 11500
29 2800 1500 240 1200 3600 8500 10250 12000
31 3000 2000 260 1300 3900 9000 11000 12750
32 3000 2000 260 1300 3900 9000 11000 12750
34 3200 2000 280 1500 4500 10000 12000 14000
37 3500 2000 350 1750 5000 11000 13000 15000
39 4000 2000 500 2000 6000 14000 17000 20000
"""
GROUPED = (
    (1, 3),
    (6, 8, 9),
    (11, 13, 14),
    (16, 18, 19),
    (21, 23, 24),
    (26, 27, 29),
    (31, 32, 34),
    (37, 39),
    (5, 15, 25, 35),
    (12, 28),
)


@pytest.mark.rule("BOARD-1")
@pytest.mark.statement("R045", "R047", "R048", "R049", "R050")
def test_forty_squares_of_which_28_are_property() -> None:
    assert 40 == len(KIND)
    assert 28 == len(PROPERTIES)
    assert (22, 4, 2) == (KIND.count(STREET), KIND.count(STATION), KIND.count(UTILITY))
    assert sorted(square for group in GROUPED for square in group) == list(PROPERTIES)


@pytest.mark.rule("BOARD-1")
@pytest.mark.statement("R052", "R055", "R057")
def test_corners_taxes_and_chance_have_their_places() -> None:
    assert (START, JAIL, CORNER, GO_TO_JAIL) == (KIND[0], KIND[10], KIND[20], KIND[30])
    assert [4, 38] == [square for square in range(40) if KIND[square] == TAX]
    assert [2, 7, 17, 22, 33, 36] == [square for square in range(40) if KIND[square] == CHANCE]


@pytest.mark.rule("BOARD-1")
@pytest.mark.statement("R045", "R046")
@pytest.mark.parametrize("name", ALL)
def test_tokens_walk_to_higher_numbers_and_round_the_loop(name: str) -> None:
    state = table(name, at={0: 39, 1: 4})
    roll(state, 5, 6)
    assert 10 == state.position[0]

    roll(state, 1, 5)
    assert 10 == state.position[1]


@pytest.mark.rule("BOARD-2")
@pytest.mark.statement("R051")
def test_streets_have_their_numbers() -> None:
    rows = [tuple(map(int, line.split())) for line in STREETS.split("\n") if line]
    actual = [(sq, PRICE[sq], BUILD_COST[sq], *RENTS[sq]) for sq in range(40) if KIND[sq] == STREET]

    assert rows == actual
    assert {MAX_LEVEL + 1} == {len(RENTS[square]) for square in range(40) if KIND[square] == STREET}


@pytest.mark.rule("BOARD-2")
@pytest.mark.statement("R102", "R056")
def test_groups_stations_utilities_and_taxes_have_their_numbers() -> None:
    assert GROUPED == GROUPS
    assert all(GROUP[square] == group for group in range(10) for square in GROUPS[group])
    for square in (5, 15, 25, 35):
        assert (2000, (250, 500, 1000, 2000)) == (PRICE[square], RENTS[square])
    for square in (12, 28):
        assert (1500, (40, 100)) == (PRICE[square], RENTS[square])
    assert (2000, 1000) == (PRICE[4], PRICE[38])


@pytest.mark.rule("BOARD-3")
@pytest.mark.statement("R015", "R033")
@pytest.mark.parametrize("name", ALL)
def test_a_theme_changes_no_play(name: str) -> None:
    """Two games by the same dice, of which one has other names, stay the same."""
    views = []
    for theme in ("world", "fortune"):
        chance = SeededChance(b"theme")
        state = start(replace(get_ruleset(name), theme=theme), 4, chance)
        for _ in range(60):
            apply(state, legal_actions(state, actors(state)[0])[0], chance)
        views.append(public_view(state))

    assert views[0] == views[1]


@pytest.mark.rule("BOARD-3")
@pytest.mark.statement("R033")
def test_only_fortune_has_a_theme_of_its_own() -> None:
    themes = {name: get_ruleset(name).theme for name in ALL}

    assert "fortune" == themes.pop("fortune@full")
    assert {"world"} == set(themes.values())
