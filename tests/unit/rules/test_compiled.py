"""Which build of the rules runs: no compiled file may lie beside the source and shadow it."""

import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

import pytest

import core_wheel
import opolyx_rules

SOURCE: Final = core_wheel.CORE / core_wheel.PACKAGE


def test_no_compiled_file_lies_beside_the_source() -> None:
    stale = [path for suffix in EXTENSION_SUFFIXES for path in SOURCE.rglob(f"*{suffix}")]
    assert stale == []


def test_the_core_says_whether_it_is_compiled() -> None:
    runs_source = Path(opolyx_rules.__file__ or "").is_relative_to(SOURCE)
    assert opolyx_rules.compiled is not runs_source


def test_every_pattern_of_what_is_compiled_names_modules() -> None:
    for pattern in core_wheel.COMPILED:
        assert list(SOURCE.glob(pattern)), pattern
    modules = core_wheel.compiled_modules(core_wheel.CORE)
    assert "opolyx_rules/engine.py" in modules
    assert not any(name.endswith(("__init__.py", "source.py", "reasons.py")) for name in modules)


def test_without_a_compiler_the_wheel_is_pure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nowhere/cc -pthread")
    assert not core_wheel.has_compiler()
    monkeypatch.setenv("CC", sys.executable)
    assert core_wheel.has_compiler()


@pytest.mark.timeout(300)  # a loaded machine builds slowly
def test_the_pure_wheel_plays(tmp_path: Path) -> None:
    wheel = core_wheel.build(tmp_path / "out", compiled=False)
    assert wheel.name.endswith("-py3-none-any.whl")
    probe = "import opolyx_rules as r; print(r.compiled, r.__file__.startswith(sys.argv[1]))"
    told = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, sys.argv[1]); {probe}", str(wheel)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == ["False", "True"]
