"""Net worth over the rounds, drawn with the seats' shapes."""

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from opolyx_sdk.terminal.dialogs.dialog import SHUT_KEYS, Dialog, Outcome, Row, Shut
from opolyx_sdk.terminal.marks import seat_colour, seat_shape
from opolyx_sdk.terminal.worths import Worths
from opolyx_sdk.text import Table

_LEAST_ROUNDS: Final = 2
_LINES: Final = 14
_TICKS: Final = 4


def draw_chart(worths: Worths, table: Table, width: int, height: int) -> list[Text]:
    """The chart, in lines; a sentence while there are too few rounds."""
    rounds = worths.rounds
    if len(rounds) < _LEAST_ROUNDS or not worths.most:
        return [Text(table.text("screen.chart.short"), style="dim")]
    most = nice_ceiling(worths.most)
    labels = [table.money(most * tick // _TICKS) for tick in range(_TICKS, -1, -1)]
    margin = max(map(cell_len, labels)) + 1
    columns, rows = max(8, width - margin - 1), max(5, height - 3)
    cells: dict[tuple[int, int], int] = {}
    span = rounds[-1] - rounds[0]
    for seat in range(worths.seats):
        points = dict(worths.of(seat))
        for x in range(columns):
            at = rounds[0] + round(x * span / (columns - 1))
            worth = points.get(at)
            if worth is not None:
                cells[x, round((rows - 1) * (1 - worth / most))] = seat
    lines = []
    for y in range(rows):
        tick, rest = divmod(y * _TICKS, rows - 1)
        label = labels[tick] if rest < _TICKS else ""
        line = Text(" " * (margin - 1 - cell_len(label)) + label + "┤", style="dim")
        for x in range(columns):
            found = cells.get((x, y))
            shape = " " if found is None else seat_shape(found)
            line.append(shape, style="" if found is None else f"bold {seat_colour(found)}")
        lines.append(line)
    last = str(rounds[-1])
    axis = f"{rounds[0]}".ljust(columns - len(last)) + last
    lines.append(Text(" " * margin + axis + " ", style="dim"))
    legend = Text(" " * margin)
    for seat in range(worths.seats):
        legend.append(f"{seat_shape(seat)} {table.who(seat)}  ", style=seat_colour(seat))
    return [*lines, legend]


def nice_ceiling(amount: int) -> int:
    """The next amount of few digits, in four equal steps."""
    step = 1
    while True:
        for factor in (4, 8, 12, 20, 28):
            if amount <= factor * step:
                return factor * step
        step *= 10


class ChartDialog(Dialog):
    """The chart, until a key closes it."""

    def __init__(self, worths: Worths) -> None:
        """Show these."""
        self._worths = worths

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return table.text("screen.chart.title")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        return [Row(line) for line in draw_chart(self._worths, table, width, min(height, _LINES))]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        return Shut() if key in SHUT_KEYS or key in ("c", "enter") else None
