"""What a part of the screen shows: lines, and which key a click on them stands for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

_MORE: Final = "…"
_WRAPPER: Final = Console(width=80, color_system=None, force_terminal=False)


@dataclass(frozen=True, slots=True)
class Hit:
    """A place that can be clicked."""

    x: int
    """First column."""

    y: int
    """Line."""

    width: int
    """Columns."""

    key: str
    """What the click stands for."""


@dataclass(frozen=True, slots=True)
class Painting:
    """Lines and the places on them that can be clicked."""

    lines: Sequence[Text] = ()
    """From top to bottom."""

    hits: Sequence[Hit] = field(default=())
    """Places by no order; where two overlap the first counts."""

    def hit(self, x: int, y: int) -> str:
        """The key that a click at column `x` of line `y` stands for; empty for none."""
        found = (one for one in self.hits if one.y == y and one.x <= x < one.x + one.width)
        return next((one.key for one in found), "")

    def plain(self) -> str:
        """The lines as text."""
        return "\n".join(line.plain.rstrip() for line in self.lines)


def fitted(text: str, width: int) -> str:
    """The text in exactly so many columns: filled up, or cut with an ellipsis.

    Columns are a terminal's: Chinese takes two each, Hindi's vowel signs none.
    """
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + _MORE, width)


def beside(left: str, right: str, width: int) -> str:
    """One text at the left, one at the right; the left one is cut where there is no room."""
    room = width - cell_len(right)
    return fitted(left, room) + right if room > 0 else fitted(right, width)


def wrapped(text: Text | str, width: int) -> list[Text]:
    """The text in lines of at most so many columns."""
    whole = Text(text) if isinstance(text, str) else text
    return list(whole.wrap(_WRAPPER, max(width, 1), overflow="fold"))


def joined(parts: Iterable[Text]) -> Text:
    """The parts in a row."""
    return Text.assemble(*parts)


def stacked(paintings: Iterable[Painting]) -> Painting:
    """One below the other."""
    lines: list[Text] = []
    hits: list[Hit] = []
    for one in paintings:
        hits += [replace(hit, y=hit.y + len(lines)) for hit in one.hits]
        lines += one.lines
    return Painting(lines, hits)


def abreast(left: Painting, right: Painting, left_width: int) -> Painting:
    """One beside the other, the left one so many columns wide."""
    lines = []
    for row in range(max(len(left.lines), len(right.lines))):
        line = left.lines[row].copy() if row < len(left.lines) else Text()
        line.truncate(left_width, overflow="ellipsis", pad=True)
        if row < len(right.lines):
            line.append_text(right.lines[row])
        lines.append(line)
    moved = [replace(hit, x=hit.x + left_width) for hit in right.hits]
    return Painting(lines, [*left.hits, *moved])
