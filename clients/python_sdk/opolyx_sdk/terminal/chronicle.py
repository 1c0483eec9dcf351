"""What has happened, in any language: events are kept, sentences made when somebody reads them."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from opolyx_sdk.events import Event, RoundStarted
from opolyx_sdk.text import Table, narrate

_KEPT: Final = 2_000
"""Entries kept; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Note:
    """What the terminal itself has to say."""

    key: str
    """A text's key."""

    values: Mapping[str, str | int]
    """Its values."""


class Chronicle:
    """The log of one game."""

    def __init__(self) -> None:
        self._entries: deque[Sequence[Event] | Note] = deque(maxlen=_KEPT)
        self._lines: list[str] = []
        self._told: tuple[int, Table | None] = (0, None)
        self._count = 0

    def add(self, events: Sequence[Event]) -> None:
        """What an update tells."""
        if events:
            self._add(tuple(events))

    def note(self, key: str, **values: str | int) -> None:
        """What the terminal says: a text's key and its values."""
        self._add(Note(key, values))

    def lines(self, table: Table) -> Sequence[str]:
        """Every sentence, oldest first."""
        told, known = self._told
        if known != table or self._count - told > len(self._entries):
            self._lines, told = [], self._count - len(self._entries)
        fresh = self._count - told
        for entry in list(self._entries)[len(self._entries) - fresh :] if fresh else ():
            self._lines += told_lines(entry, table)
        self._told = (self._count, table)
        return self._lines

    def _add(self, entry: Sequence[Event] | Note) -> None:
        self._entries.append(entry)
        self._count += 1


def told_lines(entry: Sequence[Event] | Note, table: Table) -> list[str]:
    """The sentences of one entry; a round's beginning stands for itself."""
    if isinstance(entry, Note):
        return [table.text(entry.key, **entry.values)]
    lines = narrate(entry, table)
    rounds = [one.round for one in entry if isinstance(one, RoundStarted)]
    return [*lines, *[f"— {table.text('screen.round', round=number)} —" for number in rounds]]
