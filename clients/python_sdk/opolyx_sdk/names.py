"""English names of squares and cards: invented places, one region a colour group."""

from typing import Final

SQUARE_NAMES: Final[tuple[str, ...]] = (
    "Start",
    "Clayhollow Lane",
    "Chance",
    "Potter's Row",
    "Income Tax",
    "Harbour Station",
    "Driftwood Quay",
    "Chance",
    "Saltmarsh Walk",
    "Lighthouse Point",
    "Jail",
    "Blossom Court",
    "Windmill Power",
    "Peony Terrace",
    "Rosewater Gardens",
    "Valley Station",
    "Amber Mill",
    "Chance",
    "Copperkettle Street",
    "Saffron Market",
    "The Third Corner",
    "Lantern Alley",
    "Chance",
    "Ember Square",
    "Phoenix Arcade",
    "Summit Station",
    "Sunfield Road",
    "Goldenrod Avenue",
    "Clearspring Water",
    "Honeycomb Heights",
    "Go to Jail",
    "Fernwood Drive",
    "Mossgate",
    "Chance",
    "Evergreen Crescent",
    "Island Station",
    "Chance",
    "Sapphire Bay",
    "Luxury Tax",
    "Starlight Tower",
)
"""Names of the 40 squares by number."""

CARD_NAMES: Final[tuple[str, ...]] = (
    "Advance to Start",
    "Year-end bonus",
    "Repairs on all buildings",
    "Forward to the nearest station",
    "Birthday",
    "Medical bill",
    "Forward to Phoenix Arcade",
    "Scratch card win",
    "Straight to jail",
    "Forward to the nearest utility",
    "Charity dinner",
    "Back three squares",
    "Dividend",
    "Forward to Blossom Court",
    "Tax audit",
    "Forward to Starlight Tower",
)
"""Names of the 16 Chance cards, by the number that CardDrawn carries, from 0."""


def square_name(square: int) -> str:
    """The name of a square."""
    return SQUARE_NAMES[square] if 0 <= square < len(SQUARE_NAMES) else f"square {square}"


def card_name(card: int) -> str:
    """The name of a card, by the number that CardDrawn carries."""
    return CARD_NAMES[card] if 0 <= card < len(CARD_NAMES) else f"card {card}"
