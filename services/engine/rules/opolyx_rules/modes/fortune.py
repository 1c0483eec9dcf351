"""Fortune: gods, red packets and the lucky eight."""

from dataclasses import replace

from opolyx_rules.ruleset import CORNER_TEMPLE, Ruleset


def fortune(base: Ruleset) -> Ruleset:
    """The edition's base with a temple, its own deck and theme."""
    return replace(
        base,
        mode="fortune",
        third_corner=CORNER_TEMPLE,
        deck="fortune",
        eight_bonus=88,
        theme="fortune",
    )
