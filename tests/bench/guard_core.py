"""What pieces of the rules core cost, set against the same pieces of the reference.

As a child process, `python guard_core.py ROUNDS` prints the ratios of so many rounds. Several processes
measure, one after another: where things come to lie in memory differs from one to the next, and makes
copies a tenth dearer in some, however long they are measured.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Final

from guard_reference import reference_works
from guard_works import Work, works_of_imported_core

ROUNDS: Final = 8
"""Of each process."""

_MOST_SECONDS: Final = 300.0


class CoreCosts:
    """Costs that become surer the more processes have measured them."""

    def __init__(self, command: tuple[str, ...] = (__file__,)) -> None:
        """Nothing is measured yet; `command` is what Python runs as a child."""
        self._command = command
        self._ratios: dict[str, list[float]] = {}

    def measure(self, processes: int) -> None:
        """Let so many processes measure."""
        for _ in range(processes):
            told = subprocess.run(
                [sys.executable, *self._command, str(ROUNDS)],
                capture_output=True,
                check=True,
                timeout=_MOST_SECONDS,
            )
            for name, ratios in json.loads(told.stdout).items():
                self._ratios.setdefault(name, []).append(statistics.median(ratios))

    def costs(self) -> dict[str, float]:
        """How many times its reference each work costs: the median of all processes."""
        return {name: statistics.median(ratios) for name, ratios in self._ratios.items()}


def ratios(
    works: Mapping[str, Work], references: Mapping[str, Work], rounds: int
) -> dict[str, list[float]]:
    """Do each work and its reference in turn so often; how many times the other each took.

    Two slices that follow each other have the machine as it is at that moment, busy or not: their
    ratio is steadier than either. Who is first changes.
    """
    found: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds):
        for name, work in works.items():
            reference = references[name]
            if number % 2:
                other, took = _took(reference), _took(work)
            else:
                took, other = _took(work), _took(reference)
            found[name].append(took / other)
    return found


def _took(work: Work) -> float:
    """Seconds of this process's CPU."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    print(json.dumps(ratios(works_of_imported_core(), reference_works(), int(sys.argv[1]))))
