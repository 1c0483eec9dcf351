"""What the benchmarks found, in one list: for the page docs/performance.md and for machines."""

import datetime
import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from opolyx_rules import compiled

CORE: Final = "compiled" if compiled else "interpreted"
"""Which build of the rules core this process measures."""


@dataclass(frozen=True, slots=True)
class Result:
    """One figure."""

    part: str
    """What `--only` calls the measure."""

    name: str
    """What was measured."""

    value: float
    """How much."""

    unit: str
    """Of what."""

    goal: float | None = None
    """What it should be; None without a goal."""

    less: bool = False
    """Whether less than the goal is better."""

    core: str = CORE
    """The build of the rules core, `interpreted` or `compiled`."""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without one."""
        if self.goal is None:
            return None
        return self.value <= self.goal if self.less else self.value >= self.goal


@dataclass(slots=True)
class Run:
    """All figures of one run, in order, and what its parts took."""

    results: list[Result] = field(default_factory=list)
    """The figures."""

    seconds: dict[str, float] = field(default_factory=dict)
    """How long each part took."""


RUN: Final = Run()
"""This process's run."""


def note(
    part: str, name: str, value: float, unit: str, *, goal: float | None = None, less: bool = False
) -> None:
    """Keep a figure; see `Result`."""
    RUN.results.append(Result(part, name, value, unit, goal, less))


def document(run: Run, *, quick: bool) -> dict[str, Any]:
    """The run as JSON has it, with the machine known by its cores and clock alone."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": _commit(),
        "cores": os.cpu_count(),
        "clock_ghz": _clock_ghz(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "quick": quick,
        "seconds": {name: round(took, 1) for name, took in run.seconds.items()},
        "results": [
            {**asdict(one), "value": float(f"{one.value:.4g}"), "met": one.met}
            for one in run.results
        ],
    }


def write(path: Path, *, quick: bool) -> None:
    """Write all figures."""
    path.write_text(json.dumps(document(RUN, quick=quick), indent=1) + "\n")


def read(path: Path) -> Iterable[Result]:
    """The figures that `write` wrote."""
    for one in json.loads(path.read_text())["results"]:
        yield Result(**{name: value for name, value in one.items() if name != "met"})


def _commit() -> str:
    """The commit that is checked out, abbreviated; empty where there is none."""
    try:
        told = subprocess.run(
            ["git", "rev-parse", "--short=10", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return told.stdout.strip()


def _clock_ghz() -> float:
    try:
        found = re.search(
            r"^cpu MHz\s*:\s*([\d.]+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
    except OSError:
        return 0.0
    return round(float(found[1]) / 1000, 1) if found else 0.0
