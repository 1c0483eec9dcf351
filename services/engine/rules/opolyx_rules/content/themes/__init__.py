"""Themes: names of squares and cards in every language (BOARD-3). Data, not rules.

No rule reads a name. To add a theme: one file with the names of the 28 properties, and its line in
`THEMES`. The SDK has a copy of all names, made by `tools/generate_themes.py`.
"""

from typing import Final

from opolyx_rules.content.themes.fortune import FORTUNE
from opolyx_rules.content.themes.theme import LANGUAGES, Names, Theme
from opolyx_rules.content.themes.world import WORLD

__all__ = ["LANGUAGES", "THEMES", "Names", "Theme", "card_name", "square_name", "theme"]

THEMES: Final[dict[str, Theme]] = {one.name: one for one in (WORLD, FORTUNE)}
"""Every theme by name."""

_THIRD_CORNER: Final = 20


def theme(name: str) -> Theme:
    """The theme of this name.

    Raises:
        KeyError: No theme has this name.
    """
    if name not in THEMES:
        raise KeyError(f"no theme {name!r}; there are {', '.join(sorted(THEMES))}")
    return THEMES[name]


def square_name(theme_name: str, language: str, square: int, corner_policy: int) -> str:
    """The name of a square, 0..39; `corner_policy` is the ruleset's `third_corner`.

    Raises:
        KeyError: There is no such theme or language.
    """
    board = theme(theme_name)
    names = board.third_corners[corner_policy] if square == _THIRD_CORNER else board.squares[square]
    return names[_column(language)]


def card_name(theme_name: str, deck: str, language: str, number: int) -> str:
    """The name of a card by its number in the deck, 0..15, as the event of its drawing has it.

    Raises:
        KeyError: There is no such theme, deck or language.
    """
    return theme(theme_name).cards[deck][number][_column(language)]


def _column(language: str) -> int:
    if language not in LANGUAGES:
        raise KeyError(f"no names in {language!r}; there are {', '.join(LANGUAGES)}")
    return LANGUAGES.index(language)
