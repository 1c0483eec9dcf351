"""Halal: no interest and no gambling."""

from dataclasses import replace

from opolyx_rules.ruleset import CORNER_REST, FINANCING_MURABAHA, Ruleset


def halal(base: Ruleset) -> Ruleset:
    """The edition's base with a corner of rest, plain redeeming and murabaha."""
    return replace(
        base,
        mode="halal",
        third_corner=CORNER_REST,
        deck="halal",
        mortgage_interest_bp=0,
        financing=FINANCING_MURABAHA,
    )
