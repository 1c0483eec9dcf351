"""By how much the server's clock is ahead of ours."""

import time
from collections.abc import Callable


class ServerClock:
    """An estimate from the server's times seen on one connection.

    A server's time is old by the time it arrives, so each makes the server look behind by its
    latency; the largest difference is the truest. A round trip halves the error and, once there
    is one, only better ones count.
    """

    __slots__ = ("_ahead_ms", "_best_trip_ms", "_now_ms")

    def __init__(self, now_ms: Callable[[], float] | None = None) -> None:
        self._now_ms = now_ms or _local_ms
        self._ahead_ms: float | None = None
        self._best_trip_ms: float | None = None

    @property
    def ahead_ms(self) -> int:
        """The estimate, milliseconds; 0 before the server has said anything."""
        return round(self._ahead_ms or 0)

    def now_ms(self) -> float:
        """This machine's Unix time, milliseconds."""
        return self._now_ms()

    def saw(self, server_ms: int) -> None:
        """The server's time has just arrived."""
        ahead = server_ms - self._now_ms()
        if self._best_trip_ms is None and (self._ahead_ms is None or ahead > self._ahead_ms):
            self._ahead_ms = ahead

    def saw_round_trip(self, sent_ms: float, server_ms: int) -> None:
        """The server's time has just arrived in answer to what was sent at `sent_ms`."""
        now = self._now_ms()
        trip = max(0.0, now - sent_ms)
        if self._best_trip_ms is None or trip <= self._best_trip_ms:
            self._best_trip_ms = trip
            self._ahead_ms = server_ms - (sent_ms + now) / 2

    def forget(self) -> None:
        """Begin anew: another connection may lead to another machine."""
        self._best_trip_ms = None
        self._ahead_ms = None


def _local_ms() -> float:
    return time.time() * 1000
