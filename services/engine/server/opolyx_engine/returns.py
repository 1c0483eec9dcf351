"""Games that are to be taken up without being asked for: their clock is due, or they moved."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Final

from opolyx_servicekit.streams import BackOff
from opolyx_servicekit.tasks import TaskOwner

_LONGEST_WAIT_S: Final = 30.0


class Returns:
    """Tries to take games up until that succeeds, one task a game, more and more seldom."""

    def __init__(
        self, take_up: Callable[[str], Awaitable[bool]], tasks: TaskOwner, retry_s: float
    ) -> None:
        """Nothing yet.

        Args:
            take_up: takes a game up; False if that can't be done now.
            tasks: owns the tasks.
            retry_s: the first wait after a failure; doubled with each, up to half a minute.
        """
        self._take_up = take_up
        self._tasks = tasks
        self._retry_s = retry_s
        self._coming: dict[str, asyncio.Event] = {}
        self._moves: dict[str, BackOff] = {}

    @property
    def coming(self) -> Collection[str]:
        """Ids of the games that are to be taken up."""
        return self._coming.keys()

    def now(self, game_id: str) -> None:
        """Take a game up at once."""
        self._start(game_id, 0.0)

    def later(self, game_id: str) -> None:
        """Take a game up that couldn't be read just now."""
        self._start(game_id, self._retry_s)

    def moved(self, game_id: str) -> None:
        """Take a game up whose log somebody else wrote to: the oftener, the later."""
        moves = self._moves.setdefault(game_id, self._back_off())
        self._start(game_id, moves.next_seconds())

    def forget(self, game_id: str) -> None:
        """The game is over: how often it moved matters no more."""
        self._moves.pop(game_id, None)

    def _start(self, game_id: str, wait_s: float) -> None:
        if coming := self._coming.get(game_id):
            if not wait_s:
                coming.set()
            return
        hurry = asyncio.Event()
        # With the server going away nothing is taken up any more.
        with suppress(RuntimeError):
            self._tasks.start(self._come_back(game_id, wait_s, hurry), name=f"return {game_id}")
            self._coming[game_id] = hurry

    async def _come_back(self, game_id: str, wait_s: float, hurry: asyncio.Event) -> None:
        back_off = self._back_off()
        try:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_s):
                        await hurry.wait()
                hurry.clear()
                if await self._take_up(game_id):
                    return
                wait_s = back_off.next_seconds()
        finally:
            del self._coming[game_id]

    def _back_off(self) -> BackOff:
        return BackOff(self._retry_s, max(_LONGEST_WAIT_S, self._retry_s))
