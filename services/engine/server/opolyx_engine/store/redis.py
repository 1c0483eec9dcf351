"""Games in Redis or Redis Cluster, shared by several engines.

A game's own keys are the truth and change in one script each. The numbered facts and the index of
open games lie in other slots; `redis_upkeep.py` makes them, and repairs them after a crash.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final, Self

from opolyx_engine.store.base import (
    RUNNING,
    Append,
    Fenced,
    NewFact,
    Record,
    Reservation,
    StoreConflict,
    StoredFact,
    StoredGame,
    StoredSnapshot,
)
from opolyx_engine.store.owners import NOBODY
from opolyx_engine.store.redis_owners import RedisOwners
from opolyx_engine.store.redis_scripts import (
    APPEND,
    BIND,
    CLAIM,
    CREATE,
    FACT_LOG,
    OPEN_GAMES,
    RESERVED_GAMES,
    UNBIND,
    commands_key,
    game_key,
    keys_of,
    log_key,
    owned_key,
    request_key,
    snapshots_key,
)
from opolyx_engine.store.redis_upkeep import Upkeep
from opolyx_servicekit.redis_job import Value
from opolyx_servicekit.redis_link import RedisLink
from opolyx_servicekit.tasks import TaskOwner

_PAGE: Final = 500
_LEAST_CHUNK: Final = 50
_MOST_READ: Final = 1_000  # of games only read: those that made facts go before
_FIELDS: Final = (
    "state",
    "ruleset",
    "watchable",
    "secret",
    "header",
    "started",
    "seq",
    "reason",
    "owner",
    "epoch",
)


class RedisGameStore(RedisOwners):
    """The `GameStore` on Redis; appends of many games share a pipeline."""

    def __init__(self, link: RedisLink, *, owns_link: bool = False) -> None:
        """Use `link`; see `open`. Without its upkeep, facts wait until they are asked for."""
        super().__init__(link)
        self._owns_link = owns_link
        self._upkeep = Upkeep(link)
        self._tasks = TaskOwner("store")

    @classmethod
    async def open(cls, link: RedisLink, *, owns_link: bool = False) -> Self:
        """Begin the upkeep and return the store.

        Args:
            link: the connection.
            owns_link: whether closing the store closes the link.
        """
        store = cls(link, owns_link=owns_link)
        store._tasks.start(store._upkeep.run(), name="upkeep")
        return store

    async def close(self) -> None:
        """End the upkeep, and close the link if it is the store's own."""
        await self._upkeep.settle()
        await self._tasks.close()
        if self._owns_link:
            await self._link.close()

    def tell_waits(self, observe: Callable[[float], object]) -> None:
        """Tell how long writes wait until they are sent."""
        self._link.observe_wait = observe

    async def count(self) -> int:
        """How many games were ever reserved."""
        return int(await self._link.call("SCARD", RESERVED_GAMES))

    async def reserve(self, reservation: Reservation) -> Reservation | None:
        """Keep the reservation, or find the earlier one of its request.

        Three steps in three slots, each of which may be done again: a request that was interrupted
        is finished when it comes again.
        """
        request = (request_key(reservation.request_id),)
        game_id, secret, at_ms = await self._link.run(
            BIND, request, (reservation.game_id, reservation.secret, reservation.at_ms)
        )
        kept = Reservation(reservation.request_id, game_id.decode(), secret, int(at_ms))
        await self._link.call("SADD", RESERVED_GAMES, kept.game_id)
        claim = (kept.request_id, kept.secret, kept.at_ms)
        if await self._link.run(CLAIM, (game_key(kept.game_id),), claim):
            return kept
        await self._link.run(UNBIND, request, (kept.game_id,))
        return None

    async def create(
        self,
        game_id: str,
        ruleset: str,
        watchable: bool,
        header: bytes,
        first: Append,
        owner: str = NOBODY,
    ) -> StoredGame | None:
        """Start a reserved game, or find it started.

        It is in the indexes before it starts: so no running game is missing there, whenever this is
        interrupted.
        """
        started_ms = first.records[0].at_ms
        if await self.game(game_id) is None:
            return None
        await asyncio.gather(
            self._link.call("ZADD", OPEN_GAMES, "NX", started_ms, game_id),
            self._link.call("SADD", owned_key(owner), game_id),
        )
        about = (ruleset, int(watchable), header, started_ms, owner)
        done = await self._link.run(CREATE, keys_of(game_id), (*about, *_arguments(first)))
        if done == 0:
            raise StoreConflict(f"game {game_id} can't start at {first.expected_seq}")
        if done:  # once more, as in `claim`
            await self._link.call("SADD", owned_key(owner), game_id)
        return await self.game(game_id)

    async def append(self, append: Append) -> None:
        """Add to the log of a running game."""
        done = await self._link.run(APPEND, keys_of(append.game_id), _arguments(append))
        if done < 0:
            raise Fenced(f"game {append.game_id} has another epoch than {append.epoch}")
        if not done:
            raise StoreConflict(
                f"game {append.game_id} is not running at {append.expected_seq},"
                " or has the command already"
            )
        if append.facts or append.ends_as != RUNNING:
            self._upkeep.note(append.game_id)

    async def game(self, game_id: str) -> StoredGame | None:
        """The game, reserved ones included."""
        stored = _stored(game_id, await self._link.call("HMGET", game_key(game_id), *_FIELDS))
        if stored is not None and stored.state == RUNNING:
            self._upkeep.note(game_id, unless=_MOST_READ)
        return stored

    async def snapshot(self, game_id: str, up_to_seq: int) -> StoredSnapshot | None:
        """The latest snapshot at or before a record."""
        if up_to_seq < 0:
            return None
        found = await self._link.call(
            "XREVRANGE", snapshots_key(game_id), f"1-{up_to_seq}", "-", "COUNT", 1
        )
        return StoredSnapshot(_seq(found[0][0]), found[0][1][b"b"]) if found else None

    async def records(self, game_id: str, after_seq: int, limit: int) -> list[Record]:
        """Records after one, in order."""
        records: list[Record] = []
        while len(records) < limit:
            count = min(limit - len(records), _PAGE)
            page = await self._link.call(
                "XRANGE", log_key(game_id), f"1-{max(after_seq + 1, 0)}", "+", "COUNT", count
            )
            records += [_record(*entry) for entry in page]
            if len(page) < count:
                break
            after_seq = records[-1].seq
        return records

    async def command(self, game_id: str, command_id: str) -> Record | None:
        """The record that a command caused."""
        if not command_id:
            return None
        seq = await self._link.call("HGET", commands_key(game_id), command_id)
        if seq is None:
            return None
        found = await self.records(game_id, int(seq) - 1, 1)
        return found[0] if found else None

    async def running(self) -> list[str]:
        """Ids of all running games, oldest first."""
        ids = [each.decode() for each in await self._link.call("ZRANGE", OPEN_GAMES, 0, -1)]
        found: list[tuple[int, str]] = []
        for first in range(0, len(ids), _PAGE):
            looks = await self._upkeep.look(ids[first : first + _PAGE])
            found += [(look.started_ms, look.game_id) for look in looks if look.state == RUNNING]
        return [game_id for _, game_id in sorted(found)]

    async def list_games(
        self, before: tuple[int, str] | None, limit: int, ruleset: str
    ) -> list[StoredGame]:
        """Watchable running games, newest first; one that ends meanwhile may hide another."""
        listed: list[StoredGame] = []
        async for game in self._newest(before, max(limit, _LEAST_CHUNK)):
            if len(listed) == limit:
                break
            if game.state == RUNNING and game.watchable and ruleset in {"", game.ruleset}:
                listed.append(game)
        return listed

    async def facts(self, after: int, limit: int) -> list[StoredFact]:
        """Facts after a number, in order; those of this store's own appends have theirs."""
        await self._upkeep.settle()
        found = await self._link.call("XRANGE", FACT_LOG, f"{after + 1}-0", "+", "COUNT", limit)
        return [_fact(*entry) for entry in found]

    async def _newest(
        self, before: tuple[int, str] | None, chunk: int
    ) -> AsyncIterator[StoredGame]:
        """Open games from `before` on, newest first, read by the chunk."""
        most: Value = "+inf" if before is None else before[0]
        offset = 0
        while True:
            ids = await self._link.call(
                "ZREVRANGEBYSCORE", OPEN_GAMES, most, "-inf", "LIMIT", offset, chunk
            )
            games = await asyncio.gather(*(self._read(each.decode()) for each in ids))
            for game in games:
                if game is not None and (
                    before is None or (game.started_ms, game.game_id) < before
                ):
                    yield game
            if len(ids) < chunk:
                return
            offset += chunk

    async def _read(self, game_id: str) -> StoredGame | None:
        return _stored(game_id, await self._link.call("HMGET", game_key(game_id), *_FIELDS))


