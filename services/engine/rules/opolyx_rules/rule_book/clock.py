"""Clocks."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

CLOCK: Final = Chapter(
    "CLOCK",
    "Clocks",
    (
        Rule(
            "CLOCK-1",
            "Every step that waits for a player has a deadline that all can see. Bids and payment "
            "pauses have times of their own.",
            ("turn_seconds", "auction_seconds", "payment_seconds"),
        ),
        Rule(
            "CLOCK-2",
            "Rolling starts a new step with a fresh clock, and so does every decision after it. "
            "Building, mortgaging and trading start none.",
        ),
        Rule(
            "CLOCK-3",
            "Who lets the time before the roll run out is skipped, in jail without using up an "
            "attempt. A choice that must be made is made by the game: no purchase, no wager, the "
            "sum of the bus, and a triple stays where it is.",
        ),
        Rule(
            "CLOCK-4",
            "A turn of one's own in which the time ran out is a missed turn; too many of them one "
            "after another are a surrender. Any accepted action makes the count 0. Time that runs "
            "out in somebody else's turn, or in an auction, does not count.",
            ("missed_turns",),
        ),
        Rule(
            "CLOCK-5",
            "Deadlines are moments in the game's record and outlive the server. What arrives at a "
            "deadline or later is refused, whether the timer has acted yet or not. After an outage "
            "the awaited player has at least 10 s.",
        ),
        Rule(
            "CLOCK-6",
            "What is refused changes nothing: not the game, not the clock, not the count of missed "
            "turns. Losing the connection is no surrender.",
        ),
    ),
)
