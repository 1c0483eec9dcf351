"""What every dialog does, and what can come of a key."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rich.text import Text

from opolyx_sdk.actions import Action
from opolyx_sdk.decisions import Decision
from opolyx_sdk.terminal.painting import Hit, Painting, fitted, most_cells
from opolyx_sdk.text import Table

SHUT_KEYS: Final = frozenset({"escape", "q"})
"""Keys that close a dialog without a choice."""


@dataclass(frozen=True, slots=True)
class Act:
    """An action was chosen."""

    action: Action
    """The action."""

    decision: Decision | None = None
    """The decision that it answers, as it was shown; None where none is answered."""


@dataclass(frozen=True, slots=True)
class Open:
    """A dialog comes up."""

    dialog: "Dialog"
    """The dialog."""


@dataclass(frozen=True, slots=True)
class Shut:
    """The dialog goes away, and nothing is done."""


@dataclass(frozen=True, slots=True)
class Do:
    """Something is asked of the program: to leave, to save, to begin anew."""

    what: str
    """What, in a word."""


Outcome: TypeAlias = Act | Open | Shut | Do
"""What can come of a key."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a dialog."""

    text: Text | str
    """What it says."""

    key: str = ""
    """The key that it stands for, drawn before it; empty for a line that only tells."""

    hidden: bool = False
    """Whether its key is not drawn: a click counts all the same."""


class Dialog(ABC):
    """Something to choose in. It changes with each key; what it shows is drawn anew."""

    @abstractmethod
    def title(self, table: Table) -> str:
        """What it is about."""

    @abstractmethod
    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """Its lines, at most `height`, each at most `width` columns."""

    @abstractmethod
    def press(self, key: str) -> Outcome | None:
        """Take a key; None if it goes on."""

    def hints(self, table: Table) -> Sequence[tuple[str, str]]:
        """Keys worth telling of below, each with what it does."""
        return (("Esc", table.text("screen.keys.close")),)

    def paint(self, table: Table, width: int, height: int) -> Painting:
        """The dialog in a room of this size; as many lines as it needs."""
        lines: list[Text] = [Text(fitted(self.title(table), width), style="bold")]
        hits: list[Hit] = []
        rows = self.rows(table, width, height - 2)
        for row in rows[: height - 2]:
            if row.key:
                hits.append(Hit(0, len(lines), width, row.key))
            lines.append(_row(row, width))
        return add_hints(Painting(lines, hits), self.hints(table), width)


def add_hints(painting: Painting, hints: Sequence[tuple[str, str]], width: int) -> Painting:
    """The painting with a last line of keys, each of which can be clicked."""
    line, hits = Text(), list(painting.hits)
    y = len(painting.lines)
    for key, what in hints:
        part = f"[{key}] {what}"
        x = line.cell_len
        line.append(f"[{key}]", style="bold")
        told = f" {what}  "
        line.append(fitted(told, most_cells(told)))
        if x + len(part) <= width:
            hits.append(Hit(x, y, Text(part).cell_len, _NAMED.get(key, key)))
    line.rstrip()
    line.truncate(width, overflow="ellipsis")
    return Painting([*painting.lines, line], hits)


def _row(row: Row, width: int) -> Text:
    line = Text()
    if row.key and not row.hidden:
        line.append(f"[{row.key}] ", style="bold")
    line.append_text(row.text if isinstance(row.text, Text) else Text(row.text))
    line.truncate(width, overflow="ellipsis")
    return line


_NAMED: Final = {
    "Esc": "escape",
    "Enter": "enter",
    "Tab": "tab",
    "←→": "right",
    "↑↓": "down",
    "␣": "space",
}
"""Keys as they are drawn, and as they are called."""
