"""Net worth over the rounds, as a picture: lines told apart by colour, dashes and shapes."""

from typing import Final

from opolyx_sdk.terminal.chart import nice_ceiling
from opolyx_sdk.terminal.exports.svg import document, element, label
from opolyx_sdk.terminal.marks import seat_shape
from opolyx_sdk.terminal.worths import Worths
from opolyx_sdk.text import Table

_WIDTH: Final = 800
_HEIGHT: Final = 420
_LEFT: Final = 90
_TOP: Final = 44
_RIGHT: Final = 150
_BOTTOM: Final = 40
_TICKS: Final = 4
_INKS: Final = ("#b36b00", "#0072b2", "#007a58", "#7a6f00", "#a3407a", "#c23b00")
_DASHES: Final = ("", "8 4", "2 3", "12 4 2 4", "6 2", "1 5")
_LINE: Final = 18
"""Pixels between two names at the right."""


def chart_svg(worths: Worths, table: Table) -> str:
    """The chart."""
    title = table.text("screen.chart.title")
    parts = [label(title, _LEFT, 26, 16, font_weight="bold")]
    rounds = worths.rounds
    if not rounds or not worths.most:
        return document(_WIDTH, _HEIGHT, title, parts)
    most = nice_ceiling(worths.most)
    first, span = rounds[0], max(1, rounds[-1] - rounds[0])
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(number: int, worth: int) -> tuple[float, float]:
        return _LEFT + wide * (number - first) / span, _TOP + tall * (1 - worth / most)

    for tick in range(_TICKS + 1):
        amount = most * tick // _TICKS
        y = place(first, amount)[1]
        parts.append(element("path", d=f"M{_LEFT} {y:.1f}h{wide}", stroke="#dddddd"))
        parts.append(label(table.money(amount), _LEFT - 8, y + 4, text_anchor="end"))
    for number in {first, first + span // 2, first + span}:
        x = place(number, 0)[0]
        told = table.text("screen.round", round=number)
        parts.append(label(told, x, _HEIGHT - 16, text_anchor="middle"))
    ends = []
    for seat in range(worths.seats):
        points = [place(*point) for point in worths.of(seat)]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        ink, dash = _INKS[seat % len(_INKS)], _DASHES[seat % len(_DASHES)]
        dashes = {"stroke_dasharray": dash} if dash else {}
        parts.append(element("path", d=path, fill="none", stroke=ink, stroke_width=2, **dashes))
        x, y = points[-1]
        parts.append(label(seat_shape(seat), x, y + 4, 13, text_anchor="middle", fill=ink))
        ends.append((y, seat, ink))
    parts += _names(ends, table)
    return document(_WIDTH, _HEIGHT, title, parts)


def _names(ends: list[tuple[float, int, str]], table: Table) -> list[str]:
    """The names at the right, each near its line's end, none upon another."""
    free = float(_TOP)
    placed = []
    for y, seat, ink in sorted(ends):
        free = max(y + 4, free)
        placed.append((free, seat, ink))
        free += _LINE
    parts, lowest = [], float(_HEIGHT - _BOTTOM + 4)
    for y, seat, ink in reversed(placed):
        at = min(y, lowest)
        lowest = at - _LINE
        told = f"{seat_shape(seat)} {table.who(seat)}"
        parts.append(label(told, _WIDTH - _RIGHT + 14, at, 13, fill=ink, font_weight="bold"))
    return parts
