"""The board as a ring of squares, drawn for the room that there is.

At its smallest, 57 columns by 15 lines, a square shows its group's letter and its number, its
owner's shape with the level or a cross for a mortgage, and the tokens on it. With more room come names
and prices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from opolyx_sdk.board import SQUARES
from opolyx_sdk.terminal.marks import (
    MORTGAGED,
    owner_shape,
    seat_colour,
    seat_shape,
    square_colours,
    square_letter,
)
from opolyx_sdk.terminal.painting import Hit, Painting, fitted, joined
from opolyx_sdk.text import Table
from opolyx_sdk.views import GameView, PlayerView

LEAST_WIDTH: Final = 57
LEAST_HEIGHT: Final = 15
SQUARE_KEY: Final = "square:"
"""A click on square 7 stands for the key `square:7`."""

_SIDE: Final = 9
_INNER: Final = 9
_BAR: Final = "│"
_JAIL: Final = 10
_PLAIN: Final = 3
"""Lines of a square at the top or bottom that needs no more."""
_SHORTEST_NAME: Final = 5
"""Columns that a name needs, with the space before it."""
_NAME_FITS: Final = 14
"""From how many columns on a square at the side has its name on its first line."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How large the squares are."""

    side: int
    """Columns of a square at the left and right."""

    cell: int
    """Columns of a square at the top and bottom."""

    tall: int
    """Lines of a square at the top and bottom."""

    low: int
    """Lines of a square at the left and right."""

    @property
    def width(self) -> int:
        """Columns in all."""
        return 2 * self.side + _INNER * self.cell + 12

    @property
    def height(self) -> int:
        """Lines in all."""
        return 2 * self.tall + _INNER * self.low

    @property
    def inside(self) -> tuple[int, int]:
        """Columns and lines within the ring."""
        return _INNER * (self.cell + 1) - 1, _INNER * self.low


