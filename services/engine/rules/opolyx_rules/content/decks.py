"""Chance cards: rows of (effect, argument). To add a card, add its id and a row to a deck.

Effects are carried out in `mechanics/cards.py`; cards of one id have the same number in every deck.
"""

from typing import Final

# Effects; the argument's meaning behind each.
MOVE_TO: Final = 0  # forward to this square
NEAREST: Final = 1  # forward to the nearest property of this group
COLLECT: Final = 2  # this much from the bank
PAY: Final = 3  # this much to the bank
REPAIRS: Final = 4  # this much to the bank for each level owned
COLLECT_EACH: Final = 5  # this much from every opponent
PAY_EACH: Final = 6  # this much to every opponent
BACK: Final = 7  # back this many squares
TO_JAIL: Final = 8  # straight to jail
WEALTH_GOD: Final = 9  # the wealth god comes
MISFORTUNE_GOD: Final = 10  # the misfortune god comes
RED_PACKET: Final = 11  # this much times the opponents, split at random among them

Card = tuple[int, int]

_STATIONS: Final = 8
_UTILITIES: Final = 9

CARD_IDS: Final[tuple[str, ...]] = (
    "advance_start",
    "year_end_bonus",
    "repairs",
    "nearest_station",
    "birthday",
    "medical_bill",
    "to_square_24",
    "scratch_win",
    "go_to_jail",
    "nearest_utility",
    "charity_dinner",
    "back_three",
    "dividend",
    "to_square_11",
    "tax_audit",
    "to_square_39",
)
"""Id of each card by its number; number n is card n + 1 of CHANCE-3."""

STANDARD: Final[tuple[Card, ...]] = (
    (MOVE_TO, 0),
    (COLLECT, 2000),
    (REPAIRS, 250),
    (NEAREST, _STATIONS),
    (COLLECT_EACH, 200),
    (PAY, 500),
    (MOVE_TO, 24),
    (COLLECT, 1000),
    (TO_JAIL, 0),
    (NEAREST, _UTILITIES),
    (PAY_EACH, 500),
    (BACK, 3),
    (COLLECT, 1500),
    (MOVE_TO, 11),
    (PAY, 2500),
    (MOVE_TO, 39),
)
"""CHANCE-3, in its order."""

HALAL: Final[tuple[Card, ...]] = STANDARD
"""CHANCE-7: three cards have other names, which are the theme's, and the same effects."""

FORTUNE: Final[tuple[Card, ...]] = (
    STANDARD[0],
    (WEALTH_GOD, 0),
    *STANDARD[2:10],
    (RED_PACKET, 500),
    *STANDARD[11:14],
    (MISFORTUNE_GOD, 0),
    STANDARD[15],
)
"""CHANCE-8: two gods and a red packet."""

DECKS: Final[dict[str, tuple[Card, ...]]] = {
    "standard": STANDARD,
    "halal": HALAL,
    "fortune": FORTUNE,
}
"""Every deck by name."""
