"""Levels and ranks by XP. Pure; rule XP-5.

`python -m opolyx_progression.levels` prints the page `docs/levels.md`.
"""

import math
import sys
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

TOP_LEVEL: Final = 60
_FIRST_STEP: Final = 100
_STEP_GROWTH: Final = 50
_DROP_EVERY: Final = 3


class Rank(IntEnum):
    """Ranks. As on the wire: never renumber."""

    PEDDLER = 1
    SHOPKEEPER = 2
    MERCHANT = 3
    BANKER = 4
    MAGNATE = 5
    TYCOON = 6
    LEGEND = 7


RANK_FROM_LEVEL: Final[tuple[tuple[int, Rank], ...]] = (
    (1, Rank.PEDDLER),
    (5, Rank.SHOPKEEPER),
    (10, Rank.MERCHANT),
    (18, Rank.BANKER),
    (28, Rank.MAGNATE),
    (40, Rank.TYCOON),
    (55, Rank.LEGEND),
)
"""The level each rank begins at, ascending."""


@dataclass(frozen=True, slots=True)
class Level:
    """One row of the table."""

    level: int
    """1 to 60."""

    from_xp: int
    """XP at which it begins."""

    rank: Rank
    """Its rank."""

    drops_card: bool
    """Whether reaching it drops a card (XP-6)."""


def step_xp(level: int) -> int:
    """XP from `level` to the next; 0 at the top."""
    return 0 if level >= TOP_LEVEL else _FIRST_STEP + _STEP_GROWTH * (level - 1)


def from_xp(level: int) -> int:
    """XP at which `level` begins: the sum of the steps below it."""
    steps = level - 1
    return _FIRST_STEP * steps + _STEP_GROWTH * steps * (steps - 1) // 2


def level_of(xp: int) -> int:
    """The level reached with `xp`, 1 to 60: `from_xp` solved for the level, exact in integers."""
    # from_xp with n steps is 25n² + 75n, so n is the floor of (√(5625 + 100 xp) − 75) ÷ 50.
    half = _STEP_GROWTH // 2
    linear = _FIRST_STEP - half
    steps = (math.isqrt(linear * linear + 4 * half * xp) - linear) // (2 * half)
    return min(TOP_LEVEL, steps + 1)


def rank_of(level: int) -> Rank:
    """The rank of a level."""
    return max(rank for first, rank in RANK_FROM_LEVEL if first <= level)


def drops_card(level: int) -> bool:
    """Whether reaching the level drops a card (XP-6)."""
    return level % _DROP_EVERY == 0


def level_table() -> list[Level]:
    """All levels, ascending."""
    return [
        Level(level, from_xp(level), rank_of(level), drops_card(level))
        for level in range(1, TOP_LEVEL + 1)
    ]


def as_markdown() -> str:
    """The page of levels for the documentation."""
    lines = [
        "# Levels and ranks",
        "",
        "Made from the code by `python -m opolyx_progression.levels`; rules XP-5 and XP-6.",
        "",
        "| level | from XP | XP to the next | rank | drops a card |",
        "|---:|---:|---:|---|---|",
    ]
    lines += [_row(row) for row in level_table()]
    return "\n".join(lines) + "\n"


def _row(row: Level) -> str:
    step = str(step_xp(row.level) or "–")
    card = "yes" if row.drops_card else ""
    return f"| {row.level} | {row.from_xp} | {step} | {row.rank.name.capitalize()} | {card} |"


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
