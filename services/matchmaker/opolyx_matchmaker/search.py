"""One player's search, and what the player is told of it."""

import asyncio
from dataclasses import dataclass

from opolyx_matchmaker.quick_match import Table, Ticket
from opolyx_matchmaker.room import Seat
from opolyx_servicekit.errors import ServiceError


@dataclass(frozen=True, slots=True)
class SearchNews:
    """How a search goes: found, or how many there are and how wide it looks."""

    players: int = 0
    """Players that could be at the table so far, the searcher included."""

    waited_ms: int = 0
    """How long it lasts."""

    window: int = 0
    """Rating points to either side."""

    game_id: str = ""
    """The game, once one was found."""

    seat: int = 0
    """The searcher's seat in it."""


class Search:
    """One player's open search; a reader too slow gets the newest news only."""

    def __init__(self, ticket: Ticket, seat: Seat) -> None:
        """Wait for news."""
        self.ticket = ticket
        """What is searched."""
        self.seat = seat
        """The searcher on a seat."""
        self.table: Table | None = None
        """The table that is being made with the searcher."""
        self.gives_up_ms: int | None = None
        """When the search ends, Unix milliseconds, if the engine stays away; None if it isn't."""
        self._news: SearchNews | ServiceError | None = None
        self._changed = asyncio.Event()

    def tell(self, news: SearchNews | ServiceError) -> None:
        """Give news; nothing overtakes the end of the search."""
        if not self.is_over:
            self._news = news
            self._changed.set()

    @property
    def is_over(self) -> bool:
        """Whether it ended, in a game or an error."""
        news = self._news
        return isinstance(news, ServiceError) or (news is not None and bool(news.game_id))

    async def next(self, timeout_seconds: float) -> SearchNews | None:
        """The newest news, None after the timeout; raises what ended the search."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._changed.wait()
        except TimeoutError:
            return None
        self._changed.clear()
        if isinstance(self._news, ServiceError):
            raise self._news
        return self._news
