"""What a theme is: names of squares and cards, side by side in every language."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from opolyx_rules.content.boards import CHANCE, KIND
from opolyx_rules.content.decks import CARD_IDS, DECKS
from opolyx_rules.content.themes.printed import (
    CARDS,
    CHANCE_NAMES,
    FIXED_SQUARES,
    RENAMED_CARDS,
    THIRD_CORNERS,
)

LANGUAGES: Final[tuple[str, ...]] = ("en", "id", "zh-Hant", "hi")
"""Languages of all names, as BCP 47 tags; a row of names is in this order."""

Names: TypeAlias = tuple[str, str, str, str]
"""One name in each language, in the order of `LANGUAGES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The names printed on one board and its cards (BOARD-3)."""

    name: str
    """What a ruleset calls it."""
    squares: tuple[Names, ...]
    """Names of the 40 squares; square 20 has one that says nothing of what it does."""
    third_corners: tuple[Names, ...]
    """Names of square 20 by the ruleset's answer to `third_corner`: rest, wager, temple."""
    cards: dict[str, tuple[Names, ...]]
    """Names of the 16 cards of each deck, by the deck's name."""
    myriads: bool
    """Whether amounts in Chinese are shown in units of ten thousand."""


def make_theme(name: str, properties: dict[int, Names], *, myriads: bool = False) -> Theme:
    """A theme with these names of the 28 properties and the words that all themes share."""
    squares = tuple(_square(number, properties) for number in range(40))
    cards = {deck: tuple(_card(deck, card, squares) for card in CARD_IDS) for deck in sorted(DECKS)}
    return Theme(
        name=name,
        squares=squares,
        third_corners=THIRD_CORNERS,
        cards=cards,
        myriads=myriads,
    )


def _square(number: int, properties: dict[int, Names]) -> Names:
    if KIND[number] == CHANCE:
        return CHANCE_NAMES
    return FIXED_SQUARES[number] if number in FIXED_SQUARES else properties[number]


def _card(deck: str, card: str, squares: tuple[Names, ...]) -> Names:
    """Names of a card; a number in braces stands for the name of that square."""
    names = RENAMED_CARDS.get(deck, {}).get(card, CARDS[card])
    return (
        names[0].format(*[square[0] for square in squares]),
        names[1].format(*[square[1] for square in squares]),
        names[2].format(*[square[2] for square in squares]),
        names[3].format(*[square[3] for square in squares]),
    )
