"""The rule book: every rule with its id, and the fields of a ruleset that it reads.

The pages in docs/rules are made of it. Nothing here is asked while a game is played.
"""

from dataclasses import fields
from typing import Final

from opolyx_rules.rule_book.auction import AUCTION
from opolyx_rules.rule_book.board import BOARD
from opolyx_rules.rule_book.build import BUILD
from opolyx_rules.rule_book.buy import BUY
from opolyx_rules.rule_book.chance import CHANCE
from opolyx_rules.rule_book.clock import CLOCK
from opolyx_rules.rule_book.corner import CORNER
from opolyx_rules.rule_book.debt import DEBT
from opolyx_rules.rule_book.die import DIE
from opolyx_rules.rule_book.end import END
from opolyx_rules.rule_book.entries import Chapter, Rule
from opolyx_rules.rule_book.fin import FIN
from opolyx_rules.rule_book.god import GOD
from opolyx_rules.rule_book.jail import JAIL
from opolyx_rules.rule_book.mort import MORT
from opolyx_rules.rule_book.rent import RENT
from opolyx_rules.rule_book.rtax import RTAX
from opolyx_rules.rule_book.table import TABLE
from opolyx_rules.rule_book.trade import TRADE
from opolyx_rules.rule_book.turn import TURN
from opolyx_rules.rule_book.values import shown
from opolyx_rules.rule_book.xp import XP
from opolyx_rules.ruleset import Ruleset

__all__ = [
    "CHAPTERS",
    "FIELDS",
    "Chapter",
    "Rule",
    "differing_fields",
    "rule_ids",
    "rules",
    "shown",
    "text_of",
]

CHAPTERS: Final[tuple[Chapter, ...]] = (
    TABLE,
    BOARD,
    TURN,
    BUY,
    AUCTION,
    RENT,
    RTAX,
    BUILD,
    MORT,
    TRADE,
    JAIL,
    CORNER,
    CHANCE,
    GOD,
    DEBT,
    CLOCK,
    DIE,
    FIN,
    END,
    XP,
)
"""All chapters in the book's order."""

FIELDS: Final[tuple[str, ...]] = tuple(
    field.name for field in fields(Ruleset) if field.name not in ("mode", "edition")
)
"""The fields of a ruleset that rules read, in its order."""


def rules(chapter: str | None = None) -> tuple[Rule, ...]:
    """The rules of a chapter, or all of them, in the book's order.

    Raises:
        KeyError: No chapter has this id.
    """
    if chapter is None:
        return tuple([rule for each in CHAPTERS for rule in each.rules])
    for each in CHAPTERS:
        if each.id == chapter:
            return each.rules
    raise KeyError(f"no chapter {chapter!r}; there are {', '.join([c.id for c in CHAPTERS])}")


def rule_ids() -> tuple[str, ...]:
    """Id of every rule, in the book's order."""
    return tuple([rule.id for rule in rules()])


def differing_fields(rulesets: list[Ruleset]) -> list[str]:
    """Fields in which the rulesets are not all alike, in their order."""
    return [field for field in FIELDS if len({getattr(ruleset, field) for ruleset in rulesets}) > 1]


def text_of(rule: Rule, rulesets: list[Ruleset]) -> str:
    """What the rule says, with the values of these rulesets; a value that differs by its name."""
    text = rule.text
    for field in rule.fields:
        values = {shown(ruleset, field) for ruleset in rulesets}
        text = text.replace(f"{{{field}}}", values.pop() if len(values) == 1 else f"`{field}`")
    return text
