"""The four editions and all rulesets, `mode@edition`.

An edition is what one published text of the rules says; its base is its Classic. To add a mode:
one file in `modes/`, its import and its line in `_rulesets` here.
"""

from dataclasses import replace
from typing import Final

from opolyx_rules.modes.blitz import blitz
from opolyx_rules.modes.classic import classic
from opolyx_rules.modes.fortune import fortune
from opolyx_rules.modes.halal import halal
from opolyx_rules.modes.speed import speed
from opolyx_rules.modes.team import team
from opolyx_rules.ruleset import (
    BAIL_AFTER_ROLL,
    BANKRUPT_TO_TEAMMATE,
    CORNER_REST,
    FINANCING_LOAN,
    LAST_FREE_RELEASE,
    LAST_PAY_AND_STAY,
    XP_NONE,
    XP_WINNER,
    Ruleset,
)

ORIGINS: Final = Ruleset(
    mode="classic",
    edition="origins",
    start_landing_bonus=0,
    salary_until_tax=True,
    third_corner=CORNER_REST,
    trade_in_debt=False,
    trade_mortgaged=False,
    last_attempt=LAST_FREE_RELEASE,
    collection_bonus=False,
    xp=XP_NONE,
)
"""The oldest rules: one mode."""

GUIDE: Final = Ruleset(
    mode="classic",
    edition="guide",
    start_landing_bonus=0,
    third_corner=CORNER_REST,
    deck_shuffled=False,
    manage_after_roll=True,
    trade_mortgaged=False,
    last_attempt=LAST_PAY_AND_STAY,
    missed_turns=3,
    collection_bonus=False,
    xp=XP_WINNER,
)
"""The complete guide: Classic and Speed."""

TEAMS: Final = Ruleset(
    mode="classic",
    edition="teams",
    trade_mortgaged=False,
    bail_timing=BAIL_AFTER_ROLL,
)
"""Classic, Speed and Team, with the wager corner and collection cards."""

FULL: Final = Ruleset(
    mode="classic",
    edition="full",
    financing=FINANCING_LOAN,
)
"""All six modes. The default edition."""


def _rulesets() -> dict[str, Ruleset]:
    presets = (
        classic(ORIGINS),
        classic(GUIDE),
        replace(speed(GUIDE), builds_per_street=5),
        classic(TEAMS),
        speed(TEAMS),
        team(TEAMS),
        classic(FULL),
        blitz(FULL),
        speed(FULL),
        replace(team(FULL), team_bankruptcy=BANKRUPT_TO_TEAMMATE),
        halal(FULL),
        fortune(FULL),
    )
    return {preset.name: preset for preset in presets}


RULESETS: Final[dict[str, Ruleset]] = _rulesets()
"""Every ruleset by name."""


def get_ruleset(name: str) -> Ruleset:
    """The ruleset `mode@edition`.

    Raises:
        KeyError: No ruleset has this name.
    """
    if name not in RULESETS:
        raise KeyError(f"no ruleset {name!r}; there are {', '.join(sorted(RULESETS))}")
    return RULESETS[name]
