"""Rewrite the figures of docs/performance.md and their plots from docs/performance.json.

`make performance-page`; `make bench ARGS="--json docs/performance.json"` measures them. `--check` only
tells whether page and plots differ.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from performance_plots import flat_plot, goals_plot, rooms_plot

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
PAGE: Final = DOCS / "performance.md"
FIGURES: Final = DOCS / "performance.json"
BEGIN: Final = "<!-- figures: made by `make performance-page` -->\n"
END: Final = "<!-- end of the figures -->\n"


@dataclass(frozen=True, slots=True)
class Section:
    """Some parts of the benchmark under one heading."""

    title: str
    """The heading."""

    parts: tuple[str, ...]
    """Parts, or the beginnings of their names."""

    text: str = ""
    """What a reader must know."""

    plot: str = ""
    """The file of its plot, and what the plot shows, as `file: what`."""


SECTIONS: Final = (
    Section(
        "The rules core",
        ("core-",),
        "classic@full, four seats, one core, by CPU time. Steady's games are played back, so that its"
        " thinking isn't counted; random players choose while they are measured.",
    ),
    Section(
        "Bots in process",
        ("simulate", "arena"),
        "Actions a second with the bots' thinking; the views, decisions and typed actions are those"
        " that bots get live.",
    ),
    Section(
        "Rooms of four",
        ("rooms-", "many-games", "paced", "tls"),
        "A stream a seat, one acts, all four receive; the engine with rules, log on SQLite,"
        " idempotency, digests, metrics and tokens. The ceiling is a bare grpc.aio server that sends"
        " the same messages and does no more, played at in turn by the same clients. Clients and"
        " server share the machine, so that the CPU of the server says more than the rate. The goal of"
        " a rate is what boardgame.io reached on two cores of 2.0 GHz.",
        "performance-rooms.svg: CPU an action of the engine and of its ceiling",
    ),
    Section(
        "Cost by the number of games",
        ("flat",),
        "All games together at the same pace, so that only their number differs.",
        "performance-flat.svg: CPU an action by the number of games",
    ),
    Section("Metrics", ("metrics",), "The same work with and without them, turn about."),
    Section(
        "Stores of games",
        ("stores",),
        "Appends of 300 bytes. What waits together is committed together: the more games write, the"
        " less an append costs.",
    ),
    Section("Taking a game up after a crash", ("recovery",)),
    Section("Memory, and quiet streams", ("idle-streams",)),
    Section("Leaderboards", ("leaderboards",), "Pages of 100 rows; games of four are settled."),
)


def figures(document: dict[str, Any]) -> str:
    """All tables, each line with its goal and the command that measures it again."""
    results: list[dict[str, Any]] = document["results"]
    parts = [_origin(document), _summary(results)]
    for section in SECTIONS:
        chosen = [one for one in results if one["part"].startswith(section.parts)]
        if chosen:
            parts.append(_section(section, chosen))
    return "\n".join(parts)


def plots(document: dict[str, Any]) -> dict[str, str]:
    """The plots by their files' names."""
    results: list[dict[str, Any]] = document["results"]
    return {
        "performance-goals.svg": goals_plot(results),
        "performance-rooms.svg": rooms_plot(results),
        "performance-flat.svg": flat_plot(results),
    }


def _origin(document: dict[str, Any]) -> str:
    """Which run this is."""
    command = "bench-quick" if document["quick"] else "bench"
    seconds = sum(document["seconds"].values())
    first_look = (
        " That is the short form, for a first look: its figures are rough." * document["quick"]
    )
    return (
        f"From one run of `make {command}`, {seconds:.0f} s, on {document['date']} at commit"
        f" {document['commit'] or 'unknown'}: {document['cores']} cores of {document['clock_ghz']} GHz,"
        f" {document['python']}.{first_look}\n"
    )


def _summary(results: Sequence[dict[str, Any]]) -> str:
    goals = [one for one in results if one["met"] is not None]
    met = sum(1 for one in goals if one["met"])
    return (
        f"{met} of {len(goals)} goals are met. How much of each is reached:\n\n"
        "![how much of each goal is reached](performance-goals.svg)\n"
    )


def _section(section: Section, results: Sequence[dict[str, Any]]) -> str:
    text = f"## {section.title}\n\n"
    if section.text:
        text += f"{section.text}\n\n"
    if section.plot:
        file, _, what = section.plot.partition(": ")
        text += f"![{what}]({file})\n\n"
    compiled = {_key(one): one for one in results if one["core"] == "compiled"}
    usual = [one for one in results if one["core"] != "compiled"]
    if not compiled:
        return text + _table(("what", "figure", "goal", "", "again"), map(_row, usual))
    header = ("what", "interpreted", "goal", "", "compiled", "goal", "", "again")
    return text + _table(header, (_both(one, compiled.get(_key(one))) for one in usual))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rules = ["---:" if name not in ("what", "again", "") else "---" for name in header]
    lines = [header, rules, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    return (one["name"], *_cells(one), _command(one))


def _both(one: dict[str, Any], compiled: dict[str, Any] | None) -> tuple[str, ...]:
    return (one["name"], *_cells(one), *_cells(compiled), _command(one))


def _cells(one: dict[str, Any] | None) -> tuple[str, str, str]:
    """The figure, its goal, and whether it is met."""
    if one is None:
        return "not measured", "", ""
    figure = f"{number(one['value'])} {one['unit']}"
    if one["goal"] is None:
        return figure, "", ""
    sign = "≤" if one["less"] else "≥"
    return figure, f"{sign} {number(one['goal'])}", "met" if one["met"] else "**not met**"


def _command(one: dict[str, Any]) -> str:
    return f'`make bench ARGS="--only {one["part"]}"`'


def _key(one: dict[str, Any]) -> tuple[str, str, str]:
    return one["part"], one["name"], one["unit"]


def number(value: float) -> str:
    """A number with no more digits than it deserves."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.2f}".rstrip("0").rstrip(".")


def made(page: str, document: dict[str, Any]) -> str:
    """The page with the figures between its marks.

    Raises:
        ValueError: the page has no marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("docs/performance.md has lost the marks of its figures")
    return f"{before}{BEGIN}\n{figures(document)}\n{END}{after}"


def main() -> int:
    """Write or compare; 1 if page or plots are old."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether they differ")
    chosen = parser.parse_args()
    document = json.loads(FIGURES.read_text())
    contents = {PAGE: made(PAGE.read_text(), document)}
    contents |= {DOCS / name: plot for name, plot in plots(document).items()}
    if not chosen.check:
        for path, content in contents.items():
            path.write_text(content)
    elif any(not path.exists() or path.read_text() != text for path, text in contents.items()):
        sys.stderr.write("run `make performance-page`: docs/performance.md or a plot is old\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
