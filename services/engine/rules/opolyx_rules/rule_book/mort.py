"""Mortgages."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

MORT: Final = Chapter(
    "MORT",
    "Mortgages",
    (
        Rule("MORT-1", "A mortgage pays half the list price; the property then takes no rent."),
        Rule(
            "MORT-2",
            "Redeeming costs what the mortgage paid and the interest on that.",
            ("mortgage_interest_bp",),
        ),
        Rule("MORT-3", "The buildings of the whole group are sold first."),
        Rule(
            "MORT-4",
            "With a mortgage clock, property that has not been redeemed so many rounds after the "
            "round of its mortgage falls to the bank, free of it, when its owner's turn begins; "
            "until then each of these turns tells how many rounds are left. A mortgage that "
            "changes hands keeps its count.",
            ("mortgage_rounds",),
        ),
    ),
)
