"""Who waits for a room's next change; bounded, because only the newest state is kept."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from opolyx_matchmaker.refusals import draining
from opolyx_matchmaker.room import Room
from opolyx_servicekit.errors import ResourceExhausted

_RETRY_MS: Final = 5_000


class Watcher:
    """One stream that waits for one room; a reader too slow sees the newest state only."""

    def __init__(self) -> None:
        """Nothing has changed yet."""
        self._changed = asyncio.Event()
        self._newest: Room | None = None
        self._draining = False

    def offer(self, room: Room) -> None:
        """Take a newer state; an older one, overtaken on its way here, is left out."""
        if self._newest is None or room.revision > self._newest.revision:
            self._newest = room
            self._changed.set()

    def drain(self) -> None:
        """End the wait with DRAINING."""
        self._draining = True
        self._changed.set()

    async def next(self, timeout_seconds: float) -> Room | None:
        """The newest state once there is one that wasn't returned yet; None after the timeout.

        Raises:
            Unavailable: the service drains.
        """
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._changed.wait()
        except TimeoutError:
            return None
        if self._draining:
            raise draining()
        self._changed.clear()
        return self._newest


class RoomBoard:
    """Tells watchers of rooms what changed in this process."""

    def __init__(self) -> None:
        """Nobody watches."""
        self._watchers: dict[str, set[Watcher]] = {}
        self._draining = False

    def publish(self, room: Room) -> None:
        """Tell those who watch `room`."""
        for watcher in self._watchers.get(room.room_id, ()):
            watcher.offer(room)

    @contextmanager
    def watching(self, room_id: str) -> Iterator[Watcher]:
        """Watch a room for the length of a block."""
        if self._draining:
            raise draining()
        watcher = Watcher()
        watchers = self._watchers.setdefault(room_id, set())
        watchers.add(watcher)
        try:
            yield watcher
        finally:
            watchers.discard(watcher)
            if not watchers:
                self._watchers.pop(room_id, None)

    def drain(self) -> None:
        """End all watching, and let nobody begin."""
        self._draining = True
        for watchers in self._watchers.values():
            for watcher in watchers:
                watcher.drain()


class StreamLimit:
    """How many streams an account has open."""

    def __init__(self, most: int) -> None:
        """Allow `most` an account."""
        self._most = most
        self._open: dict[str, int] = {}

    @contextmanager
    def stream(self, player_id: str) -> Iterator[None]:
        """Count a stream for the length of a block.

        Raises:
            ResourceExhausted: the account has as many as it may.
        """
        count = self._open.get(player_id, 0)
        if count >= self._most:
            raise ResourceExhausted(
                "LIMIT",
                f"{self._most} streams are open",
                metadata={"limit": "streams_per_player", "value": self._most},
                retry_after_ms=_RETRY_MS,
            )
        self._open[player_id] = count + 1
        try:
            yield
        finally:
            left = self._open.pop(player_id) - 1
            if left:
                self._open[player_id] = left
