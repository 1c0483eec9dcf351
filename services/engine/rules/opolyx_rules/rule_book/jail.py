"""Jail."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

JAIL: Final = Chapter(
    "JAIL",
    "Jail",
    (
        Rule(
            "JAIL-1",
            "Square 30, a card and the third double lead to jail: straight there, without salary.",
        ),
        Rule(
            "JAIL-2",
            "Bail is {bail}. Paid before the roll, the turn goes on as usual, doubles included; "
            "paid after a roll that failed, the prisoner walks by that roll.",
            ("bail", "bail_timing"),
        ),
        Rule(
            "JAIL-3",
            "Or roll for a double, {jail_attempts} times at most; it walks its sum and does not "
            "roll again.",
            ("jail_attempts",),
        ),
        Rule(
            "JAIL-4",
            "After the last failure the prisoner is free: the bail is owed and the roll is walked, "
            "or the bail is owed and the turn is over, or nothing is owed and the turn is over.",
            ("last_attempt",),
        ),
        Rule(
            "JAIL-5",
            "No card opens the jail, and sitting costs nothing. A prisoner collects, bids, manages "
            "and trades.",
        ),
        Rule("JAIL-6", "The third die is not rolled in jail."),
    ),
)
