"""Amounts of money as each language writes them; Fortune's in Chinese are in 萬."""

from typing import Final

from opolyx_sdk._themes_data import LANGUAGES, MYRIADS, RULESETS

_K_PER_MYRIAD: Final = 10


def amount_text(amount: int, ruleset: str = "", language: str = "en") -> str:
    """An amount of k (thousands), digits grouped by the language's custom.

    Chinese has Fortune's amounts in 萬, ten thousands: 15000 is 1,500萬 and 88 is 8.8萬.

    Raises:
        ValueError: amounts can't be written in this language.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no amounts in {language!r}; there are {', '.join(LANGUAGES)}")
    sign, size = "-" if amount < 0 else "", abs(amount)
    if language == "zh-Hant" and _in_myriads(ruleset):
        whole, tenths = divmod(size, _K_PER_MYRIAD)
        return f"{sign}{whole:,}{f'.{tenths}' if tenths else ''}萬"
    return f"{sign}{_grouped(size, language)}k"


def number_text(number: int, language: str = "en") -> str:
    """A whole number, digits grouped by the language's custom: 1,234,567 is 12,34,567 in Hindi.

    Raises:
        ValueError: numbers can't be written in this language.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no numbers in {language!r}; there are {', '.join(LANGUAGES)}")
    return f"{'-' if number < 0 else ''}{_grouped(abs(number), language)}"


def share_text(basis_points: int, language: str = "en") -> str:
    """A share in percent, as exact as it is: 250 basis points are 2.5%, in Indonesian 2,5%."""
    whole, rest = divmod(abs(basis_points), 100)
    part = f"{_point(language)}{rest:02}".rstrip("0") if rest else ""
    return f"{'-' if basis_points < 0 else ''}{number_text(whole, language)}{part}%"


def decimal_text(value: float, digits: int, language: str = "en") -> str:
    """A number with so many digits behind the point, which is a comma in Indonesian."""
    whole, _, part = f"{abs(value):.{digits}f}".partition(".")
    shown = f"{number_text(int(whole), language)}{_point(language) if part else ''}{part}"
    return f"-{shown}" if value < 0 else shown


def _point(language: str) -> str:
    return "," if language == "id" else "."


def _in_myriads(ruleset: str) -> bool:
    return ruleset in RULESETS and MYRIADS[RULESETS[ruleset][0]]


def _grouped(size: int, language: str) -> str:
    if language == "id":
        return f"{size:,}".replace(",", ".")
    if language == "hi":
        return _grouped_in_lakhs(size)
    return f"{size:,}"


def _grouped_in_lakhs(size: int) -> str:
    """Three digits, then pairs: 12,34,567."""
    if size < 1_000:
        return str(size)
    head, text = size // 1_000, f"{size % 1_000:03}"
    while head >= 100:
        text = f"{head % 100:02},{text}"
        head //= 100
    return f"{head},{text}"
