"""The dialogs of a replay: a round to jump to, a form to save it in."""

from collections.abc import Sequence
from typing import Final

from opolyx_sdk.terminal.dialogs.dialog import SHUT_KEYS, Dialog, Do, Outcome, Row, Shut
from opolyx_sdk.text import Table

JUMP: Final = "jump:"
EXPORT: Final = "export:"
_FORMS: Final = ("text", "json", "chart", "board")
_MOST_DIGITS: Final = 4


class RoundDialog(Dialog):
    """A round's number, typed."""

    def __init__(self, rounds: int) -> None:
        """Ask for one of so many rounds."""
        self._rounds = rounds
        self._typed = ""

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return table.text("screen.replay.jump")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        return [
            Row(table.text("screen.replay.type_round", round=f"{self._typed}▏")),
            Row(f"1–{self._rounds}"),
        ]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if key in SHUT_KEYS:
            return Shut()
        if key == "enter":
            return Do(f"{JUMP}{self._typed}") if self._typed else None
        if key == "backspace":
            self._typed = self._typed[:-1]
        elif key.isdecimal() and key.isascii() and len(self._typed) < _MOST_DIGITS:
            self._typed += key
        return None


class ExportDialog(Dialog):
    """A form to save the game in."""

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return table.text("screen.export.title")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        return [
            Row(table.text(f"screen.export.{form}"), str(number))
            for number, form in enumerate(_FORMS, 1)
        ]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if key in SHUT_KEYS:
            return Shut()
        if key.isdecimal() and 0 < int(key) <= len(_FORMS):
            return Do(f"{EXPORT}{_FORMS[int(key) - 1]}")
        return None
