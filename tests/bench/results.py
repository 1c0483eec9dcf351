"""What the benchmarks found, in one list: for the page docs/performance.md and for machines."""

import json
import os
import platform
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Result:
    """One figure."""

    group: str
    """What `--only` calls its benchmark."""

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

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without one."""
        if self.goal is None:
            return None
        return self.value <= self.goal if self.less else self.value >= self.goal


RESULTS: Final[list[Result]] = []
"""All figures of this run, in order."""


def note(
    group: str, name: str, value: float, unit: str, *, goal: float | None = None, less: bool = False
) -> None:
    """Keep a figure; see `Result`."""
    RESULTS.append(Result(group, name, value, unit, goal, less))


def write(path: Path, *, quick: bool) -> None:
    """Write all figures, with the machine known by its cores and clock alone."""
    document: dict[str, Any] = {
        "cores": os.cpu_count(),
        "clock_ghz": _clock_ghz(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "quick": quick,
        "results": [{**asdict(one), "met": one.met} for one in RESULTS],
    }
    path.write_text(json.dumps(document, indent=1) + "\n")


def _clock_ghz() -> float:
    try:
        found = re.search(
            r"^cpu MHz\s*:\s*([\d.]+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
    except OSError:
        return 0.0
    return round(float(found[1]) / 1000, 1) if found else 0.0