def _arguments(append: Append) -> list[Value]:
    """What the scripts are told of an append."""
    ended_ms = 0 if append.ends_as == RUNNING else append.at_ms
    arguments: list[Value] = [
        secrets.token_bytes(12),
        append.expected_seq,
        append.ends_as,
        append.end_reason,
        ended_ms,
        "" if append.snapshot is None else append.snapshot.seq,
        b"" if append.snapshot is None else append.snapshot.body,
        len(append.records),
        len(append.facts),
        append.epoch,
    ]
    for record in append.records:
        arguments += (record.at_ms, record.command_id, record.body)
    for fact in append.facts:
        arguments += (fact.kind, fact.at_ms, fact.body)
    return arguments


def _stored(game_id: str, fields: Sequence[bytes | None]) -> StoredGame | None:
    state, ruleset, watchable, secret, header, started_ms, seq, reason, owner, epoch = fields
    if state is None:
        return None
    return StoredGame(
        game_id=game_id,
        state=int(state),
        ruleset=(ruleset or b"").decode(),
        watchable=watchable == b"1",
        secret=secret or b"",
        header=header or b"",
        started_ms=int(started_ms or 0),
        seq=int(seq or -1),
        end_reason=(reason or b"").decode(),
        owner=(owner or b"").decode(),
        epoch=int(epoch or 0),
    )


def _record(entry_id: bytes, fields: dict[bytes, bytes]) -> Record:
    return Record(_seq(entry_id), int(fields[b"a"]), fields[b"c"].decode(), fields[b"b"])


def _fact(entry_id: bytes, fields: dict[bytes, Any]) -> StoredFact:
    fact = NewFact(fields[b"k"].decode(), int(fields[b"a"]), fields[b"b"])
    return StoredFact(int(entry_id.partition(b"-")[0]), fields[b"g"].decode(), fact)


def _seq(entry_id: bytes) -> int:
    """Of the id `1-seq`."""
    return int(entry_id.partition(b"-")[2])
