"""Makes guarded work slower on purpose, to prove that the guard notices: nothing else uses this.

As a child process it is an engine each of whose steps takes so many microseconds of CPU more:
`python guard_planted.py MICROSECONDS DIRECTORY SETTINGS`.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

from guard_works import Work
from opolyx_engine.table import Table
from opolyx_servicekit.server import run
from support_observed import ObservedEngine, observe


def slower(work: Work, times: float) -> Work:
    """The same work for so many times its CPU."""

    def slowed() -> None:
        begun = time.thread_time()
        work()
        burn((time.thread_time() - begun) * (times - 1))

    return slowed


def slower_engine(more_us: float) -> type[ObservedEngine]:
    """An engine each of whose steps takes so much more."""

    class SlowerEngine(ObservedEngine):
        command = (__file__, f"{more_us:.1f}")

    return SlowerEngine


def burn(seconds: float) -> None:
    """Take so much of this thread's CPU."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def _serve(more_us: float, directory: Path, settings: dict[str, Any]) -> int:
    plan = Table.plan

    def slow_plan(*arguments: Any) -> Any:
        burn(more_us / 1e6)
        return plan(*arguments)

    with mock.patch.object(Table, "plan", slow_plan):
        return run(lambda _: observe(directory, settings))


if __name__ == "__main__":
    sys.exit(_serve(float(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])))
