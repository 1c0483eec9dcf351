"""Makes guarded work slower on purpose, to prove that the guard notices: nothing else uses this.

As a child process, `python guard_planted.py engine TIMES DIRECTORY SETTINGS` is an engine that takes so many
times its CPU for each step, and `python guard_planted.py core TIMES ROUNDS` measures such a core.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

from guard_core import CoreCosts, ratios
from guard_reference import reference_works
from guard_works import Work, works_of_imported_core
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


def slower_core(times: float) -> CoreCosts:
    """A core each of whose works takes so many times its CPU."""
    return CoreCosts((__file__, "core", str(times)))


def slower_engine(times: float) -> type[ObservedEngine]:
    """An engine that takes so many times its CPU for each step."""

    class SlowerEngine(ObservedEngine):
        command = (__file__, "engine", str(times))

    return SlowerEngine


def burn(seconds: float) -> None:
    """Take so much of this thread's CPU."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def _serve(times: float, directory: Path, settings: dict[str, Any]) -> int:
    plan, since = Table.plan, time.process_time()

    def slow_plan(*arguments: Any) -> Any:
        nonlocal since
        burn((time.process_time() - since) * (times - 1))  # of all that the last step took
        since = time.process_time()
        return plan(*arguments)

    with mock.patch.object(Table, "plan", slow_plan):
        return run(lambda _: observe(directory, settings))


def _measure(times: float, rounds: int) -> None:
    works = {name: slower(work, times) for name, work in works_of_imported_core().items()}
    print(json.dumps(ratios(works, reference_works(), rounds)))


if __name__ == "__main__":
    if sys.argv[1] == "core":
        _measure(float(sys.argv[2]), int(sys.argv[3]))
    else:
        sys.exit(_serve(float(sys.argv[2]), Path(sys.argv[3]), json.loads(sys.argv[4])))
