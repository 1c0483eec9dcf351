"""Columns that stand still behind Hindi text, whatever a terminal makes of its vowel signs.

Terminals don't agree on how wide Devanagari is: some give a spacing vowel sign a cell, some none, and
some draw a whole conjunct in one. What follows on the line would stand elsewhere in each of them. So
a text in Devanagari is written over blanks, from a position that is kept, and what follows is put
where the layout has it.
"""

import re
from typing import Final

from rich.cells import cell_len
from textual.driver import Driver

_FIELD: Final = re.compile(
    r"([\u0900-\u097f](?:[^\x00-\x1f \u2500-\u257f]| (?! ))*)((?: |\x1b\[[\d;]*m)*)"
)
"""From the first sign in Devanagari to two blanks, a line or a change of style; then what fills up."""

_KEEP: Final = "\x1b7"
_BACK: Final = "\x1b8"


def steady(output: str) -> str:
    """What is written to a terminal, with each text in Devanagari as wide as the layout has it."""
    return _FIELD.sub(_fixed, output)


def steady_driver(driver: type[Driver]) -> type[Driver]:
    """The driver of a terminal, so that all it writes is steady."""

    def write(self: Driver, data: str) -> None:
        driver.write(self, steady(data))

    return type(f"Steady{driver.__name__}", (driver,), {"write": write})


def _fixed(field: re.Match[str]) -> str:
    """A field: blanks, its text over them, and the cursor behind both."""
    text, filling = field.groups()
    own = cell_len(text)
    styles = filling.replace(" ", "")
    width = own + filling.count(" ")
    return f"{_KEEP}{' ' * own}{filling}{_BACK}{text}{_BACK}\x1b[{width}C{styles}"
