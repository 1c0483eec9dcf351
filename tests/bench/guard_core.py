"""What pieces of the rules core cost, set against the same pieces of the reference."""

import statistics
import time
from collections.abc import Mapping

from guard_works import Work


class CoreCosts:
    """Costs that become surer the more rounds are measured."""

    def __init__(self, works: Mapping[str, Work], references: Mapping[str, Work]) -> None:
        """Nothing is measured yet.

        Args:
            works: what is guarded.
            references: the same works of the reference.
        """
        self._works = works
        self._references = references
        self._ratios: dict[str, list[float]] = {name: [] for name in works}

    def measure(self, rounds: int) -> None:
        """Do each work and its reference in turn so often; who is first changes."""
        for number in range(rounds):
            for name, work in self._works.items():
                pair = (work, self._references[name])
                if number % 2:
                    other, took = _took(pair[1]), _took(pair[0])
                else:
                    took, other = _took(pair[0]), _took(pair[1])
                self._ratios[name].append(took / other)

    def costs(self) -> dict[str, float]:
        """How many times its reference each work costs: the median of all rounds.

        Two slices that follow each other have the machine as it is at that moment, busy or not: their
        ratio is steadier than either.
        """
        return {name: statistics.median(ratios) for name, ratios in self._ratios.items()}


def _took(work: Work) -> float:
    """Seconds of this process's CPU."""
    begun = time.process_time()
    work()
    return time.process_time() - begun
