"""Classic: the whole game, as its edition's base has it."""

from dataclasses import replace

from opolyx_rules.ruleset import Ruleset


def classic(base: Ruleset) -> Ruleset:
    """The edition's base under the mode's name."""
    return replace(base, mode="classic")
