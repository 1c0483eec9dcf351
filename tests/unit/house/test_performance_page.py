"""docs/performance.md: every goal has a line, with its figure and the command that measures it."""

import json
import re
from typing import Any, Final
from xml.etree import ElementTree

import pytest

import performance_page
from parts import PARTS
from performance_plots import reached

GOALS: Final = (
    ("core-list", "random play", "interpreted"),
    ("core-list", "steady's games", "interpreted"),
    ("core-recorded", "random play", "interpreted"),
    ("core-recorded", "steady's games", "interpreted"),
    ("core-validated", "random bot", "interpreted"),
    ("core-clone", "clone", "interpreted"),
    ("core-die", "a verifiable die", "interpreted"),
    ("rooms-1", "1 room, engine", "interpreted"),
    ("rooms-50", "50 rooms, engine", "interpreted"),
    ("rooms-200", "200 rooms, engine", "interpreted"),
    ("rooms-50", "50 rooms, engine's share of bare grpc.aio", "interpreted"),
    ("rooms-200", "200 rooms, engine's share of bare grpc.aio", "interpreted"),
    ("many-games", "", "interpreted"),
    ("paced", "50 rooms, 400 actions/s, engine, p99", "interpreted"),
    ("idle-streams", "memory a game", "interpreted"),
    ("flat", "", "interpreted"),
    ("recovery", "", "interpreted"),
)
"""The goals that the page must have: part, beginning of the name, build of the core."""

COMPILED: Final = ("core-list", "core-recorded", "core-validated", "core-clone", "core-die")


def result(name: str = "clone", **fields: Any) -> dict[str, Any]:
    usual = {
        "part": "core-clone",
        "name": name,
        "value": 3.0,
        "unit": "µs",
        "goal": 6.0,
        "less": True,
        "core": "interpreted",
        "met": True,
    }
    return {**usual, **fields}


def run(*results: dict[str, Any], quick: bool = False) -> dict[str, Any]:
    return {
        "date": "2030-01-02",
        "commit": "abc",
        "cores": 2,
        "clock_ghz": 2.0,
        "python": "CPython 3.11.7",
        "quick": quick,
        "seconds": {"core-clone": 1.0},
        "results": list(results),
    }


def committed() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(performance_page.FIGURES.read_text())
    return document


def test_page_and_plots_are_those_of_the_figures() -> None:
    document = committed()
    page = performance_page.PAGE.read_text()

    assert page == performance_page.made(page, document), "run `make performance-page`"
    for name, plot in performance_page.plots(document).items():
        assert plot == (performance_page.DOCS / name).read_text(), "run `make performance-page`"


@pytest.mark.parametrize(("part", "name", "core"), GOALS)
def test_every_goal_has_a_line_with_its_figure(part: str, name: str, core: str) -> None:
    found = [
        one
        for one in committed()["results"]
        if (one["part"], one["core"]) == (part, core)
        and one["name"].startswith(name)
        and one["goal"] is not None
    ]

    assert found


@pytest.mark.parametrize("part", COMPILED)
def test_the_compiled_core_has_its_goals_too(part: str) -> None:
    assert [
        one
        for one in committed()["results"]
        if (one["part"], one["core"]) == (part, "compiled") and one["goal"] is not None
    ]


def test_every_command_of_the_page_names_a_part() -> None:
    named = set(re.findall(r'--only ([a-z0-9-]+)"`', performance_page.PAGE.read_text()))

    assert named
    assert named <= {part.name for part in PARTS}


def test_a_line_has_figure_goal_verdict_and_command() -> None:
    text = performance_page.figures(run(result()))

    assert '| clone | 3 µs | ≤ 6 | met | `make bench ARGS="--only core-clone"` |' in text


def test_a_goal_that_is_not_met_says_so() -> None:
    text = performance_page.figures(run(result(value=7.0, met=False)))

    assert "| 7 µs | ≤ 6 | **not met** |" in text
    assert "0 of 1 goals are met" in text


def test_compiled_figures_stand_beside_the_interpreted_ones() -> None:
    compiled = result(value=1.0, goal=1.2, core="compiled")

    text = performance_page.figures(run(result(), compiled))

    assert "| clone | 3 µs | ≤ 6 | met | 1 µs | ≤ 1.2 | met |" in text
    assert "2 of 2 goals are met" in text


def test_a_line_without_a_compiled_figure_says_so() -> None:
    compiled = result(value=1.0, goal=1.2, core="compiled")

    text = performance_page.figures(run(result("copy"), result(), compiled))

    assert "| copy | 3 µs | ≤ 6 | met | not measured |  |  |" in text


def test_a_short_run_says_that_it_is_rough() -> None:
    assert "rough" in performance_page.figures(run(result(), quick=True))
    assert "rough" not in performance_page.figures(run(result()))


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="marks"):
        performance_page.made("# Performance\n", run(result()))


def test_only_what_is_between_the_marks_changes() -> None:
    page = f"before\n{performance_page.BEGIN}old\n{performance_page.END}after\n"

    made = performance_page.made(page, run(result()))

    assert made.startswith("before\n")
    assert made.endswith("after\n")
    assert "old" not in made


@pytest.mark.parametrize(
    ("fields", "share"),
    [
        ({"value": 3.0, "goal": 6.0, "less": True}, 2.0),
        ({"value": 12.0, "goal": 6.0, "less": True}, 0.5),
        ({"value": 30.0, "goal": 60.0, "less": False}, 0.5),
        ({"value": 0.0, "goal": 6.0, "less": True}, 3.0),
    ],
)
def test_how_much_of_a_goal_is_reached(fields: dict[str, Any], share: float) -> None:
    assert share == reached(result(**fields))


def test_plots_are_well_formed_and_the_same_each_time_even_of_an_odd_run() -> None:
    rooms = [
        result(
            f"50 rooms, {name}",
            part="rooms-50",
            unit="µs CPU an action",
            goal=None,
            met=None,
            value=900.0,
        )
        for name in ("engine", "bare grpc.aio")
    ]
    flat = result("1,000 games, <all>", part="flat", unit="µs CPU an action", goal=None, met=None)
    for document in (run(result("a < b"), *rooms, flat), run()):
        plots = performance_page.plots(document)
        assert plots == performance_page.plots(document)
        for plot in plots.values():
            ElementTree.fromstring(plot)


def test_plots_have_colours_for_light_and_for_dark() -> None:
    for plot in performance_page.plots(run(result())).values():
        assert "prefers-color-scheme:dark" in plot
        assert 'class="ground"' in plot
