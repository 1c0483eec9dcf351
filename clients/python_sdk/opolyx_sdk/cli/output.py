"""How commands print: tables for people, tabs for pipes, one JSON object for programs."""

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from unicodedata import category


def print_json(**values: object) -> None:
    """One JSON object; enumerations by their names in lower case, bytes in hex."""
    print(json.dumps({name: _plain(value) for name, value in values.items()}, ensure_ascii=False))


def print_table(
    head: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: Sequence[str] = ()
) -> None:
    """A table on a terminal; else one line a row, its columns parted by tabs.

    Control characters in a cell are shown escaped: a line stays a line, and no text commands the
    terminal.

    Args:
        head: titles of the columns.
        rows: what is in them.
        numbers: titles of columns that are aligned to the right.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[_shown(cell) for cell in row] for row in rows]
    console = Console()
    if not console.is_terminal:
        for row in (head, *cells):
            print("\t".join(row))
        return
    table = Table(header_style="bold")
    for title in head:
        table.add_column(title, justify="right" if title in numbers else "left")
    for row in cells:
        table.add_row(*[Text(cell) for cell in row])
    console.print(table)


def shown_time(unix_ms: int) -> str:
    """A time in UTC, to the second; one that no calendar has as it came."""
    try:
        return datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return f"{unix_ms} ms"


def spoken(value: Enum) -> str:
    """The name of an enumeration's value, for people."""
    return value.name.lower().replace("_", " ")


def _shown(cell: object) -> str:
    return "".join(
        character if category(character) != "Cc" else repr(character)[1:-1]
        for character in str(cell)
    )


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, bytes):
        return value.hex()
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
