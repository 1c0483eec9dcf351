"""The store in Redis or Redis Cluster, shared by several matchmakers of which one writes.

A change reads the room, applies the transition here, and is stored by a script that looks whether
the room is still the one that was read; else it begins anew. Changes of one room wait for each other
in this process, so that this is rare.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.ids import new_code
from opolyx_matchmaker.peers import Fact, FactKind
from opolyx_matchmaker.rooms import (
    Occupant,
    RefusalKind,
    Room,
    RoomRefusal,
    RoomState,
    end,
)
from opolyx_matchmaker.store.base import FactsApplied, Placement, Transition
from opolyx_matchmaker.store.redis_accounts import RedisAccounts
from opolyx_matchmaker.store.redis_keys import (
    APPLIED,
    CURSOR,
    ENDED,
    EXPIRING,
    INDEXES,
    LISTED,
    RUNNING,
    STARTING,
    code_key,
    game_key,
    listing,
    request_key,
    room_key,
    seats_key,
)
from opolyx_matchmaker.store.redis_lease import RedisLease
from opolyx_matchmaker.store.redis_scripts import (
    CHANGE,
    CREATE,
    FORGET_ROOM,
    KEEP_GRANTS,
    MARK_CHECKED,
    TAKE_FACTS,
)
from opolyx_matchmaker.store.rows import grants_text, read_grants, read_room_text, room_text
from opolyx_servicekit.errors import StoreBusy
from opolyx_servicekit.redis_link import RedisLink, Value

_PAGE: Final = 200
_LEAST_PAGE: Final = 50
_MOST_TRIES: Final = 100
_PHASES: Final = {RoomState.OPEN: 1, RoomState.STARTING: 2, RoomState.STARTED: 3}
_ENDED_PHASE: Final = 4


class RedisStore(RedisAccounts):
    """A `Store`; its owner closes the link."""

    def __init__(self, link: RedisLink, lease_seconds: float) -> None:
        """Use `link`; see `RedisLease` for how long a lease lasts."""
        super().__init__(link, RedisLease(link, lease_seconds))
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    # Who may write.

    async def hold_lease(self) -> bool:
        """Keep the lease, or take it if it is free; whether this process has it now."""
        return await self._lease.hold()

    async def release_lease(self) -> None:
        """Let the next one have it at once, if this process has it."""
        await self._lease.release()

    def tell_fenced(self, observe: Callable[[], object]) -> None:
        """Tell of each write that was refused, as another process holds the lease."""
        self._lease.observe_fenced = observe

    # Rooms and placements.

    async def create_room(self, room: Room, request: str) -> Room | RoomRefusal:
        """Keep a new room and place whoever is on its seats; idempotent by request."""
        holds = room.holds
        for _ in range(_MOST_TRIES):
            keys = (
                *INDEXES,
                room_key(room.room_id),
                request_key(request),
                code_key(room.code),
                game_key(room.game_id),
                *(seats_key(seat.player_id) for seat in holds.values()),
            )
            outcome = await self._lease.write(
                CREATE,
                keys,
                (
                    room_text(room),
                    room.revision,
                    request,
                    *_sheet(room),
                    room.game_id,
                    *(_place(room, number) for number in holds),
                ),
            )
            what, *details = outcome
            if what == b"known":
                known = await self.get_room(details[0].decode())
                if known is not None:
                    return known
            elif what == b"code":
                room = replace(room, code=new_code())
            elif what == b"placed":
                return _already_playing(details)
            else:
                return room
        raise _contended(room.room_id)

    async def find_request(self, request: str) -> Room | None:
        """The room that a request made."""
        return await self._room_at(request_key(request))

    async def get_room(self, room_id: str) -> Room | None:
        """The room."""
        text = await self._link.call("HGET", room_key(room_id), "row")
        return None if text is None else read_room_text(text)

    async def find_room(self, *, code: str = "", game_id: str = "") -> Room | None:
        """The open room of a code, or the room of a game."""
        if not code:
            return await self._room_at(game_key(game_id))
        room = await self._room_at(code_key(code))
        return room if room is not None and room.state is RoomState.OPEN else None

    async def list_rooms(
        self, ruleset: str, after: tuple[int, str], limit: int, now_ms: int
    ) -> list[Room]:
        """Public open rooms with an open seat, oldest first."""
        listed: list[Room] = []
        low, high = f"({listing(ruleset, *after)}", f"({ruleset}}}"  # what follows | is above all
        count = max(limit, _LEAST_PAGE)
        while len(listed) < limit:
            page = await self._link.call("ZRANGEBYLEX", LISTED, low, high, "LIMIT", 0, count)
            rooms = await self._rooms([entry.decode().rpartition("|")[2] for entry in page])
            listed += [room for room in rooms if room.expires_ms > now_ms and _is_listed(room)]
            if len(page) < count:
                break
            low = f"({page[-1].decode()}"
        return listed[:limit]

    async def change_room(
        self, room_id: str, change: Transition, *, capacity: int = 1
    ) -> Room | RoomRefusal:
        """Apply a transition, and place or free whoever came or went."""
        async with self._alone(room_id):
            for _ in range(_MOST_TRIES):
                before = await self.get_room(room_id)
                if before is None:
                    return RoomRefusal(RefusalKind.ROOM_NOT_FOUND)
                after = change(before)
                if isinstance(after, RoomRefusal) or after == before:
                    return after
                stored = await self._replace(before, after, capacity)
                if stored is not None:
                    return stored
        raise _contended(room_id)

    async def keep_grants(self, room_id: str, grants: Sequence[SeatGrant]) -> list[SeatGrant]:
        """Fix what the seats bring to the game; the first to fix it wins."""
        kept = await self._lease.write(KEEP_GRANTS, (room_key(room_id),), (grants_text(grants),))
        return list(grants) if kept is None else read_grants(kept)

    async def placements(self, player_id: str) -> list[Placement]:
        """Where the player is."""
        found = await self._link.call("HGETALL", seats_key(player_id))
        return [_placement(player_id, game_id, place) for game_id, place in found.items()]

    async def rooms_to_expire(self, now_ms: int, limit: int) -> list[str]:
        """Open rooms whose time is up."""
        return await self._ids(EXPIRING, str(now_ms), limit)

    async def rooms_starting(self, limit: int) -> list[str]:
        """Rooms whose start began and did not end."""
        return await self._ids(STARTING, "+inf", limit)

    async def rooms_to_check(self, before_ms: int, now_ms: int, limit: int) -> list[Room]:
        """Started rooms last checked before `before_ms`; marked as checked now.

        Marked once they are read: what is interrupted in between is found again.
        """
        ids = await self._ids(RUNNING, f"({before_ms}", limit)
        rooms = await self._rooms(ids)
        if ids:
            await self._lease.write(MARK_CHECKED, (RUNNING,), (now_ms, *ids))
        return rooms

    # Facts.

    async def cursor(self) -> int:
        """Number of the last fact that was taken."""
        return int(await self._link.call("GET", CURSOR) or 0)

    async def apply_facts(self, facts: Sequence[Fact]) -> FactsApplied:
        """Free whom the facts free and remember the last number."""
        for _ in range(_MOST_TRIES):
            reached = await self.cursor()
            news = [fact for fact in facts if fact.number > reached]
            if not news:
                return FactsApplied(reached)
            released = await self._take(news, reached)
            if released is not None:
                return FactsApplied(news[-1].number, released)
        raise _contended(facts[0].game_id)

    async def forget(self, before_ms: int, now_ms: int) -> int:
        """Remove what ended long ago."""
        await self._forget_expired(now_ms)
        forgotten = 0
        while ids := await self._ids(ENDED, f"({before_ms}", _PAGE):
            await asyncio.gather(*(self._forget(room_id) for room_id in ids))
            forgotten += len(ids)
        return forgotten

    # Within.

    async def _room_at(self, key: str) -> Room | None:
        """The room that a key names."""
        room_id = await self._link.call("GET", key)
        return None if room_id is None else await self.get_room(room_id.decode())

    async def _rooms(self, room_ids: Sequence[str]) -> list[Room]:
        """Those of the rooms that there are."""
        found = await asyncio.gather(*(self.get_room(room_id) for room_id in room_ids))
        return [room for room in found if room is not None]

    async def _ids(self, index: str, most: str, limit: int) -> list[str]:
        """The first rooms of an index, up to a score."""
        found = await self._link.call("ZRANGEBYSCORE", index, "-inf", most, "LIMIT", 0, limit)
        return [room_id.decode() for room_id in found]

    async def _replace(self, before: Room, after: Room, capacity: int) -> Room | RoomRefusal | None:
        """Store `after` in place of `before`; None if the room is another by now."""
        had = {seat.player_id for seat in before.holds.values()}
        has = {seat.player_id for seat in after.holds.values()}
        leavers = sorted(had - has)
        comers = [(number, s) for number, s in after.holds.items() if s.player_id not in had]
        keys = (
            *INDEXES,
            room_key(after.room_id),
            code_key(after.code),
            *(seats_key(player_id) for player_id in leavers),
            *(seats_key(seat.player_id) for _, seat in comers),
        )
        arguments: list[Value] = [
            secrets.token_bytes(12),
            before.revision,
            room_text(after),
            *_sheet(after),
            after.revision,
            int(after.state in (RoomState.OPEN, RoomState.STARTING)),
            int(after.state is not RoomState.OPEN),
            after.game_id,
            len(leavers),
        ]
        for number, seat in comers:
            most = capacity if seat.occupant is Occupant.BOT else 1
            arguments += (most, _place(after, number))
        what, *details = await self._lease.write(CHANGE, keys, arguments)
        if what == b"changed":
            return None
        if what == b"done":
            return after
        number, seat = comers[details[0] - 1]
        if seat.occupant is Occupant.BOT:
            return RoomRefusal(RefusalKind.BOT_UNAVAILABLE, seat=number)
        return _already_playing(details)

    async def _take(self, facts: Sequence[Fact], reached: int) -> tuple[Placement, ...] | None:
        """Store what facts do; None if something changed meanwhile."""
        releases: list[tuple[str, str]] = []
        over: dict[str, tuple[Room, Room]] = {}
        ids = {fact.game_id for fact in facts if fact.kind is FactKind.GAME_OVER}
        found = await asyncio.gather(*(self.find_room(game_id=game_id) for game_id in ids))
        rooms = {room.game_id: room for room in found if room is not None}
        for fact in facts:
            if fact.kind is FactKind.SEAT_RELEASED:
                releases.append((fact.game_id, fact.player_id))
            elif fact.kind is FactKind.GAME_OVER:
                room = rooms.get(fact.game_id)
                if room is None or room.room_id in over:
                    continue
                releases += [(room.game_id, seat.player_id) for seat in room.holds.values()]
                ended = end(room)
                if isinstance(ended, Room) and ended != room:
                    over[room.room_id] = room, ended
        keys = [*INDEXES, CURSOR, APPLIED]
        keys += [seats_key(player_id) for _, player_id in releases]
        arguments: list[Value] = [
            secrets.token_bytes(12),
            reached,
            facts[-1].number,
            len(releases),
            *(text for release in releases for text in release),
        ]
        for room, ended in over.values():
            keys += (room_key(room.room_id), code_key(room.code))
            arguments += (*_sheet(ended), room.revision, room_text(ended), ended.revision)
        what, *details = await self._lease.write(TAKE_FACTS, keys, arguments)
        if what == b"changed":
            return None
        released = json.loads(details[0]) or ()
        return tuple(
            _placement(who, game.encode(), place.encode()) for who, game, place in released
        )

    async def _forget(self, room_id: str) -> None:
        room, request = await self._link.call("HMGET", room_key(room_id), "row", "request")
        game_id = "" if room is None else read_room_text(room).game_id
        keys = (ENDED, room_key(room_id), request_key((request or b"").decode()), game_key(game_id))
        await self._lease.write(FORGET_ROOM, keys, (room_id,))

    @asynccontextmanager
    async def _alone(self, room_id: str) -> AsyncIterator[None]:
        """Wait until nobody else in this process changes the room."""
        lock, users = self._locks.get(room_id, (None, 0))
        lock = lock or asyncio.Lock()
        self._locks[room_id] = lock, users + 1
        try:
            async with lock:
                yield
        finally:
            _, users = self._locks.pop(room_id)
            if users > 1:
                self._locks[room_id] = lock, users - 1


def _sheet(room: Room) -> tuple[Value, ...]:
    """What the scripts' `file` wants to know of a room."""
    ended = room.state is RoomState.CLOSED or room.over
    phase = _ENDED_PHASE if ended else _PHASES[room.state]
    by_expiry = ended or room.state is RoomState.OPEN
    return (
        room.room_id,
        phase,
        room.expires_ms if by_expiry else room.created_ms,
        int(_is_listed(room)),
        listing("", room.created_ms, room.room_id),
        listing(room.ruleset, room.created_ms, room.room_id),
    )


def _is_listed(room: Room) -> bool:
    return room.public and room.state is RoomState.OPEN and room.open_seats > 0


def _place(room: Room, number: int) -> str:
    """A seat of a room, as it is kept with its player."""
    return f"{number} {room.room_id}"


def _placement(player_id: str, game_id: bytes, place: bytes) -> Placement:
    number, _, room_id = place.decode().partition(" ")
    return Placement(player_id, room_id, game_id.decode(), int(number))


def _already_playing(details: Sequence[Any]) -> RoomRefusal:
    """From what a script says of who is placed."""
    placed = _placement("", details[1], details[2])
    return RoomRefusal(RefusalKind.ALREADY_PLAYING, room_id=placed.room_id, game_id=placed.game_id)


def _contended(what: str) -> StoreBusy:
    return StoreBusy("STORE_UNAVAILABLE", f"too many change {what} at once")
