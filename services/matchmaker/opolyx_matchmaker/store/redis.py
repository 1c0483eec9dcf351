"""The store in Redis or Redis Cluster, shared by several matchmakers of which one writes."""

import asyncio
import json
import secrets
from collections.abc import Callable, Sequence
from typing import Final

from opolyx_matchmaker.peers import Fact, FactKind
from opolyx_matchmaker.room import Room
from opolyx_matchmaker.room_changes import end
from opolyx_matchmaker.store.base import FactsApplied, Placement
from opolyx_matchmaker.store.redis_forms import placement, sheet
from opolyx_matchmaker.store.redis_keys import (
    APPLIED,
    CURSOR,
    ENDED,
    EXPIRING,
    INDEXES,
    RUNNING,
    STARTING,
    code_key,
    game_key,
    request_key,
    room_key,
    seats_key,
)
from opolyx_matchmaker.store.redis_lease import RedisLease
from opolyx_matchmaker.store.redis_rooms import MOST_TRIES, RedisRooms, contended
from opolyx_matchmaker.store.redis_scripts import FORGET_ROOM, MARK_CHECKED, TAKE_FACTS
from opolyx_matchmaker.store.rows import read_room_text, room_text
from opolyx_servicekit.redis_job import Value
from opolyx_servicekit.redis_link import RedisLink

_PAGE: Final = 200


class RedisStore(RedisRooms):
    """A `Store`; its owner closes the link."""

    def __init__(self, link: RedisLink, lease_seconds: float) -> None:
        """Use `link`; see `RedisLease` for how long a lease lasts."""
        super().__init__(link, RedisLease(link, lease_seconds))

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

    # Sweeps.

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

    async def forget(self, before_ms: int, now_ms: int) -> int:
        """Remove what ended long ago."""
        await self._forget_expired(now_ms)
        forgotten = 0
        while ids := await self._ids(ENDED, f"({before_ms}", _PAGE):
            await asyncio.gather(*(self._forget(room_id) for room_id in ids))
            forgotten += len(ids)
        return forgotten

    # Facts.

    async def cursor(self) -> int:
        """Number of the last fact that was taken."""
        return int(await self._link.call("GET", CURSOR) or 0)

    async def apply_facts(self, facts: Sequence[Fact]) -> FactsApplied:
        """Free whom the facts free and remember the last number."""
        for _ in range(MOST_TRIES):
            reached = await self.cursor()
            news = [fact for fact in facts if fact.number > reached]
            if not news:
                return FactsApplied(reached)
            released = await self._take(news, reached)
            if released is not None:
                return FactsApplied(news[-1].number, released)
        raise contended(facts[0].game_id)

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
            arguments += (*sheet(ended), room.revision, room_text(ended), ended.revision)
        what, *details = await self._lease.write(TAKE_FACTS, keys, arguments)
        if what == b"changed":
            return None
        released = json.loads(details[0]) or ()
        return tuple(placement(who, game.encode(), place.encode()) for who, game, place in released)

    async def _ids(self, index: str, most: str, limit: int) -> list[str]:
        """The first rooms of an index, up to a score."""
        found = await self._link.call("ZRANGEBYSCORE", index, "-inf", most, "LIMIT", 0, limit)
        return [room_id.decode() for room_id in found]

    async def _forget(self, room_id: str) -> None:
        room, request = await self._link.call("HMGET", room_key(room_id), "row", "request")
        game_id = "" if room is None else read_room_text(room).game_id
        keys = (ENDED, room_key(room_id), request_key((request or b"").decode()), game_key(game_id))
        await self._lease.write(FORGET_ROOM, keys, (room_id,))
