"""Speed: the third die, uneven building, a mortgage clock, an early rent tax."""

from dataclasses import replace

from opolyx_rules.ruleset import Ruleset


def speed(base: Ruleset) -> Ruleset:
    """The edition's base, faster."""
    return replace(
        base,
        mode="speed",
        third_die_from=7,
        even_build=False,
        mortgage_rounds=10,
        rent_tax_from=40,
        rent_tax_full=100,
        round_cap=300,
        turn_seconds=45,
    )
