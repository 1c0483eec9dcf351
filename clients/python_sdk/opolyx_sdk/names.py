"""Names of squares and cards in every language, as each ruleset has them (BOARD-3)."""

from typing import Final

from opolyx_sdk._themes_data import CARDS, RULESETS, SQUARES, THIRD_CORNERS
from opolyx_sdk._themes_data import LANGUAGES as _LANGUAGES

LANGUAGES: Final[tuple[str, ...]] = _LANGUAGES
"""Languages of all names, BCP 47 tags: en, id, zh-Hant, hi."""

_THIRD_CORNER: Final = 20


def square_name(square: int, ruleset: str = "", language: str = "en") -> str:
    """The name of a square, 0..39.

    A ruleset that this SDK does not know has the names of most others; what its third corner does
    is then not told by its name.

    Raises:
        ValueError: there are no names in this language.
    """
    theme, _, corner = _printed(ruleset, language)
    if square == _THIRD_CORNER and corner is not None:
        return THIRD_CORNERS[theme, language][corner]
    names = SQUARES[theme, language]
    return names[square] if 0 <= square < len(names) else f"#{square}"


def card_name(card: int, ruleset: str = "", language: str = "en") -> str:
    """The name of a Chance card by the number that `CardDrawn` carries, 0..15.

    Raises:
        ValueError: there are no names in this language.
    """
    theme, deck, _ = _printed(ruleset, language)
    names = CARDS[theme, deck, language]
    return names[card] if 0 <= card < len(names) else f"#{card}"


def _printed(ruleset: str, language: str) -> tuple[str, str, int | None]:
    """Theme, deck and third corner of a ruleset."""
    if language not in LANGUAGES:
        raise ValueError(f"no names in {language!r}; there are {', '.join(LANGUAGES)}")
    return RULESETS.get(ruleset, ("world", "standard", None))
