"""Team: two sides that win and lose together."""

from dataclasses import replace

from opolyx_rules.ruleset import Ruleset


def team(base: Ruleset) -> Ruleset:
    """The edition's base with two sides."""
    return replace(base, mode="team", sides=2)
