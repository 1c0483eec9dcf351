"""Blitz: Classic with a finishing line."""

from dataclasses import replace

from opolyx_rules.ruleset import NEVER, Ruleset


def blitz(base: Ruleset) -> Ruleset:
    """25 rounds, a slightly shorter clock, no rent tax."""
    return replace(
        base,
        mode="blitz",
        round_cap=25,
        turn_seconds=60,
        rent_tax_from=NEVER,
        rent_tax_full=NEVER,
    )
