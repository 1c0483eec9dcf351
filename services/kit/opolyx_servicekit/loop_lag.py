"""How late the event loop is: everything that a service does waits at least as long."""

from typing import Final

from prometheus_client import Histogram

from opolyx_servicekit.wall_clock import Clock, SystemClock

_EVERY_MS: Final = 250


class LoopLag:
    """Sleeps again and again, and notes how much too long it slept."""

    def __init__(self, seconds: Histogram, clock: Clock | None = None) -> None:
        """Note it in `seconds`."""
        self._seconds = seconds
        self._clock = clock or SystemClock()

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
