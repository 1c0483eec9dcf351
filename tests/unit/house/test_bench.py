"""What the benchmark keeps of a run, which parts it has, and how its clients count."""

import json
import zipfile
from pathlib import Path

import pytest

import compiled_core
import core_wheel
from bench_rooms import rise
from parts import PARTS, choose
from results import Result, Run, document, read
from room_load import _Room


@pytest.mark.parametrize(
    ("value", "goal", "less", "met"),
    [
        (60_000, 60_000, False, True),
        (59_999, 60_000, False, False),
        (6.0, 6.0, True, True),
        (6.1, 6.0, True, False),
        (1.0, None, True, None),
    ],
)
def test_a_goal_is_met_from_its_own_value_on(
    value: float, goal: float | None, less: bool, met: bool | None
) -> None:
    assert met is Result("core-clone", "clone", value, "µs", goal, less).met


def test_a_run_names_its_machine_by_cores_and_clock_alone() -> None:
    run = Run([Result("core-clone", "clone", 2.71828, "µs", 6.0, True)], {"core-clone": 1.23})

    found = document(run, quick=True)

    machine = {"cores", "clock_ghz", "python"}
    assert machine | {"date", "commit", "quick", "seconds", "results"} == set(found)
    assert {"core-clone": 1.2} == found["seconds"]
    assert [2.718, True] == [found["results"][0][name] for name in ("value", "met")]


def test_figures_come_back_as_they_were_written(tmp_path: Path) -> None:
    results = [
        Result("core-clone", "clone", 1.25, "µs", 6.0, True, "compiled"),
        Result("stores", "SQLite", 5_000.0, "appends/s"),
    ]
    (tmp_path / "run.json").write_text(json.dumps(document(Run(results), quick=False)))

    assert results == list(read(tmp_path / "run.json"))


def test_parts_have_names_of_their_own() -> None:
    names = [part.name for part in PARTS]

    assert sorted(set(names)) == sorted(names)


def test_a_run_that_names_nothing_has_every_usual_part() -> None:
    names = {part.name for part in choose([])}

    assert {"core-list", "simulate", "rooms-200", "paced", "leaderboards"} <= names
    assert not names & {"flood", "audit", "seats"}


def test_a_part_is_found_by_its_name_or_by_pieces_of_names() -> None:
    assert ["core-digest"] == [part.name for part in choose(["core-digest"])]
    assert ["rooms-1", "rooms-50", "rooms-200", "rooms-redis"] == [
        part.name for part in choose(["rooms"])
    ]
    assert ["core-die", "flood"] == [part.name for part in choose(["flood", "die"])]


def test_a_part_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="no part is called 'rums'; there are core-list, "):
        choose(["rums"])


def test_a_wheel_counts_only_if_it_is_compiled_from_the_source_as_it_is(tmp_path: Path) -> None:
    source = core_wheel.CORE / core_wheel.PACKAGE
    texts = {
        path.relative_to(core_wheel.CORE).as_posix(): path.read_bytes()
        for path in source.rglob("*.py")
    }
    library = "opolyx_rules/engine.so"

    assert compiled_core.is_current(_wheel(tmp_path / "current.whl", {**texts, library: b""}))
    assert not compiled_core.is_current(_wheel(tmp_path / "pure.whl", texts))
    older = {**texts, library: b"", "opolyx_rules/engine.py": b"# older"}
    assert not compiled_core.is_current(_wheel(tmp_path / "older.whl", older))


def test_an_action_counts_once_though_the_next_overtakes_it() -> None:
    room = _Room("g", 0)

    reached = [room.reached(seq) for seq in (1, 2, 1, 1, 2, 2, 1, 2)]

    assert [False] * 6 + [True, True] == reached
    assert {} == room.received


@pytest.mark.parametrize(
    ("costs", "most"),
    [([2.0, 2.0], 1.0), ([4.0, 2.0, 3.0], 1.5), ([1.0, 1.2, 1.1], 1.2), ([3.0, 2.0, 1.0], 1.0)],
)
def test_the_greatest_rise_is_from_the_least_before(costs: list[float], most: float) -> None:
    assert most == rise(costs)


def _wheel(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path
