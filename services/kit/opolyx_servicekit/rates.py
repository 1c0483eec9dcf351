"""How often something may be done: token buckets, counted in milliseconds.

Commands, streams and attaches each have buckets of their own, so that who reopens streams all the
time can still play, and who plays fast can still come back.
"""

from collections import OrderedDict
from typing import Final

_MOST_KEYS: Final = 10_000


class Bucket:
    """One bucket."""

    __slots__ = ("_allowance", "_burst", "_last_ms", "_per_second")

    def __init__(self, per_second: int, burst: int) -> None:
        """A full bucket of `burst`, filled again by `per_second`."""
        self._per_second = per_second
        self._burst = burst
        self._allowance = float(burst)
        self._last_ms = 0

    def wait_ms(self, now_ms: int, amount: int = 1) -> int:
        """Take `amount` and return 0, or take nothing and return after how long there is as much.

        More than the burst there never is.
        """
        elapsed_ms = max(0, now_ms - self._last_ms)
        self._last_ms = now_ms
        filled = self._allowance + elapsed_ms * self._per_second / 1000
        self._allowance = min(float(self._burst), filled)
        if self._allowance < amount:
            return int((amount - self._allowance) * 1000 / self._per_second) + 1
        self._allowance -= amount
        return 0


class Buckets:
    """A bucket for each key, an account say; those unused for longest are forgotten, and so full."""

    def __init__(self, per_second: int, burst: int, *, most_keys: int = _MOST_KEYS) -> None:
        """Full buckets of `burst`, filled again by `per_second`; at most so many are kept."""
        self._per_second = per_second
        self._burst = burst
        self._most_keys = most_keys
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def wait_ms(self, key: str, now_ms: int, amount: int = 1) -> int:
        """See `Bucket.wait_ms`."""
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._per_second, self._burst)
            if len(self._buckets) > self._most_keys:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        return bucket.wait_ms(now_ms, amount)
