"""The one place where a stream is written to: what several tasks have for it goes out in turn."""

import asyncio
from typing import Any

from opolyx_servicekit.errors import ResourceExhausted


class StreamOver(Exception):
    """The client's stream has ended: nothing can be written to it any more."""


class StreamWriter:
    """Writes to one stream. gRPC takes one message at a time."""

    def __init__(self, context: Any, longest_write_s: float) -> None:
        """Write to `context`.

        Args:
            context: the call's.
            longest_write_s: how long the client may take to read what another replica sends, seconds.
        """
        self._context = context
        self._longest_write_s = longest_write_s
        self._turn = asyncio.Lock()

    async def write(self, frames: bytes) -> None:
        """Write what this server has; whoever calls gives up by itself when the reader is too slow."""
        await self._turn.acquire()  # on the way of every move: `async with` costs twice as much
        try:
            await self._context.write(frames)
        finally:
            self._turn.release()

    async def pass_on(self, frames: bytes) -> None:
        """Write what another replica has sent. Until this returns, no more is read from there.

        Raises:
            ResourceExhausted: the client doesn't read.
            StreamOver: its stream has ended.
        """
        try:
            async with asyncio.timeout(self._longest_write_s), self._turn:
                await self._context.write(frames)
        except TimeoutError:
            raise ResourceExhausted("SLOW_READER", "the reader is too slow") from None
        except Exception as error:
            raise StreamOver(str(error)) from error
