"""The unread updates of one game: bounded, then replaced by the newest."""

import asyncio
from collections import deque
from dataclasses import replace

from opolyx_sdk.updates import Update


class Inbox:
    """Between the stream's task, which fills it, and a reader. Belongs to one loop.

    Overflow policy: a reader that falls `limit` updates behind gets the newest one, with the number
    it missed; memory stays bounded, and the stream never waits for a reader.
    """

    def __init__(self, limit: int) -> None:
        self._updates: deque[Update] = deque()
        self._limit = limit
        self._filled = asyncio.Event()
        self._ended = False
        self._error: Exception | None = None

    def put(self, update: Update) -> None:
        """Add the next update."""
        if self._ended:
            return
        if len(self._updates) >= self._limit:
            dropped = sum(1 + one.missed for one in self._updates)
            self._updates.clear()
            update = replace(update, missed=update.missed + dropped)
        self._updates.append(update)
        self._filled.set()

    def end(self, error: Exception | None) -> None:
        """No further update comes: the reader ends, or gets `error`, after what is unread."""
        if not self._ended:
            self._ended = True
            self._error = error
            self._filled.set()

    @property
    def error(self) -> Exception | None:
        """What the reader gets after what is unread, if the game ended with an error."""
        return self._error

    async def get(self) -> Update:
        """The next update.

        Raises:
            StopAsyncIteration: the game is over, and all was read.
            OpolyxError: the game can't go on for this client, and all was read.
        """
        while not self._updates:
            if self._ended:
                if self._error is not None:
                    raise self._error
                raise StopAsyncIteration
            self._filled.clear()
            await self._filled.wait()
        return self._updates.popleft()
