"""Gods and the lucky eight."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

GOD: Final = Chapter(
    "GOD",
    "Gods",
    (
        Rule(
            "GOD-1",
            "The wealth god raises the rents that its player takes, the misfortune god those that "
            "its player owes, by {god_bp} for {god_rounds} rounds; the tenant pays.",
            ("god_bp", "god_rounds"),
        ),
        Rule(
            "GOD-2",
            "A player has one god: the new one drives out the old. It leaves when the player's own "
            "turn begins, that many rounds after it came.",
        ),
        Rule(
            "GOD-3",
            "A roll whose white dice total 8 pays a bonus from the bank, in jail too.",
            ("eight_bonus",),
        ),
    ),
)
