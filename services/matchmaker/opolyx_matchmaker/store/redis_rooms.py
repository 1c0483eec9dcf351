"""Rooms, and who sits where, in Redis.

A change reads the room, applies the transition here, and is stored by a script that looks whether
the room is still the one that was read; else it begins anew. Changes of one room wait for each other
in this process, so that this is rare.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.ids import new_code
from opolyx_matchmaker.room import Occupant, Room, RoomState
from opolyx_matchmaker.room_refusal import RefusalKind, RoomRefusal
from opolyx_matchmaker.store.base import Placement, Transition
from opolyx_matchmaker.store.redis_accounts import RedisAccounts
from opolyx_matchmaker.store.redis_forms import already_playing, is_listed, place, placement, sheet
from opolyx_matchmaker.store.redis_keys import (
    INDEXES,
    LISTED,
    code_key,
    game_key,
    listing,
    request_key,
    room_key,
    seats_key,
)
from opolyx_matchmaker.store.redis_lease import RedisLease
from opolyx_matchmaker.store.redis_scripts import CHANGE, CREATE, KEEP_GRANTS
from opolyx_matchmaker.store.rows import grants_text, read_grants, read_room_text, room_text
from opolyx_servicekit.errors import StoreBusy
from opolyx_servicekit.redis_job import Value
from opolyx_servicekit.redis_link import RedisLink

MOST_TRIES: Final = 100
"""How often a step is tried that others overtake each time."""

_LEAST_PAGE: Final = 50


class RedisRooms(RedisAccounts):
    """The part of the store that knows rooms, and who somebody is."""

    def __init__(self, link: RedisLink, lease: RedisLease) -> None:
        """Read through `link`, write through `lease`."""
        super().__init__(link, lease)
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    async def create_room(self, room: Room, request: str) -> Room | RoomRefusal:
        """Keep a new room and place whoever is on its seats; idempotent by request."""
        holds = room.holds
        for _ in range(MOST_TRIES):
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
                    *sheet(room),
                    room.game_id,
                    *(place(room, number) for number in holds),
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
                return already_playing(details)
            else:
                return room
        raise contended(room.room_id)

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
            listed += [room for room in rooms if room.expires_ms > now_ms and is_listed(room)]
            if len(page) < count:
                break
            low = f"({page[-1].decode()}"
        return listed[:limit]

    async def change_room(
        self, room_id: str, change: Transition, *, capacity: int = 1
    ) -> Room | RoomRefusal:
        """Apply a transition, and place or free whoever came or went."""
        async with self._alone(room_id):
            for _ in range(MOST_TRIES):
                before = await self.get_room(room_id)
                if before is None:
                    return RoomRefusal(RefusalKind.ROOM_NOT_FOUND)
                after = change(before)
                if isinstance(after, RoomRefusal) or after == before:
                    return after
                stored = await self._replace(before, after, capacity)
                if stored is not None:
                    return stored
        raise contended(room_id)

    async def keep_grants(self, room_id: str, grants: Sequence[SeatGrant]) -> list[SeatGrant]:
        """Fix what the seats bring to the game; the first to fix it wins."""
        kept = await self._lease.write(KEEP_GRANTS, (room_key(room_id),), (grants_text(grants),))
        return list(grants) if kept is None else read_grants(kept)

    async def placements(self, player_id: str) -> list[Placement]:
        """Where the player is."""
        found = await self._link.call("HGETALL", seats_key(player_id))
        return [placement(player_id, game_id, place) for game_id, place in found.items()]

    async def _room_at(self, key: str) -> Room | None:
        """The room that a key names."""
        room_id = await self._link.call("GET", key)
        return None if room_id is None else await self.get_room(room_id.decode())

    async def _rooms(self, room_ids: Sequence[str]) -> list[Room]:
        """Those of the rooms that there are."""
        found = await asyncio.gather(*(self.get_room(room_id) for room_id in room_ids))
        return [room for room in found if room is not None]

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
            *sheet(after),
            after.revision,
            int(after.state in (RoomState.OPEN, RoomState.STARTING)),
            int(after.state is not RoomState.OPEN),
            after.game_id,
            len(leavers),
        ]
        for number, seat in comers:
            most = capacity if seat.occupant is Occupant.BOT else 1
            arguments += (most, place(after, number))
        what, *details = await self._lease.write(CHANGE, keys, arguments)
        if what == b"changed":
            return None
        if what == b"done":
            return after
        number, seat = comers[details[0] - 1]
        if seat.occupant is Occupant.BOT:
            return RoomRefusal(RefusalKind.BOT_UNAVAILABLE, seat=number)
        return already_playing(details)

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


def contended(what: str) -> StoreBusy:
    """Others were faster, again and again."""
    return StoreBusy("STORE_UNAVAILABLE", f"too many change {what} at once")
