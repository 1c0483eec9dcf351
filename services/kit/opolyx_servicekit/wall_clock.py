"""Time, injected: the system's clock, and one that tests move by hand."""

import asyncio
import heapq
import time
from typing import Final, Protocol

_LONGEST_NAP_S: Final = 30.0  # so that a corrected or resumed system clock is noticed
_LOOP_TURNS: Final = 20


class Clock(Protocol):
    """Where a service takes the time from."""

    def now_ms(self) -> int:
        """Unix time in milliseconds."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards, for durations."""
        ...

    async def sleep_until(self, unix_ms: int) -> None:
        """Return once `now_ms()` is `unix_ms` or later; at once if it already is."""
        ...


class SystemClock:
    """The machine's own time."""

    def now_ms(self) -> int:
        """Unix time in milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    async def sleep_until(self, unix_ms: int) -> None:
        """Return once `now_ms()` is `unix_ms` or later."""
        while (left_ms := unix_ms - self.now_ms()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(min(left_ms / 1000, _LONGEST_NAP_S))


class ManualClock:
    """A clock that stands still until `advance`; for tests."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        """Start at `now_ms`, Unix milliseconds."""
        self._now_ms = now_ms
        self._start_ms = now_ms
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._slept = 0

    def now_ms(self) -> int:
        """Unix time in milliseconds, as set."""
        return self._now_ms

    def monotonic(self) -> float:
        """Seconds advanced since the start."""
        return (self._now_ms - self._start_ms) / 1000

    @property
    def sleepers(self) -> int:
        """How many tasks sleep on this clock."""
        return sum(not woken.done() for _, _, woken in self._sleepers)

    async def sleep_until(self, unix_ms: int) -> None:
        """Return once the clock was advanced to `unix_ms`."""
        if unix_ms <= self._now_ms:
            return
        woken = asyncio.get_running_loop().create_future()
        self._slept += 1
        heapq.heappush(self._sleepers, (unix_ms, self._slept, woken))
        await woken

    async def advance(self, ms: int) -> None:
        """Move on by `ms`, waking sleepers one by one in the order of their deadlines.

        The clock shows each one's own deadline as it wakes, and what it then does (sleep again,
        say) happens before the next wakes, as far as that needs no other thread or socket.
        """
        target_ms = self._now_ms + ms
        await _settle()
        while self._sleepers and self._sleepers[0][0] <= target_ms:
            deadline_ms, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                self._now_ms = deadline_ms
                woken.set_result(None)
                await _settle()
        self._now_ms = target_ms


async def _settle() -> None:
    for _ in range(_LOOP_TURNS):
        await asyncio.sleep(0)
