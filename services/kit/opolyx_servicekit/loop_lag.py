"""How late the event loop is: everything that a service does waits at least as long."""

from typing import Final

from prometheus_client import CollectorRegistry, Histogram

from opolyx_servicekit.wall_clock import Clock, SystemClock

_EVERY_MS: Final = 250
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class LoopLag:
    """Sleeps again and again, and notes how much too long it slept."""

    def __init__(self, registry: CollectorRegistry, clock: Clock | None = None) -> None:
        """Register the metric with `registry`."""
        self._clock = clock or SystemClock()
        self._seconds = Histogram(
            "opolyx_event_loop_lag_seconds",
            "Seconds by which a sleep of the event loop was too long.",
            registry=registry,
            buckets=_BUCKETS,
        )

    async def run(self) -> None:
        """Measure until cancelled."""
        while True:
            await self.look()

    async def look(self) -> None:
        """Measure once."""
        begun = self._clock.monotonic()
        await self._clock.sleep_until(self._clock.now_ms() + _EVERY_MS)
        late = self._clock.monotonic() - begun - _EVERY_MS / 1000
        self._seconds.observe(max(0.0, late))
