"""Searches for a game: holds the tickets, seats the tables that are found, starts their games."""

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

import structlog

from opolyx_matchmaker.bots import built_in
from opolyx_matchmaker.limits import MinuteLimit
from opolyx_matchmaker.lobby import Lobby, seat_for
from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.peers import rating_in
from opolyx_matchmaker.quick_match import (
    MatchRules,
    Table,
    Ticket,
    companions,
    find_tables,
    window_of,
)
from opolyx_matchmaker.refusals import already_playing, draining, room_error
from opolyx_matchmaker.rooms import (
    RefusalKind,
    Room,
    RoomOptions,
    RoomRefusal,
    RoomState,
    Seat,
    close_if_open,
)
from opolyx_matchmaker.start import Starter
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import FailedPrecondition, ResourceExhausted, ServiceError

_log = structlog.get_logger(__name__)

_RETRY_MS: Final = 10_000


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
        self.busy = False
        """Whether a table with the searcher is being made."""
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


class MatchQueue:
    """The searches open in this process."""

    def __init__(self, parts: Parts, lobby: Lobby, starter: Starter) -> None:
        """Nobody searches."""
        self._settings = parts.settings
        self._store = parts.store
        self._progression = parts.progression
        self._tasks = parts.tasks
        self._metrics = parts.metrics
        self._clock = parts.clock
        self._lobby = lobby
        self._starter = starter
        self._searches: dict[str, Search] = {}
        self._numbers = itertools.count(1)
        self._begun = MinuteLimit(
            "searches_per_minute", parts.settings.searches_per_minute, parts.clock
        )
        self._draining = False
        self._rules = MatchRules(
            window=parts.settings.match_window,
            widen_per_second=parts.settings.match_widen_per_second,
            window_cap=parts.settings.match_window_cap,
            bots_after_ms=int(parts.settings.match_bots_after_seconds * 1000),
        )

    async def ticket(self, caller: Principal, ruleset: str, seats: int, allow_bots: bool) -> Ticket:
        """A ticket for the caller, who must be free."""
        self._begun.take(caller.subject)
        await self._lobby.check_table(ruleset, seats, RoomOptions())
        await self._lobby.check_free(caller.subject)
        known = await self._progression.grants([caller.subject])
        return Ticket(
            ticket_id=next(self._numbers),
            player_id=caller.subject,
            ruleset=ruleset,
            seats=seats,
            rating=rating_in(known, caller.subject, ruleset),
            since_ms=self._clock.now_ms(),
            allow_bots=allow_bots,
        )

    @contextmanager
    def searching(self, caller: Principal, ticket: Ticket, nonce: bytes) -> Iterator[Search]:
        """Search for the length of a block; a newer search of the same player ends this one."""
        if self._draining:
            raise draining()
        if len(self._searches) >= self._settings.match_most_waiting:
            raise ResourceExhausted(
                "LIMIT",
                "too many players search",
                metadata={"limit": "match_most_waiting"},
                retry_after_ms=_RETRY_MS,
            )
        search = Search(ticket, seat_for(caller, nonce))
        if (older := self._searches.get(ticket.player_id)) is not None:
            older.tell(FailedPrecondition("ALREADY_PLAYING", "the player searches elsewhere"))
        self._searches[ticket.player_id] = search
        try:
            yield search
        finally:
            if self._searches.get(ticket.player_id) is search:
                del self._searches[ticket.player_id]

    async def run(self) -> None:
        """Look for tables for ever."""
        while True:
            await asyncio.sleep(self._settings.match_seconds)
            try:
                self.look()
            except Exception:  # a bug must not end all matching
                _log.exception("match_crashed")

    def look(self) -> None:
        """Look for tables once; each that is found is seated in a task of its own."""
        now_ms = self._clock.now_ms()
        self._metrics.searching_players.set(len(self._searches))
        waiting = [
            search for search in self._searches.values() if not (search.busy or search.is_over)
        ]
        by_number = {search.ticket.ticket_id: search for search in waiting}
        tickets = [search.ticket for search in waiting]
        for table in find_tables(tickets, now_ms, self._rules):
            searches = [by_number.pop(ticket.ticket_id) for ticket in table.tickets]
            for search in searches:
                search.busy = True
            self._tasks.start(self._seat(table, searches), name="seat_table")
        left = [search.ticket for search in by_number.values()]
        others = companions(left, now_ms, self._rules)
        for number, search in by_number.items():
            search.tell(self._progress(search.ticket, others[number], now_ms))

    def drain(self) -> None:
        """End all searches, and take no more."""
        self._draining = True
        for search in self._searches.values():
            search.tell(draining())

    def _progress(self, ticket: Ticket, others: int, now_ms: int) -> SearchNews:
        return SearchNews(
            players=1 + others,
            waited_ms=now_ms - ticket.since_ms,
            window=window_of(ticket, now_ms, self._rules),
        )

    async def _seat(self, table: Table, searches: list[Search]) -> None:
        """Make a room of a table and start it; who can't play leaves, the others search on."""
        try:
            room = await self._place(table, searches)
            if room is not None:
                started = await self._start(room)
                self._observe_waits(table)
                for number, search in enumerate(searches):
                    search.tell(SearchNews(game_id=started.game_id, seat=number))
        except ServiceError as error:
            for search in searches:
                search.tell(error)
        finally:
            for search in searches:
                search.busy = False

    async def _start(self, room: Room) -> Room:
        """Start the game; if the engine refuses it, nobody stays behind in its room."""
        try:
            return await self._starter.start(room)
        except ServiceError:
            await self._store.change_room(room.room_id, close_if_open)
            raise

    def _observe_waits(self, table: Table) -> None:
        waits = self._metrics.queue_wait_seconds.labels(table.tickets[0].ruleset)
        for ticket in table.tickets:
            waits.observe((self._clock.now_ms() - ticket.since_ms) / 1000)

    async def _place(self, table: Table, searches: list[Search]) -> Room | None:
        """A room with the table's players on its seats, which is STARTING from its first moment.

        So whatever is interrupted after it, its game starts. None if somebody went away or is
        placed elsewhere.
        """
        seats = (
            *(search.seat for search in searches),
            *(built_in(self._settings.match_bot_policy, n + 1) for n in range(table.bots)),
        )
        first = table.tickets[0]
        room = await self._lobby.reserve(
            first.player_id, first.ruleset, seats, False, RoomOptions()
        )
        if any(self._is_gone(search) for search in searches):
            return None
        starting = replace(room, state=RoomState.STARTING)
        created = await self._store.create_room(starting, f"match/{room.room_id}")
        if isinstance(created, RoomRefusal):
            await self._drop_placed(created, searches)
            return None
        return created

    def _is_gone(self, search: Search) -> bool:
        """Whether the searcher cancelled while the table was made."""
        return self._searches.get(search.ticket.player_id) is not search

    async def _drop_placed(self, refusal: RoomRefusal, searches: list[Search]) -> None:
        """End the search of those who sit somewhere by now."""
        if refusal.kind is not RefusalKind.ALREADY_PLAYING:
            raise room_error(refusal, "")
        for search in searches:
            if placed := await self._store.placements(search.ticket.player_id):
                search.tell(already_playing(placed[0].room_id, placed[0].game_id))
        _log.info("match_dissolved", game_id=refusal.game_id)
