"""What the guard of the speed decides, and what it compares with."""

import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import guard
import guard_costs
import guard_planted
import guard_reference
import opolyx_rules
from guard_core import CoreCosts, ratios
from guard_limits import SERVER, TOLERANCE, Verdict, judge, load, save
from guard_planted import slower, slower_engine
from guard_works import Work, works_of_imported_core
from opolyx_engine.table import Table
from support_observed import ObservedEngine


@pytest.mark.parametrize(
    ("times", "slower"), [(0.5, False), (1.0, False), (1.11, False), (1.13, True), (1.25, True)]
)
def test_noise_passes_and_a_loss_of_a_quarter_does_not(times: float, slower: bool) -> None:
    assert slower is Verdict("clones", 3.0 * times, 3.0).slower


@pytest.mark.parametrize(
    ("times", "unclear"), [(0.9, False), (1.04, False), (1.06, True), (1.19, True), (1.3, False)]
)
def test_only_what_is_near_the_tolerance_is_measured_again(times: float, unclear: bool) -> None:
    assert unclear is Verdict("clones", times, 1.0).unclear


@pytest.mark.parametrize(
    ("found", "limit", "cost", "turns"),
    [
        ([3.0], 3.0, 3.0, 1),
        ([3.4, 3.0, 3.1], 3.0, 3.1, 3),
        ([3.4, 3.4, 3.6], 3.0, 3.4, 3),
        ([4.0], 3.0, 4.0, 1),
        ([3.0, 3.1, 3.5], None, 3.1, 3),
    ],
)
def test_the_server_is_measured_until_it_is_clear(
    found: list[float],
    limit: float | None,
    cost: float,
    turns: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = list(found)

    async def one_turn(_: object) -> float:
        return left.pop(0)

    monkeypatch.setattr(guard_costs, "_server", one_turn)
    monkeypatch.setattr(guard_costs, "stay_on_one_core", lambda: None)

    assert cost == guard_costs.server_cost(limit)
    assert turns == len(found) - len(left)


def test_the_tolerance_lies_between_noise_and_a_loss_of_a_quarter() -> None:
    assert 1.1 < TOLERANCE < 1.25 / 1.1


def test_core_work_is_judged_by_the_reference_and_the_server_by_its_limit() -> None:
    costs = {"clones": 1.2, "records": 1.05, SERVER: 3.3}

    assert {"clones": True, "records": False, SERVER: False} == {
        one.name: one.slower for one in judge(costs, 3.0)
    }
    assert ["clones", "records"] == [one.name for one in judge(costs, None)]


def test_a_limit_is_kept_for_each_version_of_python(tmp_path: Path) -> None:
    file = tmp_path / "limits.json"
    save(3.14159, file, "3.11")
    save(2.5, file, "3.12")

    assert [3.142, 2.5, None] == [load(file, version) for version in ("3.11", "3.12", "3.13")]


def test_the_reference_is_another_core_than_the_one_that_is_imported() -> None:
    before = {name: one for name, one in sys.modules.items() if name.startswith("opolyx_rules")}

    reference, now = guard_reference.reference_works(), works_of_imported_core()

    assert list(now) == list(reference)
    assert opolyx_rules.State is not _state_class(reference["clones"])
    assert opolyx_rules.State is _state_class(now["clones"])
    assert before == {name: sys.modules[name] for name in before}
    assert str(guard_reference.FILE) not in sys.path


def test_the_same_source_is_packed_into_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.zip", "other.zip"):
        guard_reference.pack(tmp_path / name)

    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert "opolyx_rules/engine.py" in archive.namelist()


def test_each_work_is_set_against_its_own_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = {"now": 0.0}

    def taking(seconds: float) -> Work:
        def work() -> None:
            cpu["now"] += seconds

        return work

    monkeypatch.setattr("guard_core.time.process_time", lambda: cpu["now"])
    works = {"clones": taking(3.0), "lists": taking(2.0)}
    references = {"clones": taking(2.0), "lists": taking(4.0)}

    assert {"clones": [1.5] * 3, "lists": [0.5] * 3} == ratios(works, references, 3)


def test_the_median_of_several_processes_counts(tmp_path: Path) -> None:
    child = tmp_path / "child.py"
    child.write_text(
        "import json, pathlib, sys\n"
        "file = pathlib.Path(__file__).with_name('count')\n"
        "number = int(file.read_text()) if file.exists() else 0\n"
        "file.write_text(str(number + 1))\n"
        "print(json.dumps({'clones': [9, [1.0, 1.5, 1.1][number], 0]}))\n"
    )
    costs = CoreCosts((str(child),))

    costs.measure(3)

    assert {"clones": 1.1} == costs.costs()


def test_a_planted_loss_takes_its_share_more(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = {"now": 0.0}

    def work() -> None:
        cpu["now"] += 4.0

    def passing() -> float:
        cpu["now"] += 0.001
        return cpu["now"]

    monkeypatch.setattr("guard_planted.time.thread_time", passing)
    slower(work, 1.25)()

    assert cpu["now"] == pytest.approx(5.0, abs=0.1)


@pytest.mark.parametrize(("cost", "code"), [(3.0, 0), (3.7, 1)])
def test_the_guard_fails_where_something_is_slower(
    cost: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["guard"])
    monkeypatch.setattr(guard, "compiled", False)
    monkeypatch.setattr(guard, "load", lambda: 3.0)
    monkeypatch.setattr(guard, "measure", lambda limit: {"clones": 1.0, SERVER: cost})

    assert code == guard.main()
    assert (code == 1) is ("slower" in capsys.readouterr().out)


async def test_a_planted_engine_is_what_is_started(tmp_path: Path) -> None:
    child = tmp_path / "child.py"
    child.write_text("import sys; print(7, flush=True); sys.stdin.read()")

    class Child(ObservedEngine):
        command = (str(child),)

    async with Child(tmp_path) as engine:
        assert engine.port == 7

    assert (guard_planted.__file__, "engine", "1.25") == slower_engine(1.25).command


def test_each_step_of_a_planted_engine_takes_its_share_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    burnt: list[float] = []
    steps: list[object] = []
    cpu = iter((10.0, 12.0, 12.0, 13.0, 13.0))
    table: Any = Table

    def serve(_: object) -> None:
        table.plan("table", "roll")
        table.plan("table", "buy")

    monkeypatch.setattr(Table, "plan", lambda *arguments: steps.append(arguments))
    monkeypatch.setattr(guard_planted, "burn", burnt.append)
    monkeypatch.setattr(guard_planted, "run", serve)
    monkeypatch.setattr("guard_planted.time.process_time", lambda: next(cpu))

    guard_planted._serve(1.25, tmp_path, {})

    assert [0.5, 0.25] == burnt
    assert [("table", "roll"), ("table", "buy")] == steps


def test_a_renewal_packs_the_core_and_keeps_the_servers_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[object] = []
    monkeypatch.setattr(sys, "argv", ["guard", "--renew"])
    monkeypatch.setattr(guard, "compiled", False)
    monkeypatch.setattr(guard_reference, "pack", lambda: done.append("packed"))
    monkeypatch.setattr(guard, "server_cost", lambda _, turns: 2.5)
    monkeypatch.setattr(guard, "save", done.append)

    assert guard.main() == 0
    assert ["packed", 2.5] == done


def test_a_compiled_core_is_not_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["guard"])
    monkeypatch.setattr(guard, "compiled", True)

    assert guard.main() == 2


def test_without_a_limit_the_server_is_not_guarded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["guard"])
    monkeypatch.setattr(guard, "compiled", False)
    monkeypatch.setattr(guard, "load", lambda: None)
    monkeypatch.setattr(guard, "measure", lambda limit: {"clones": 1.0, SERVER: 99.0})

    assert guard.main() == 0
    assert "not guarded" in capsys.readouterr().out


def _state_class(clones: Work) -> type:
    """The class of the states that the work copies."""
    cells = dict(zip(clones.__code__.co_freevars, clones.__closure__ or (), strict=True))
    found: type = type(cells["states"].cell_contents[0])
    return found
