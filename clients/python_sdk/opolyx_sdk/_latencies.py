"""How long something took, many times over, in little memory: good to one percent."""

import math
from typing import Final

_STEP: Final = math.log(1.01)
_LEAST_S: Final = 1e-6


class Latencies:
    """Counts durations in buckets, each one percent wider than the last."""

    def __init__(self) -> None:
        """None yet."""
        self.count = 0
        """How many there were."""
        self.longest_s = 0.0
        """The longest, seconds."""
        self._buckets: dict[int, int] = {}

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.count += 1
        self.longest_s = max(self.longest_s, seconds)
        bucket = math.floor(math.log(max(seconds, _LEAST_S)) / _STEP)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1

    def quantile_s(self, share: float) -> float:
        """What that share of the durations did not exceed, seconds; 0 if there were none."""
        wanted, seen = share * self.count, 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= wanted:
                return min(math.exp((bucket + 1) * _STEP), self.longest_s)
        return 0.0
