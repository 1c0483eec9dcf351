"""How long a bot thinks, over any number of decisions, in a little room."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

_STEPS: Final = 100  # a power of ten has so many buckets: an answer is right to within 2.4 %
_SHORTEST_S: Final = 1e-7


@dataclass(slots=True)
class ThinkingTime:
    """Times of decisions."""

    count: int = 0
    """How many."""

    total_s: float = 0.0
    """Seconds in all."""

    buckets: Counter[int] = field(default_factory=Counter)
    """How many took about as long, by the logarithm of the time."""

    @classmethod
    def of(cls, times_s: Iterable[float]) -> "ThinkingTime":
        """Gather times in seconds."""
        times = list(times_s)
        places = [math.floor(math.log10(max(one, _SHORTEST_S)) * _STEPS) for one in times]
        return cls(len(times), sum(times), Counter(places))

    def add(self, other: "ThinkingTime") -> None:
        """Take in what another has gathered."""
        self.count += other.count
        self.total_s += other.total_s
        self.buckets.update(other.buckets)

    @property
    def mean_s(self) -> float:
        """Seconds on average; 0 without decisions."""
        return self.total_s / self.count if self.count else 0.0

    def percentile_s(self, share: float) -> float:
        """What so large a share of the decisions, 0..1, did not exceed, in seconds."""
        wanted, passed = share * self.count, 0
        for place in sorted(self.buckets):
            passed += self.buckets[place]
            if passed >= wanted:
                return float(10 ** ((place + 0.5) / _STEPS))
        return 0.0
