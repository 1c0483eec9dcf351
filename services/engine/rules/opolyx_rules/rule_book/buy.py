"""Buying from the bank."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

BUY: Final = Chapter(
    "BUY",
    "Buying",
    (
        Rule(
            "BUY-1",
            "Who stops on property without an owner buys it at its list price, or declines: then "
            "it is auctioned.",
        ),
        Rule(
            "BUY-2",
            "Who has not the cash is not asked: the auction begins at once. Where property may be "
            "managed after the roll, what could be raised counts as cash. A VIP who may finance "
            "is always asked.",
            ("manage_after_roll", "financing"),
        ),
        Rule("BUY-3", "Property comes without a mortgage and without buildings."),
    ),
)
