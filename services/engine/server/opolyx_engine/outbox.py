"""What waits to be written to one stream: bounded, and never waited for by a game.

Overflow policy, when more than the limit waits: everything but answers is dropped, each game that
lost something gets one fresh snapshot as soon as the reader takes again, and what is published
until then isn't kept. A reader that doesn't take until as much again was dropped is ended with
RESOURCE_EXHAUSTED; so is one that doesn't read the answers to its own commands.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from opolyx_engine.metrics import EngineMetrics
from opolyx_servicekit.errors import ResourceExhausted, ServiceError


class Refreshable(Protocol):
    """A subscription whose queued frames can be replaced by a snapshot."""

    lagging: bool
    """Whether it waits for its snapshot; nothing else is queued for it meanwhile."""

    def snapshot_frame(self) -> bytes:
        """The game as it is now."""
        ...


class Outbox:
    """The frames queued for one stream; each is bytes ready to be joined into a response."""

    def __init__(self, most_frames: int, most_bytes: int, metrics: EngineMetrics) -> None:
        """Hold at most `most_frames` and `most_bytes`."""
        self._most_frames = most_frames
        self._most_bytes = most_bytes
        self._metrics = metrics
        self._queue: deque[tuple[bytes, Refreshable | None]] = deque()
        self._bytes = 0
        self._lagging: dict[Refreshable, None] = {}
        self._skipped = 0
        self._ready = False
        self._taker: asyncio.Future[None] | None = None
        self._error: ServiceError | None = None
        self._closed = False
        self._on_failure: Callable[[], object] = _nothing

    @property
    def waiting(self) -> int:
        """How many frames wait."""
        return len(self._queue)

    def put(self, frame: bytes) -> None:
        """Queue an answer or a notice, which is never dropped."""
        if not self._closed:
            self._add(frame, None)
            if self._over():
                self._overflow()

    def publish(self, frame: bytes, subscription: Refreshable) -> None:
        """Queue what a game publishes, or note that the reader is too slow for it."""
        if self._closed:
            return
        if subscription.lagging:
            self._skip()
            return
        self._add(frame, subscription)
        if self._over():
            self._overflow()

    def prime(self, frames: list[bytes], subscription: Refreshable) -> None:
        """Queue what a new subscription begins with, as one frame whatever its size.

        If that is too much with what waits already, the reader gets a snapshot when it takes.
        """
        if self._closed:
            return
        empty = not self._queue
        self._add(b"".join(frames), subscription)
        if not empty and self._over():
            self._overflow()

    def forget(self, subscription: Refreshable) -> None:
        """Owe `subscription` nothing more, nor send what is queued for it."""
        self._lagging.pop(subscription, None)
        if not self._closed:
            self._keep([entry for entry in self._queue if entry[1] is not subscription])

    def release(self, subscription: Refreshable, frame: bytes) -> None:
        """Queue `frame` as the last one of `subscription`: no snapshot may follow it."""
        self._lagging.pop(subscription, None)
        self._queue = deque(
            (queued, None if owner is subscription else owner) for queued, owner in self._queue
        )
        self.put(frame)

    def end(self, error: ServiceError | None = None) -> None:
        """Take nothing more; the reader gets what waits, then `error` or the end."""
        self._closed = True
        self._error = self._error or error
        self._wake()

    def fail(self, error: ServiceError) -> None:
        """End at once with `error`; what waits isn't sent, and a write in progress is given up."""
        if self._error is None:
            self._queue.clear()
            self._lagging.clear()
            self.end(error)
            self._on_failure()

    async def take(self) -> bytes:
        """All that waits, joined; empty at the end.

        Raises:
            ServiceError: the stream must end with it, and nothing waits any more.
        """
        while True:
            if not self._ready:
                await self._filled()
            self._skipped = 0
            if self._lagging:
                self._refresh()
            joined = b"".join([frame for frame, _ in self._queue])
            self._queue.clear()
            self._bytes = 0
            self._ready = bool(self._lagging) or self._closed
            if joined:
                return joined
            if self._error is not None:
                raise self._error
            if self._closed:
                return b""

    async def _filled(self) -> None:
        """Wait for what there is to take; one reader waits, so a future does for an event."""
        self._taker = asyncio.get_running_loop().create_future()
        try:
            await self._taker
        finally:
            self._taker = None

    @property
    def error(self) -> ServiceError | None:
        """What the stream must end with, once that is known."""
        return self._error

    def on_failure(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the stream must end at once, a write in progress or not."""
        self._on_failure = callback

    def _add(self, frame: bytes, subscription: Refreshable | None) -> None:
        self._queue.append((frame, subscription))
        self._bytes += len(frame)
        self._wake()

    def _wake(self) -> None:
        self._ready = True
        if self._taker is not None and not self._taker.done():
            self._taker.set_result(None)

    def _keep(self, entries: list[tuple[bytes, Refreshable | None]]) -> None:
        self._queue = deque(entries)
        self._bytes = sum(len(frame) for frame, _ in entries)

    def _over(self) -> bool:
        return len(self._queue) > self._most_frames or self._bytes > self._most_bytes

    def _overflow(self) -> None:
        for _, subscription in self._queue:
            if subscription is not None:
                subscription.lagging = True
                self._lagging[subscription] = None
        self._keep([entry for entry in self._queue if entry[1] is None])
        if self._over():
            self._give_up()
        else:
            self._metrics.slow_readers.labels("snapshot").inc()

    def _skip(self) -> None:
        self._skipped += 1
        if self._skipped > self._most_frames:
            self._give_up()

    def _give_up(self) -> None:
        if self._error is None:
            self._metrics.slow_readers.labels("ended").inc()
            self.fail(ResourceExhausted("SLOW_READER", "the reader is too slow"))

    def _refresh(self) -> None:
        """Snapshots for those that fell behind, as many as fit; the others with the next take."""
        while self._lagging and not self._over():
            subscription = next(iter(self._lagging))
            del self._lagging[subscription]
            subscription.lagging = False
            self._add(subscription.snapshot_frame(), subscription)


def _nothing() -> None:
    """What is called on failure when nobody asked."""
