"""The squares."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

BOARD: Final = Chapter(
    "BOARD",
    "The board",
    (
        Rule(
            "BOARD-1",
            "The board is a loop of 40 squares, walked towards higher numbers. 28 are property: 22 "
            "streets in eight colours, four stations, two utilities. The others are four corners "
            "(Start, jail and visitors, the third corner, go to jail), two taxes and six Chance "
            "squares.",
        ),
        Rule(
            "BOARD-2",
            "Prices, rents and costs of building are those of the table of squares, in every "
            "ruleset.",
        ),
        Rule(
            "BOARD-3",
            "Names are no rules: a theme names the squares and the cards in each language.",
            ("theme",),
        ),
    ),
)
