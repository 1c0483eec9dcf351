"""Searches for a game: holds the tickets, seats the tables that are found, starts their games."""

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import structlog

from opolyx_matchmaker.bots import built_in
from opolyx_matchmaker.entrant import seat_for
from opolyx_matchmaker.limits import MinuteLimit
from opolyx_matchmaker.lobby import Lobby
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
from opolyx_matchmaker.refusals import ENGINE_AWAY, already_playing, draining, room_error
from opolyx_matchmaker.room import Room, RoomOptions, RoomState
from opolyx_matchmaker.room_changes import close_if_open
from opolyx_matchmaker.room_refusal import RefusalKind, RoomRefusal
from opolyx_matchmaker.search import Search, SearchNews
from opolyx_matchmaker.start import Starter
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import FailedPrecondition, ResourceExhausted, ServiceError
from opolyx_servicekit.streams import BackOff

_log = structlog.get_logger(__name__)

_RETRY_MS: Final = 10_000


class MatchQueue:
    """The searches open in this process.

    While the engine is away, no new tables are made for a while, longer with each failure. Players
    whose table was found keep their place for `match_engine_seconds`, and hear that they wait.
    """

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
        self._waits = BackOff(parts.settings.retry_base_seconds, parts.settings.retry_cap_seconds)
        self._hold_until_ms = 0
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
        searches = [search for search in self._searches.values() if not search.is_over]
        waiting = {search.ticket.ticket_id: search for search in searches if search.table is None}
        if now_ms >= self._hold_until_ms:
            self._make_tables(waiting, now_ms)
        others = companions([one.ticket for one in waiting.values()], now_ms, self._rules)
        for search in searches:
            ticket, table = search.ticket, search.table
            count = len(table.tickets) - 1 if table is not None else others[ticket.ticket_id]
            search.tell(self._progress(ticket, count, now_ms))

    def drain(self) -> None:
        """End all searches, and take no more."""
        self._draining = True
        for search in self._searches.values():
            search.tell(draining())

    def _make_tables(self, waiting: dict[int, Search], now_ms: int) -> None:
        """Seat the tables that are found, and take their searches out of `waiting`."""
        tickets = [search.ticket for search in waiting.values()]
        for table in find_tables(tickets, now_ms, self._rules):
            searches = [waiting.pop(ticket.ticket_id) for ticket in table.tickets]
            for search in searches:
                search.table = table
            self._tasks.start(self._seat(table, searches), name="seat_table")
        for search in waiting.values():  # a table that was found before is there no more
            search.gives_up_ms = None

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
                started = await self._start(room, searches)
                self._observe_waits(table)
                for number, search in enumerate(searches):
                    search.tell(SearchNews(game_id=started.game_id, seat=number))
        except ServiceError as error:
            self._end_or_wait(searches, error)
        finally:
            for search in searches:
                search.table = None

    async def _start(self, room: Room, searches: list[Search]) -> Room:
        """Start the game; if the engine refuses it, nobody stays behind in its room.

        A start that the engine doesn't answer may have happened: it is tried again and again, for
        as long as anybody waits for it, and then left to the sweeper.
        """
        while True:
            try:
                started = await self._starter.start(room)
            except ServiceError as error:
                left = await self._store.change_room(room.room_id, close_if_open)
                if isinstance(left, RoomRefusal) or left.state is RoomState.CLOSED:
                    raise
                self._end_or_wait(searches, error)
                if all(search.is_over for search in searches):
                    raise
                room = left
            else:
                self._waits.reset()
                self._hold_until_ms = 0
                return started
            await self._clock.sleep_until(self._hold_until_ms)

    def _end_or_wait(self, searches: list[Search], error: ServiceError) -> None:
        """End the searches, unless it is the engine that is away: then not before their time."""
        now_ms = self._clock.now_ms()
        if error.reason == ENGINE_AWAY and now_ms >= self._hold_until_ms:
            self._hold_until_ms = now_ms + round(self._waits.next_seconds() * 1000)
        patience_ms = int(self._settings.match_engine_seconds * 1000)
        for search in searches:
            if search.gives_up_ms is None:
                search.gives_up_ms = now_ms + patience_ms
            if error.reason != ENGINE_AWAY or now_ms >= search.gives_up_ms:
                search.tell(error)

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
