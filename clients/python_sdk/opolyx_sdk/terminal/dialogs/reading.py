"""Something to read: help, the log, what somebody owns. Lines that can be scrolled."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rich.text import Text

from opolyx_sdk.terminal.dialogs.dialog import SHUT_KEYS, Dialog, Outcome, Row, Shut
from opolyx_sdk.text import Table

Written: TypeAlias = Callable[[Table, int], Sequence[Text]]
"""Lines for a number of columns, in a table's words."""

_PAGE = 8


class ReadingDialog(Dialog):
    """Lines; arrows scroll them, any key that isn't for that closes it."""

    def __init__(self, title: Callable[[Table], str], written: Written, *, at_end: bool) -> None:
        """Show lines.

        Args:
            title: the title.
            written: the lines.
            at_end: whether the last lines are shown first.
        """
        self._title = title
        self._written = written
        self._back = 0
        self._at_end = at_end
        self._farthest = 0

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return self._title(table)

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        lines = self._written(table, width)
        self._farthest = max(0, len(lines) - height)
        self._back = min(self._back, self._farthest)
        first = self._farthest - self._back if self._at_end else self._back
        return [Row(line) for line in lines[first : first + height]]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        steps = {"up": -1, "down": 1, "pageup": -_PAGE, "pagedown": _PAGE, "space": _PAGE}
        if key in steps:
            step = -steps[key] if self._at_end else steps[key]
            self._back = min(max(0, self._back + step), self._farthest)
        elif key in ("home", "end"):
            self._back = self._farthest if (key == "home") == self._at_end else 0
        elif key in SHUT_KEYS or key == "enter":
            return Shut()
        return None

    def hints(self, table: Table) -> Sequence[tuple[str, str]]:
        """See `Dialog`."""
        scrolls = (("↑↓", table.text("screen.keys.move")),) if self._farthest else ()
        return (*scrolls, *super().hints(table))
