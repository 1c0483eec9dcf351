"""What a finished game earns."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

XP: Final = Chapter(
    "XP",
    "Experience",
    (
        Rule(
            "XP-1",
            "Where every seat earns, a person gets 200 XP for the first place, evenly less down to "
            "40 for the last, 25 for each full colour group at the end, and 50 for surviving.",
            ("xp",),
        ),
        Rule("XP-2", "A game that ends in round 20 or before earns nobody anything."),
        Rule(
            "XP-3",
            "Where only the winner earns, a game past round 20 gives the winner 200 XP and a card. "
            "Under the oldest rules nobody earns.",
        ),
        Rule("XP-4", "Bots earn nothing. With fewer than two people in the game it earns half."),
        Rule(
            "XP-5",
            "From level L to the next it takes 100 + 50 × (L - 1) XP, up to level 60. Ranks begin "
            "at levels 1, 5, 10, 18, 28, 40 and 55: Peddler, Shopkeeper, Merchant, Banker, "
            "Magnate, Tycoon, Legend.",
        ),
        Rule(
            "XP-6",
            "Every third level drops a collection card of a random property: common 70 %, rare "
            "20 %, epic 8 %, legendary 2 %, and at levels 30 and 60 at least epic.",
        ),
        Rule(
            "XP-7",
            "A game is paid once to each seat, however often its result arrives, and never when it "
            "did not finish.",
        ),
    ),
)
