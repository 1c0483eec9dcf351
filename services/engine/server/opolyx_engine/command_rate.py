"""How many commands a seat may send: a token bucket, counted in milliseconds."""

from opolyx_engine.command import TOO_FAST
from opolyx_rules.reasons import Refusal


class CommandRate:
    """The bucket of one seat in one game."""

    __slots__ = ("_allowance", "_burst", "_last_ms", "_per_second")

    def __init__(self, per_second: int, burst: int) -> None:
        """A full bucket of `burst` commands, filled again by `per_second`."""
        self._per_second = per_second
        self._burst = burst
        self._allowance = float(burst)
        self._last_ms = 0

    def refusal(self, now_ms: int) -> Refusal | None:
        """Take one command; why not, and when again, if the bucket is empty."""
        elapsed_ms = max(0, now_ms - self._last_ms)
        self._last_ms = now_ms
        filled = self._allowance + elapsed_ms * self._per_second / 1000
        self._allowance = min(float(self._burst), filled)
        if self._allowance < 1:
            wait_ms = int((1 - self._allowance) * 1000 / self._per_second) + 1
            return Refusal(TOO_FAST, "", (("retry_after_ms", wait_ms),))
        self._allowance -= 1
        return None
