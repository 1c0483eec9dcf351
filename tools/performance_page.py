"""Rewrite the figures of docs/performance.md and their plot from docs/performance.json.

`make performance-page`; `make bench ARGS="--json docs/performance.json"` measures them. `--check` only
tells whether the page differs. The SVG is written by hand, so that it needs no library.
"""

import argparse
import json
import sys
from html import escape
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
PAGE: Final = DOCS / "performance.md"
FIGURES: Final = DOCS / "performance.json"
PLOT: Final = DOCS / "performance-rooms.svg"
_BEGIN: Final = "<!-- figures: made by `make performance-page` -->\n"
_END: Final = "<!-- end of the figures -->\n"
_TITLES: Final = {
    "core": "The rules core",
    "rooms": "The server: rooms of four",
    "stores": "Stores",
    "recovery": "Taking a game up after a crash",
    "leaderboards": "Leaderboards of 1,000,000 players",
    "idle streams": "Memory and idle streams",
    "metrics": "What metrics cost",
}
_BAR: Final = 18
_LEFT: Final = 330
_WIDTH: Final = 900


def figures(document: dict[str, Any]) -> str:
    """The tables, a group each, with the command that measures it."""
    machine = f"{document['cores']} cores of {document['clock_ghz']} GHz, {document['python']}"
    parts = [f"Measured in one run on {machine}.\n"]
    for group, title in _TITLES.items():
        rows = [one for one in document["results"] if one["group"] == group]
        if not rows:
            continue
        parts.append(f"\n### {title}\n\n`{_command(group)}`\n\n")
        parts.append("| what | figure | goal | |\n|---|---:|---:|---|\n")
        parts += [_row(one) for one in rows]
    return "".join(parts)


def plot(document: dict[str, Any]) -> str:
    """CPU of an action at the engine and at the bare server, as bars."""
    rows = [
        one
        for one in document["results"]
        if one["group"] == "rooms"
        and one["unit"] == "µs CPU an action"
        and one["name"].endswith((", engine", ", bare grpc.aio"))
    ]
    most = max((one["value"] for one in rows), default=1.0)
    height = 50 + len(rows) * (_BAR + 8)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" font-size="13">',
        '<text x="10" y="22" font-size="15">CPU of the server an action, µs: less is better</text>',
    ]
    for number, one in enumerate(rows):
        top = 40 + number * (_BAR + 8)
        width = (_WIDTH - _LEFT - 80) * one["value"] / most
        colour = "#d1495b" if one["name"].endswith("engine") else "#1b6ca8"
        lines += [
            f'<text x="{_LEFT - 8}" y="{top + 14}" text-anchor="end">{escape(one["name"])}</text>',
            f'<rect x="{_LEFT}" y="{top}" width="{width:.0f}" height="{_BAR}" fill="{colour}"/>',
            f'<text x="{_LEFT + width + 6:.0f}" y="{top + 14}">{one["value"]:,.0f}</text>',
        ]
    return "\n".join([*lines, "</svg>\n"])


def _command(group: str) -> str:
    return (
        "make bench"
        if group == "core"
        else f'make bench ARGS="--only {group.split(maxsplit=1)[0]}"'
    )


def _row(one: dict[str, Any]) -> str:
    sign = "≤" if one["less"] else "≥"
    goal = "" if one["goal"] is None else f"{sign} {_number(one['goal'])} {one['unit']}"
    met = {True: "met", False: "**not met**", None: ""}[one["met"]]
    return f"| {one['name']} | {_number(one['value'])} {one['unit']} | {goal} | {met} |\n"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.2f}".rstrip("0").rstrip(".")


def main() -> int:
    """Write or compare; 1 if the page is old."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    document = json.loads(FIGURES.read_text())
    text = PAGE.read_text()
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    made = {PAGE: before + _BEGIN + figures(document) + _END + after, PLOT: plot(document)}
    if not parser.parse_args().check:
        for path, content in made.items():
            path.write_text(content)
    elif any(not path.exists() or path.read_text() != content for path, content in made.items()):
        sys.stderr.write("run `make performance-page`: docs/performance.md is old\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
