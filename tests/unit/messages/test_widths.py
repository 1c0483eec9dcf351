"""Texts fit a terminal of 80 columns, in the cells that Chinese and Devanagari take."""

from functools import cache
from typing import Final

import pytest
from rich.cells import cell_len
from wcwidth import wcswidth

from opolyx_rules import RULESETS
from opolyx_sdk import events as e
from opolyx_sdk.enums import CashCause, God, SurrenderCause
from opolyx_sdk.messages import LANGUAGES, Table
from opolyx_sdk.messages.catalogue import read_texts
from opolyx_sdk.messages.patterns import parse, slots
from opolyx_sdk.text import describe

EVERY_LANGUAGE: Final = pytest.mark.parametrize("language", LANGUAGES)
COLUMNS: Final = 80

LIMITS: Final = {
    "screen.keys": 14,
    "screen.do": 50,
    "screen.phase": 28,
    "phase": 20,
    "mode": 16,
    "group": 14,
    "rank": 20,
    "god": 20,
    "action": 56,
    "mode_about": 76,
    "refusal": 76,
    "refusal_with": 78,
    "event": 110,
}
"""Cells of the longest text of a section; events are wrapped to two lines."""

WORDS: Final = {"amount": 9, "cash": 9, "price": 9, "names": 30}
"""How wide values are, where it isn't 12."""


source = cache(read_texts)


def cells(text: str) -> int:
    """Return the cells that a text takes, by those who count Hindi's vowel signs and who don't."""
    wide = wcswidth(text)
    assert wide >= 0, f"a control character in {text!r}"
    return max(wide, cell_len(text))


def filled(language: str, key: str) -> str:
    """Return a text with values as wide as they are in games."""
    names = slots(parse(source(language)[key]))
    return Table((), language=language).text(
        key, **{name: "x" * WORDS.get(name, 12) for name in names}
    )


@EVERY_LANGUAGE
@pytest.mark.parametrize("section", LIMITS)
def test_a_text_fits_where_it_stands(language: str, section: str) -> None:
    texts = source(language)
    wide = {
        key: cells(text)
        for key in texts
        if key.startswith(f"{section}.") and cells(text := filled(language, key)) > LIMITS[section]
    }

    assert wide == {}


@EVERY_LANGUAGE
def test_a_name_of_a_square_or_card_fits_a_line(language: str) -> None:
    for name in RULESETS:
        table = Table((), name, language)
        assert max(cells(table.where(square)) for square in range(40)) <= 30
        assert max(cells(table.card(card)) for card in range(16)) <= 48


@EVERY_LANGUAGE
def test_the_longest_lines_of_the_log_fit_two_lines(language: str) -> None:
    names = ["Bartholomew the 2nd", "Wilhelmina of York"]
    long: list[e.Event] = [
        e.RentCharged(0, 1, 28, 123_456, 0, 0),
        e.PropertyFinanced(0, 23, 123_456, 135),
        e.GodArrived(0, God.WEALTH, 135),
        e.MortgageCounted(0, 23, 3),
        e.Surrendered(0, SurrenderCause.MISSED_TURNS),
        e.CashMoved(0, 1, 123_456, CashCause.TRADE),
    ]

    table = Table(names, "fortune@full", language)
    assert max(cells(describe(event, table)) for event in long) <= 2 * COLUMNS


def test_a_text_that_is_too_wide_would_be_noticed() -> None:
    assert 8 == cells("財神降臨")
    assert cells("हिन्दी") in (3, 4)
    assert cells(filled("en", "screen.do.buy")) > cells("Buy  for ")


@EVERY_LANGUAGE
def test_the_keys_of_the_longest_dialog_fit_a_line(language: str) -> None:
    table = Table((), language=language)
    dialog = "[←→]   [↑↓] {}  [␣] {}  [p] {}  [Enter] {}  [Esc] {}"
    words = ("keys.move", "keys.choose", "trade.partner", "trade.enter", "keys.close")

    assert cells(dialog.format(*[table.text(f"screen.{word}") for word in words])) <= 76
