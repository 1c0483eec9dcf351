"""Operators' requests to end a game without a result, and where they wait for the outcome."""

import asyncio

from opolyx_servicekit.errors import ServiceError


class VoidRequests:
    """Asked of one game; one answer is for all that wait then."""

    def __init__(self) -> None:
        """None yet."""
        self._waiting: list[asyncio.Future[int]] = []
        self._reason = ""

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @property
    def reason(self) -> str:
        """Why the game is to end: what the first that waits said."""
        return self._reason

    def add(self, reason: str) -> asyncio.Future[int]:
        """One more; what is returned will be the game's life."""
        if not self._waiting:
            self._reason = reason
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(done)
        return done

    def settle(self, life: int) -> None:
        """The game has ended so."""
        for done in self._taken():
            done.set_result(life)

    def fail(self, error: ServiceError) -> None:
        """It couldn't be done now."""
        for done in self._taken():
            done.set_exception(error)

    def _taken(self) -> list[asyncio.Future[int]]:
        """Those that wait, without those whose callers went away; nobody waits any more."""
        waiting, self._waiting = self._waiting, []
        return [done for done in waiting if not done.done()]
