"""The menu below the board."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from opolyx_sdk.terminal.menu import Entry
from opolyx_sdk.terminal.painting import Hit, Painting, fitted
from opolyx_sdk.text import Table

_FEW: Final = 3
_MOST_COLUMNS: Final = 4


def draw_menu(
    entries: Sequence[Entry], marked: int | None, table: Table, width: int, room: int
) -> Painting:
    """The entries in as many columns as they need, with their keys.

    Args:
        entries: what may be done.
        marked: the one that Enter takes; None for none.
        table: how it is told.
        width: columns.
        room: lines.
    """
    if not entries:
        return Painting()
    columns = 1 if len(entries) <= _FEW else 2
    while columns < _MOST_COLUMNS and -(-len(entries) // columns) > room:
        columns += 1
    tall, wide = -(-len(entries) // columns), width // columns
    lines = [Text() for _ in range(tall)]
    hits = []
    for number, entry in enumerate(entries):
        y, x = number % tall, number // tall * wide
        label = f"{'▸' if number == marked else ' '}[{entry.key}] {entry.label(table)}"
        lines[y].append(fitted(label, wide), style="bold" if number == marked else "")
        hits.append(Hit(x, y, wide, entry.key))
    return Painting(lines, hits)
