"""Values of a ruleset's fields, in words for people."""

from typing import Final

from opolyx_rules.ruleset import (
    BAIL_AFTER_ROLL,
    BAIL_BEFORE_ROLL,
    BANKRUPT_LIQUIDATES,
    BANKRUPT_TO_TEAMMATE,
    CORNER_REST,
    CORNER_TEMPLE,
    CORNER_WAGER,
    FINANCING_LOAN,
    FINANCING_MURABAHA,
    FINANCING_NONE,
    LAST_FREE_RELEASE,
    LAST_PAY_AND_MOVE,
    LAST_PAY_AND_STAY,
    NEVER,
    XP_EVERY_SEAT,
    XP_NONE,
    XP_WINNER,
    Ruleset,
)

NONE: Final = "–"
"""What stands for a rule that a ruleset does without."""

_WORDS: Final[dict[str, dict[int, str]]] = {
    "third_corner": {CORNER_REST: "rest", CORNER_WAGER: "wager", CORNER_TEMPLE: "temple"},
    "bail_timing": {BAIL_BEFORE_ROLL: "before_roll", BAIL_AFTER_ROLL: "after_roll"},
    "last_attempt": {
        LAST_PAY_AND_MOVE: "pay_and_move",
        LAST_PAY_AND_STAY: "pay_and_stay",
        LAST_FREE_RELEASE: "free_release",
    },
    "team_bankruptcy": {BANKRUPT_LIQUIDATES: "liquidate", BANKRUPT_TO_TEAMMATE: "to_teammate"},
    "financing": {FINANCING_NONE: NONE, FINANCING_MURABAHA: "murabaha", FINANCING_LOAN: "loan"},
    "xp": {XP_NONE: "none", XP_WINNER: "winner", XP_EVERY_SEAT: "every_seat"},
    "sides": {0: NONE},
    "builds_per_street": {5: "any"},
    "eight_bonus": {0: NONE},
}


def shown(ruleset: Ruleset, field: str) -> str:
    """The value of a field for people: policies by name, shares in %, times in s."""
    value: int | str | bool = getattr(ruleset, field)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if field == "team_bankruptcy" and not ruleset.sides:
        return NONE
    if value in _WORDS.get(field, {}):
        return _WORDS[field][value]
    if value == NEVER:
        return NONE
    if field.endswith("_bp"):
        whole, rest = divmod(value, 100)
        return f"{whole} %" if rest == 0 else f"{whole}.{rest:02d} %"
    return f"{value} s" if field.endswith("_seconds") else str(value)
