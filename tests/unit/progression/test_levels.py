"""Levels and ranks: XP-5, and the page made of them."""

from pathlib import Path

import pytest

from opolyx_progression.levels import (
    TOP_LEVEL,
    Rank,
    as_markdown,
    from_xp,
    level_of,
    level_table,
    rank_of,
    step_xp,
)

ROOT = Path(__file__).parents[3]


@pytest.mark.rule("XP-5")
def test_xp_5_each_step_costs_50_more_than_the_last() -> None:
    begins = 0
    for level in range(1, TOP_LEVEL):
        assert begins == from_xp(level)
        assert 100 + 50 * (level - 1) == step_xp(level)
        begins += step_xp(level)
    assert begins == from_xp(TOP_LEVEL)
    assert 0 == step_xp(TOP_LEVEL)


@pytest.mark.rule("XP-5")
@pytest.mark.statement("R201")
def test_xp_5_level_of_every_xp_is_the_last_that_begins_there() -> None:
    level = 1
    for xp in range(from_xp(TOP_LEVEL) + 1000):
        if level < TOP_LEVEL and xp == from_xp(level + 1):
            level += 1
        assert level == level_of(xp)
    assert TOP_LEVEL == level_of(10**12)


@pytest.mark.rule("XP-5")
@pytest.mark.statement("R201")
@pytest.mark.parametrize(
    ("level", "rank"),
    [
        (1, Rank.PEDDLER),
        (4, Rank.PEDDLER),
        (5, Rank.SHOPKEEPER),
        (9, Rank.SHOPKEEPER),
        (10, Rank.MERCHANT),
        (17, Rank.MERCHANT),
        (18, Rank.BANKER),
        (28, Rank.MAGNATE),
        (39, Rank.MAGNATE),
        (40, Rank.TYCOON),
        (54, Rank.TYCOON),
        (55, Rank.LEGEND),
        (60, Rank.LEGEND),
    ],
)
def test_xp_5_rank_begins_at_its_level(level: int, rank: Rank) -> None:
    assert rank is rank_of(level)


@pytest.mark.rule("XP-6")
@pytest.mark.statement("R200")
def test_xp_6_every_third_level_drops_a_card() -> None:
    assert list(range(3, 61, 3)) == [row.level for row in level_table() if row.drops_card]


@pytest.mark.statement("R203")
def test_page_of_levels_is_what_the_code_makes() -> None:
    """If it differs: `python -m opolyx_progression.levels > docs/levels.md`."""
    assert as_markdown() == (ROOT / "docs/levels.md").read_text("utf-8")
