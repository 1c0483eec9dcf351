"""The end of a game and its result."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

END: Final = Chapter(
    "END",
    "The end",
    (
        Rule(
            "END-1",
            "The game is over when one player is left, or one side, or when the last round is "
            "complete.",
            ("round_cap",),
        ),
        Rule(
            "END-2",
            "After the last round the greatest net worth wins, among equals the lower seat; a side "
            "is worth what its players are worth together.",
        ),
        Rule(
            "END-3",
            "Net worth is cash, property at list price or, mortgaged, at half, and buildings at "
            "cost, less what is owed for financing.",
        ),
        Rule(
            "END-4",
            "Survivors are placed by net worth, then the others, the last to go first. A side "
            "shares one place.",
        ),
        Rule(
            "END-5",
            "The result says of each seat its place, whether it survived, its net worth and its "
            "full colour groups, and of the game its last round.",
        ),
    ),
)
