"""The plots of docs/performance.md: SVG written by hand, the same on every machine.

Colours follow the reader's light or dark theme; each plot brings its own ground, so that it is legible
where the theme of the page is another one.
"""

from collections.abc import Callable, Sequence
from html import escape
from math import log10
from typing import Any, Final

_STYLE: Final = """<style>
.ground{fill:#fff}.text{fill:#24292f}.faint{fill:#57606a}.grid{stroke:#d0d7de}.goal{stroke:#24292f}
.a{fill:#1b6ca8}.b{fill:#e08e0b}.c{fill:#8c959f}.line{stroke:#1b6ca8;fill:none}
@media (prefers-color-scheme:dark){
.ground{fill:#0d1117}.text{fill:#e6edf3}.faint{fill:#9198a1}.grid{stroke:#30363d}.goal{stroke:#e6edf3}
.a{fill:#4ea1e0}.b{fill:#f0a93b}.c{fill:#6e7681}.line{stroke:#4ea1e0}}
</style>"""
_WIDTH: Final = 960
_LEFT: Final = 430
_RIGHT: Final = 90
_BAR: Final = 14
_MOST_OF_A_GOAL: Final = 3.0
"""Bars end here: how far beyond its goal a figure is matters little."""

Rows = Sequence[dict[str, Any]]


def goals_plot(results: Rows) -> str:
    """How much of each goal is reached, a bar for each build of the core."""
    with_goal = [one for one in results if one["goal"] is not None]
    names = list(dict.fromkeys((one["part"], one["name"], one["unit"]) for one in with_goal))
    bars = []
    for name in names:
        same = [one for one in with_goal if (one["part"], one["name"], one["unit"]) == name]
        bars.append((name[1], [(reached(one), _kind(one)) for one in same]))
    plot = _Bars(
        "share of the goal, from 100 % on it is met",
        most=_MOST_OF_A_GOAL,
        label=lambda share: f"{share:.0%}",
    )
    legend = (("a", "interpreted rules, and servers"), ("b", "compiled rules"))
    return plot.draw(bars, legend, mark=1.0)


def rooms_plot(results: Rows) -> str:
    """CPU of an action at the engine and at the bare server."""
    rows = [
        one
        for one in results
        if one["part"].startswith(("rooms-", "many-games", "paced"))
        and one["unit"] == "µs CPU an action"
        and one["name"].endswith((", engine", ", bare grpc.aio"))
    ]
    titles = list(dict.fromkeys(one["name"].rpartition(", ")[0] for one in rows))
    bars = []
    for title in titles:
        same = [one for one in rows if one["name"].rpartition(", ")[0] == title]
        kinds = [(one["value"], "a" if one["name"].endswith("engine") else "c") for one in same]
        bars.append((title, kinds))
    most = max((one["value"] for one in rows), default=1.0)
    plot = _Bars("CPU of the server an action, µs: less is better", most, "{:,.0f}".format)
    return plot.draw(bars, (("a", "engine, everything on"), ("c", "bare grpc.aio")))


def flat_plot(results: Rows) -> str:
    """CPU of an action by the number of games."""
    points = [
        (int(one["name"].partition(" ")[0].replace(",", "")), one["value"])
        for one in results
        if one["part"] == "flat" and one["unit"] == "µs CPU an action"
    ]
    most = max((cost for _, cost in points), default=1.0) * 1.15
    widest = log10(max((games for games, _ in points), default=10) or 10) or 1.0
    height, left, right, top, bottom = 260, 70, 900, 50, 215
    lines = [
        *_head(height),
        _text(10, 24, "CPU of the engine an action, µs, by the number of games", size=15),
        f'<path class="grid" d="M{left} {bottom}H{right}"/>',
    ]
    places = [
        (left + (right - left) * log10(games) / widest, bottom - (bottom - top) * cost / most)
        for games, cost in points
    ]
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in places)
    lines.append(f'<polyline class="line" stroke-width="2" points="{line}"/>')
    for (games, cost), (x, y) in zip(points, places, strict=True):
        lines += [
            f'<circle class="a" cx="{x:.0f}" cy="{y:.0f}" r="4"/>',
            _text(x, y - 10, f"{cost:,.0f}", anchor="middle"),
            _text(x, bottom + 20, f"{games:,}", anchor="middle", kind="faint"),
        ]
    return "\n".join([*lines, "</svg>\n"])


def reached(one: dict[str, Any]) -> float:
    """How much of its goal a figure reaches; 1 is all of it."""
    if not one["less"]:
        return float(one["value"] / one["goal"])
    return float(one["goal"] / one["value"]) if one["value"] > 0 else _MOST_OF_A_GOAL


def _kind(one: dict[str, Any]) -> str:
    return "b" if one["core"] == "compiled" else "a"


class _Bars:
    """Named groups of lying bars."""

    def __init__(self, title: str, most: float, label: Callable[[float], str]) -> None:
        self._title = title
        self._most = most
        self._label = label

    def draw(
        self,
        groups: Sequence[tuple[str, Sequence[tuple[float, str]]]],
        legend: Sequence[tuple[str, str]],
        mark: float | None = None,
    ) -> str:
        """The plot, with a line through all bars at `mark`."""
        body: list[str] = []
        top = 64
        for name, bars in groups:
            middle = top + len(bars) * (_BAR + 2) / 2 + 4
            body.append(_text(_LEFT - 10, middle, name, anchor="end"))
            for value, kind in bars:
                width = self._place(value)
                body += [
                    f'<rect class="{kind}" x="{_LEFT}" y="{top}" width="{width:.0f}"'
                    f' height="{_BAR}"/>',
                    _text(_LEFT + width + 6, top + 12, self._label(value), kind="faint"),
                ]
                top += _BAR + 2
            top += 8
        lines = [*_head(top + 10), _text(10, 24, self._title, size=15), *_legend(legend), *body]
        if mark is not None:
            place = _LEFT + self._place(mark)
            lines.append(f'<path class="goal" stroke-dasharray="4 3" d="M{place:.0f} 56V{top}"/>')
        return "\n".join([*lines, "</svg>\n"])

    def _place(self, value: float) -> float:
        return (_WIDTH - _LEFT - _RIGHT) * min(value, self._most) / self._most


def _head(height: float) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}"'
        ' font-family="sans-serif" font-size="13">',
        _STYLE,
        f'<rect class="ground" width="{_WIDTH}" height="{height:.0f}" rx="6"/>',
    ]


def _legend(entries: Sequence[tuple[str, str]]) -> list[str]:
    lines, left = [], _LEFT
    for kind, name in entries:
        lines += [
            f'<rect class="{kind}" x="{left}" y="36" width="12" height="12"/>',
            _text(left + 18, 47, name, kind="faint"),
        ]
        left += 40 + 7 * len(name)
    return lines


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", size: int = 13, kind: str = "text"
) -> str:
    return (
        f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}">'
        f"{escape(words)}</text>"
    )
