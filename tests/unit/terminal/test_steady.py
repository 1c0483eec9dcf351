"""What follows a Hindi text stands in the same column on every terminal."""

import re
from collections.abc import Callable
from unicodedata import category

import pytest
from rich.cells import cell_len
from rich.text import Text
from textual.driver import Driver
from textual.drivers.headless_driver import HeadlessDriver

from opolyx_sdk.terminal.painting import beside, fitted, most_cells, wrapped
from opolyx_sdk.terminal.steady import steady, steady_driver

Cells = Callable[[str], int]


def signs_take_none(sign: str) -> int:
    return 0 if category(sign) in ("Mn", "Mc") else 1


def signs_take_one(sign: str) -> int:
    return 0 if category(sign) == "Mn" else 1


def letters_take_two(sign: str) -> int:
    """A terminal that gets it quite wrong."""
    return 2 if category(sign) == "Lo" else signs_take_one(sign)


TERMINALS = pytest.mark.parametrize("terminal", [signs_take_none, signs_take_one, letters_take_two])


def seen(output: str, terminal: Cells, columns: int = 60) -> list[str]:
    """Return what stands in each column of one line: the last sign that was written there."""
    cells, x, kept = [" "] * columns, 0, 0
    for one in re.findall(r"\x1b[78]|\x1b\[[\d;]*[A-Za-z]|.", output):
        if one == "\x1b7":
            kept = x
        elif one == "\x1b8":
            x = kept
        elif one.endswith("C") and one.startswith("\x1b"):
            x += int(one[2:-1])
        elif not one.startswith("\x1b"):
            for column in range(x, x + terminal(one)):
                cells[column] = one
            x += terminal(one)
    return cells


@TERMINALS
@pytest.mark.parametrize("text", ["बारी", "अंगार चौक की नीलामी", "Ada ने कमल कुंज को 1,400k में ख़रीदा"])
def test_what_follows_stands_where_it_was_laid(terminal: Cells, text: str) -> None:
    line = f"│{fitted(text, 40)}│▶"

    assert ["│", "▶"] == seen(steady(line), terminal)[41:43]


@pytest.mark.parametrize("terminal", [signs_take_none, signs_take_one])
def test_all_of_a_text_is_seen(terminal: Cells) -> None:
    line = f"{fitted('नीलामी', 6)}│"

    marks = "".join(seen(steady(line), terminal))
    assert [sign in marks for sign in "नलम│"] == [True] * 4


@TERMINALS
def test_a_style_between_a_text_and_what_fills_it_up_is_kept(terminal: Cells) -> None:
    written = steady("\x1b[1mबारी\x1b[0m  \x1b[2m│")

    assert "│" == seen(written, terminal)[cell_len("बारी") + 2]
    assert written.endswith("\x1b[0m\x1b[2m│")


def test_other_languages_are_written_as_they_are() -> None:
    for text in ("Your turn  │\x1b[0m", "輪到你了│", "Giliranmu · sisa 9 dtk"):
        assert text == steady(text)


def test_the_driver_of_a_terminal_writes_so(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(HeadlessDriver, "write", lambda _, data: written.append(data))
    driver: Driver = steady_driver(HeadlessDriver).__new__(steady_driver(HeadlessDriver))

    driver.write("बारी│")

    assert written == [steady("बारी│")]


def test_there_is_room_for_signs_that_take_a_column() -> None:
    text = "फ़ैसले की कुंजियाँ कोष्ठक में दिखती हैं। " * 4

    lines = [line.plain for line in wrapped(text, 30)]
    assert max(map(most_cells, lines)) <= 30
    assert text.split() == " ".join(lines).split()
    assert ["bold"] == [str(one.style) for one in wrapped(Text("नीला", style="bold"), 30)[0].spans][
        :1
    ]
    assert most_cells(fitted(text, 30).rstrip()) <= 30
    assert 30 == cell_len(fitted(text, 30)) == cell_len(beside(text, "592 से. बाक़ी", 30))
    assert fitted("नीलामी", 6).startswith("नीलामी")
    assert fitted("नीलामी", 5).rstrip().endswith("…")