def layout_for(width: int, height: int) -> Layout:
    """The largest squares for this room; the smallest that there are where it is too small."""
    side = max(_SIDE, min(20, width // 6))
    cell = max(3, min(11, (width - 12 - 2 * side) // _INNER))
    low = max(1, min(3, (height - 2 * _PLAIN) // _INNER))
    tall = max(_PLAIN, min(6, (height - low * _INNER) // 2))
    return Layout(side if cell > _PLAIN else _SIDE, cell, tall, low)


def draw_board(
    view: GameView,
    table: Table,
    layout: Layout,
    *,
    cursor: int | None = None,
    inside: Sequence[Text] = (),
) -> Painting:
    """The board, with lines of text within the ring."""
    return _Board(view, table, layout, cursor).painting(inside)


class _Board:
    """One drawing."""

    def __init__(self, view: GameView, table: Table, layout: Layout, cursor: int | None) -> None:
        self._view = view
        self._table = table
        self._layout = layout
        self._cursor = cursor
        self._owned = {one.square: one for one in view.properties}
        self._tokens: dict[int, list[PlayerView]] = {}
        for player in view.players:
            if player.in_game:
                self._tokens.setdefault(player.position, []).append(player)

    def painting(self, inside: Sequence[Text]) -> Painting:
        layout = self._layout
        top = self._row(range(20, 31))
        bottom = self._row(range(10, -1, -1))
        width, height = layout.inside
        middle = []
        for row in range(height):
            left, right = 19 - row // layout.low, 31 + row // layout.low
            text = inside[row].copy() if row < len(inside) else Text()
            text.truncate(width, overflow="ellipsis", pad=True)
            sides = [self._lying(square, row % layout.low) for square in (left, right)]
            middle.append(_between([sides[0], text, sides[1]]))
        return Painting([*top, *middle, *bottom], self._hits())

    def _row(self, squares: range) -> list[Text]:
        """The squares at the top or the bottom."""
        parts = [self._standing(square) for square in squares]
        return [_between([part[line] for part in parts]) for line in range(self._layout.tall)]

    def _standing(self, square: int) -> list[Text]:
        """A square of several lines: bar, owner or name, tokens."""
        corner = square % 10 == 0
        width = self._layout.side if corner else self._layout.cell
        lines = [self._bar(square, width)]
        if corner:
            lines.append(self._held(square, width))
        else:
            if self._layout.tall > _PLAIN:
                lines.append(self._price(square, width))
            lines.append(self._owner(square, width))
        blank = Text(" " * width)
        lines += [blank] * (self._layout.tall - 1 - len(lines))
        return [*lines, self._standing_on(square, width)]

    def _lying(self, square: int, line: int) -> Text:
        """A line of a square at the left or the right."""
        width = self._layout.side
        if line == 1:
            name = self._table.where(square) if width > _SIDE else ""
            shown = Text(fitted(name, width - 3), style="dim")
            return joined([shown, self._standing_on(square, 3)])
        if line:
            return Text(" " * width)
        roomy = self._layout.low > 1
        bar = self._bar(square, 3 if roomy or width < _NAME_FITS else width - 6)
        rest = width - bar.cell_len - 1
        if roomy:
            return joined([bar, Text(" "), self._owner(square, rest)])
        owner, standing = self._owner(square, 2), self._standing_on(square, rest - 2)
        return joined([bar, Text(" "), owner, standing])

    def _bar(self, square: int, width: int) -> Text:
        ink, ground = square_colours(square)
        label = f"{square_letter(square)}{square:>2}"
        if width >= len(label) + _SHORTEST_NAME:
            label = f"{label} {self._table.where(square)}"
        style = f"bold {ink} on {ground}"
        if square == self._cursor:
            style = "bold reverse underline"
        return Text(fitted(label, width), style=style)

    def _held(self, square: int, width: int) -> Text:
        """The tokens that are in jail, not just visiting."""
        held = [one for one in self._tokens.get(square, ()) if square == _JAIL and one.in_jail]
        if not held:
            return Text(" " * width)
        return joined([Text("["), *map(_token, held), Text(fitted("]", width - 1 - len(held)))])

    def _owner(self, square: int, width: int) -> Text:
        """Whose it is and how far it is built."""
        found = self._owned.get(square)
        if found is None or found.owner is None:
            roomy = self._layout.tall > _PLAIN and square % 10 and square // 10 % 2 == 0
            return Text(" " * width) if roomy else self._price(square, width)
        state = MORTGAGED if found.mortgaged else str(found.level) if found.level else " "
        style = f"bold {seat_colour(found.owner)}"
        return Text(fitted(f"{owner_shape(found.owner)}{state}", width), style=style)

    def _price(self, square: int, width: int) -> Text:
        """The list price, where it fits."""
        price = self._table.money(SQUARES[square].price) if SQUARES[square].price else ""
        return Text(fitted(price if cell_len(price) <= width else "", width), style="dim")

    def _standing_on(self, square: int, width: int) -> Text:
        """The tokens on a square; a plus where there are more than fit."""
        here = [one for one in self._tokens.get(square, ()) if not one.in_jail]
        shown = here if len(here) <= width else here[: width - 1]
        more = "+" if len(here) > len(shown) else ""
        return joined([*map(_token, shown), Text(fitted(more, width - len(shown)))])

    def _hits(self) -> list[Hit]:
        """Where the squares are."""
        layout, hits = self._layout, []
        for rank, squares in (
            (0, range(20, 31)),
            (layout.tall + _INNER * layout.low, range(10, -1, -1)),
        ):
            x = 1
            for square in squares:
                width = layout.side if square % 10 == 0 else layout.cell
                hits += [
                    Hit(x, rank + line, width, f"{SQUARE_KEY}{square}")
                    for line in range(layout.tall)
                ]
                x += width + 1
        right = layout.side + 2 + layout.inside[0] + 1
        for row in range(_INNER * layout.low):
            y, step = layout.tall + row, row // layout.low
            hits.append(Hit(1, y, layout.side, f"{SQUARE_KEY}{19 - step}"))
            hits.append(Hit(right, y, layout.side, f"{SQUARE_KEY}{31 + step}"))
        return hits


def _between(parts: Sequence[Text]) -> Text:
    """The parts with bars around them."""
    bar = Text(_BAR, style="dim")
    pieces = [bar]
    for part in parts:
        pieces += [part, bar]
    return joined(pieces)


def _token(player: PlayerView) -> Text:
    return Text(seat_shape(player.seat), style=f"bold {seat_colour(player.seat)}")
