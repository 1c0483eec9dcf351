"""The third corner."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

CORNER: Final = Chapter(
    "CORNER",
    "The third corner",
    (
        Rule("CORNER-1", "As a place of rest it does nothing.", ("third_corner",)),
        Rule(
            "CORNER-2",
            "As a wager it takes a stake of {wager_stake} on one, two or three numbers of a die: a "
            "hit pays 6, 3 or 2 times the stake, so that nobody gains by it on average. Declining "
            "is free; without cash for the stake there is no offer.",
            ("wager_stake",),
        ),
        Rule("CORNER-3", "As a temple it brings the wealth god."),
    ),
)
