"""Write the figures of docs/quick-match.md and its plot; `--check` only tells whether they differ.

The SVG is written by hand, so that it needs no library and is the same on every machine.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import log10
from pathlib import Path
from typing import Final

from quick_match_simulation import POPULATIONS, Outcome, default_rules, share, simulate

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
PLOT: Final = DOCS / "quick-match.svg"
PAGE: Final = DOCS / "quick-match.md"

_BEGIN: Final = "<!-- figures: made by `make quick-match-plot` -->\n"
_END: Final = "<!-- end of the figures -->\n"
_COLOURS: Final = ("#1b6ca8", "#d1495b", "#4c9a2a", "#8e5ea2")
_WIDTH: Final = 960
_HEIGHT: Final = 420
_TOP: Final = 46
_BOTTOM: Final = 300
_PANEL: Final = 400
_STEPS: Final = 100  # points of a line, one for each hundredth of the players


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the two diagrams."""

    title: str
    """What it shows."""

    left: int
    """Where it begins."""

    ticks: tuple[tuple[int, str], ...]
    """Values named on the axis, rising, with their names."""

    place: Callable[[int], float]
    """Where in the panel a value is, from 0 to 1."""

    values: Callable[[Outcome], list[int]]
    """The values shown of a population, rising."""


def _on_log_axis(wait_ms: int) -> float:
    """From half a second to an hour and a half, each tenfold as long as the last."""
    return log10(max(wait_ms, 500) / 500) / log10(5400 * 1000 / 500)


PANELS: Final = (
    Panel(
        "players who waited at most",
        60,
        (
            (500, "0.5 s"),
            (2_000, "2 s"),
            (10_000, "10 s"),
            (60_000, "1 min"),
            (600_000, "10 min"),
            (3_600_000, "1 h"),
        ),
        _on_log_axis,
        Outcome.waits_ms,
    ),
    Panel(
        "tables whose ratings are at most so far apart",
        530,
        tuple((points, str(points)) for points in range(0, 1401, 200)),
        lambda points: points / 1400,
        Outcome.spreads,
    ),
)


def main() -> int:
    """Write both files, or compare; return 0 if all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether they differ")
    check: bool = parser.parse_args().check
    wrong = stale_files()
    for path, text in wrong.items():
        if check:
            print(f"{path.name} is stale (run `make quick-match-plot`)", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"{path.name} changed")
    return 1 if check and wrong else 0


def stale_files() -> dict[Path, str]:
    """The files that differ from what they should be, with what they should be."""
    rules = default_rules()
    outcomes = [simulate(population, rules) for population in POPULATIONS]
    page = PAGE.read_text("utf-8")
    head, rest = page.split(_BEGIN)
    wanted = {
        PLOT: plot(outcomes),
        PAGE: head + _BEGIN + figures(outcomes) + _END + rest.split(_END)[1],
    }
    return {
        path: text
        for path, text in wanted.items()
        if not path.exists() or path.read_text("utf-8") != text
    }


def figures(outcomes: Sequence[Outcome]) -> str:
    """The table of the page."""
    lines = [
        "| players | got a table | waited: half at most | 95 of 100 | longest "
        "| spread of ratings: half at most | 95 of 100 |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for population, outcome in zip(POPULATIONS, outcomes, strict=True):
        waits, spreads = outcome.waits_ms(), outcome.spreads()
        cells = [
            population.name,
            str(len(waits)),
            *(_duration(share(waits, percent)) for percent in (50, 95, 100)),
            *(str(share(spreads, percent)) for percent in (50, 95)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n" + "\n".join(lines) + "\n\n"


def plot(outcomes: Sequence[Outcome]) -> str:
    """The plot: for each population, which share waited how long and sat how far apart."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
        ' font-family="sans-serif" font-size="12" fill="#333">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
    ]
    for panel in PANELS:
        parts += _frame(panel)
        for outcome, colour in zip(outcomes, _COLOURS, strict=True):
            parts.append(_line(panel, panel.values(outcome), colour))
    for number, (population, colour) in enumerate(zip(POPULATIONS, _COLOURS, strict=True)):
        x, y = 60 + 470 * (number % 2), _BOTTOM + 62 + 22 * (number // 2)
        parts.append(
            f'<path d="M{x} {y - 4}h26" stroke="{colour}" stroke-width="3"/>'
            f'<text x="{x + 34}" y="{y}">{escape(population.name)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _frame(panel: Panel) -> list[str]:
    height = _BOTTOM - _TOP
    parts = [f'<text x="{panel.left}" y="26" font-size="14">{escape(panel.title)}</text>']
    for percent in range(0, 101, 25):
        y = _BOTTOM - height * percent // 100
        parts.append(f'<path d="M{panel.left} {y}h{_PANEL}" stroke="#ddd"/>')
        parts.append(f'<text x="{panel.left - 6}" y="{y + 4}" text-anchor="end">{percent} %</text>')
    for value, name in panel.ticks:
        x = _x(panel, value)
        parts.append(f'<path d="M{x} {_TOP}v{height}" stroke="#eee"/>')
        parts.append(f'<text x="{x}" y="{_BOTTOM + 18}" text-anchor="middle">{name}</text>')
    return parts


def _line(panel: Panel, values: Sequence[int], colour: str) -> str:
    height = _BOTTOM - _TOP
    points = [
        f"{_x(panel, share(values, percent))},{_BOTTOM - height * percent / _STEPS:.1f}"
        for percent in range(_STEPS + 1)
    ]
    return f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _x(panel: Panel, value: int) -> str:
    return f"{panel.left + _PANEL * min(1.0, panel.place(value)):.1f}"


def _duration(ms: int) -> str:
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms // 60_000} min {ms % 60_000 // 1000} s"


if __name__ == "__main__":
    raise SystemExit(main())
