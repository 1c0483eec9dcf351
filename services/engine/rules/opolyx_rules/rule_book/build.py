"""Building."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

BUILD: Final = Chapter(
    "BUILD",
    "Building",
    (
        Rule(
            "BUILD-1",
            "Who owns a whole group with no mortgage in it builds on its streets, up to five "
            "levels each, at the group's cost a level.",
        ),
        Rule(
            "BUILD-2",
            "With `even_build` no street of a group is ever more than one level above another, "
            "neither by building nor by selling.",
            ("even_build",),
        ),
        Rule(
            "BUILD-3",
            "A street takes only so many levels in one turn.",
            ("builds_per_street",),
        ),
        Rule(
            "BUILD-4",
            "The bank buys a level back for half its cost, and never runs out of buildings.",
        ),
    ),
)
