"""What a part of the screen shows: lines, and which key a click on them stands for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from unicodedata import category

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

_MORE: Final = "…"
_VOWEL_SIGN: Final = "Mc"
_FILLER: Final = "\ue000"
"""One column, for a sign that may take one; in no text."""
_JOINERS: Final = "\u200c\u200d"
"""Unprintable by themselves, but parts of words in Hindi."""
_UNPRINTABLE: Final = "\ufffd"
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


def printable(text: str) -> str:
    """The text without what commands a terminal or turns its direction: each such mark is a �.

    Names come from others, and from files: they may hold anything.
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in _JOINERS else _UNPRINTABLE for one in text)


def most_cells(text: str) -> int:
    """The columns that a text takes at most: some terminals give Hindi's vowel signs one each."""
    return cell_len(text) + sum(category(sign) == _VOWEL_SIGN for sign in text)


def fitted(text: str, width: int) -> str:
    """The text in exactly so many columns: filled up, or cut with an ellipsis.

    Columns are a terminal's: Chinese takes two each. Hindi's vowel signs take none, but there is room
    for those terminals where they do; `steady` keeps what follows in its place.
    """
    if width <= 0:
        return ""
    if most_cells(text) <= width:
        return set_cell_size(text, width)
    kept = text
    while kept and most_cells(kept) > width - 1:
        kept = kept[:-1]
    return set_cell_size(kept.rstrip() + _MORE, width)


def beside(left: str, right: str, width: int) -> str:
    """One text at the left, one at the right; the left one is cut where there is no room."""
    most = most_cells(right)
    room = width - most
    return fitted(left, room) + fitted(right, most) if room > 0 else fitted(right, width)


def wrapped(text: Text | str, width: int) -> list[Text]:
    """The text in lines of at most so many columns, on terminals that give each sign the most."""
    whole = Text(text) if isinstance(text, str) else text
    ends = [at for at, sign in enumerate(whole.plain, 1) if category(sign) == _VOWEL_SIGN]
    padded = Text(_FILLER).join(whole.divide(ends))
    lines = padded.wrap(_WRAPPER, max(width, 1), overflow="fold")
    return [Text().join(line.split(_FILLER, allow_blank=True)) for line in lines]


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
