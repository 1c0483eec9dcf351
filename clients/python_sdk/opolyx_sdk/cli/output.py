"""How commands print: tables for people, tabs for pipes, one JSON object for programs."""

import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum


def print_json(**values: object) -> None:
    """One JSON object; enumerations by their names in lower case."""
    print(json.dumps({name: _plain(value) for name, value in values.items()}, ensure_ascii=False))


def print_table(
    head: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: Sequence[str] = ()
) -> None:
    """A table on a terminal; else one line a row, its columns parted by tabs.

    Args:
        head: titles of the columns.
        rows: what is in them.
        numbers: titles of columns that are aligned to the right.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        for row in (head, *rows):
            print("\t".join(str(cell) for cell in row))
        return
    table = Table(header_style="bold")
    for title in head:
        table.add_column(title, justify="right" if title in numbers else "left")
    for row in rows:
        table.add_row(*[Text(str(cell)) for cell in row])
    console.print(table)


def shown_time(unix_ms: int) -> str:
    """A time in UTC, to the second."""
    return datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def spoken(value: Enum) -> str:
    """The name of an enumeration's value, for people."""
    return value.name.lower().replace("_", " ")


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.name.lower()
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
