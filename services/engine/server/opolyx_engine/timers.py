"""Wakes games when their clocks are due: one heap and one sleeping task for all games."""

import asyncio
import heapq
from collections.abc import Callable
from typing import Protocol

from opolyx_servicekit.wall_clock import Clock


class Due(Protocol):
    """Something that has a next due time."""

    next_due_ms: int | None
    """Unix milliseconds; None for never."""

    def wake(self) -> None:
        """Told at or after the due time."""
        ...


class Alarm:
    """When one game is due and whom to tell: small, as the timers may keep it until it is due."""

    __slots__ = ("_ring", "next_due_ms")

    def __init__(self, ring: Callable[[], object]) -> None:
        """Never due, until that is set; `ring` is called when it is."""
        self._ring = ring
        self.next_due_ms: int | None = None
        """Unix milliseconds; None for never."""

    def wake(self) -> None:
        """Tell who is to be told."""
        self._ring()

    def off(self) -> None:
        """Never ring again, and hold on to nobody."""
        self.next_due_ms = None
        self._ring = _nothing


class Timers:
    """One entry or few a game, however often its deadline moves.

    An entry that comes up before its game is due is put back at the game's own time; only a
    deadline that moved earlier needs another entry.
    """

    def __init__(self, clock: Clock) -> None:
        """Take the time from `clock`."""
        self._clock = clock
        self._heap: list[tuple[int, int, Due]] = []
        self._count = 0
        self._armed: dict[int, int] = {}
        self._earlier = asyncio.Event()

    def watch(self, game: Due) -> None:
        """Make sure that `game` is woken at its due time; call it when that time has changed."""
        due = game.next_due_ms
        if due is None or self._armed.get(id(game), 1 << 62) <= due:
            return
        self._push(due, game)
        if self._heap[0][2] is game:
            self._earlier.set()

    def _push(self, due: int, game: Due) -> None:
        self._count += 1
        self._armed[id(game)] = due
        heapq.heappush(self._heap, (due, self._count, game))

    async def run(self) -> None:
        """Wake games until cancelled."""
        while True:
            self._earlier.clear()
            self._fire()
            await self._sleep()

    def _fire(self) -> None:
        now = self._clock.now_ms()
        while self._heap and self._heap[0][0] <= now:
            due, _, game = heapq.heappop(self._heap)
            if self._armed.get(id(game)) == due:
                del self._armed[id(game)]
            current = game.next_due_ms
            if current is None:
                continue
            if current <= now:
                game.wake()
            else:
                self.watch(game)

    async def _sleep(self) -> None:
        earlier = asyncio.ensure_future(self._earlier.wait())
        waits: set[asyncio.Future[object]] = {earlier}  # type: ignore[arg-type]
        if self._heap:
            waits.add(asyncio.ensure_future(self._clock.sleep_until(self._heap[0][0])))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)


def _nothing() -> None:
    """What an alarm does that is off."""
