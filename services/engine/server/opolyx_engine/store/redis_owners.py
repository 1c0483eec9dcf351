"""Who owns which game on Redis, and which replicas live.

The owner is in the game's own slot, and changes in one script. The sets of each owner's games lie in
other slots and are hints: a game is in its owner's before it is the owner's, may be in others too,
and leaves those when somebody looks. Who looks looks again after that: the game may have become the
owner's meanwhile.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import Final

from opolyx_engine.replica import Replica
from opolyx_engine.store.base import RUNNING
from opolyx_engine.store.owners import RollCall, decode_replica, encode_replica
from opolyx_engine.store.redis_scripts import (
    ABOUT_REPLICAS,
    BEAT,
    LEAVE,
    OPEN_GAMES,
    OWN,
    REPLICAS,
    game_key,
    owned_key,
)
from opolyx_servicekit.redis_link import RedisLink

_PAGE: Final = 500
_PAGE_PAUSE_S: Final = 0.25  # as in the upkeep


class RedisOwners:
    """The `OwnerStore` on Redis."""

    def __init__(self, link: RedisLink) -> None:
        """Use `link`."""
        self._link = link

    async def claim(self, game_id: str, epoch: int, owner: str) -> int | None:
        """Change the owner, if the epoch is as told."""
        await self._link.call("SADD", owned_key(owner), game_id)
        done = await self._link.run(OWN, (game_key(game_id),), (epoch, owner))
        if done is None:
            return None
        # Once more: whoever looked in between has found it to be wrong there.
        await self._link.call("SADD", owned_key(owner), game_id)
        return int(done)

    async def owned_by(self, owner: str, wanted: Callable[[str], bool]) -> list[str]:
        """Running games of an owner; the set of its games forgets those that aren't."""
        hints = list(await self._link.call("SMEMBERS", owned_key(owner)))
        found: list[str] = []
        for first in range(0, len(hints), _PAGE):
            ids = [hint.decode() for hint in hints[first : first + _PAGE]]
            page = list(filter(wanted, ids))
            owned = await self._owned(page, lambda found_owner: found_owner == owner)
            found += owned
            found += await self._forget(owner, sorted(set(page) - set(owned)))
            await asyncio.sleep(0)  # also if nothing of the page was wanted
        return found

    async def strays(self, owners: Collection[str]) -> list[str]:
        """Running games of none of the owners, in one round over all open games."""
        found: set[str] = set()
        cursor: int | str = 0
        while True:
            cursor, page = await self._link.call("ZSCAN", OPEN_GAMES, cursor, "COUNT", _PAGE)
            ids = [game_id.decode() for game_id, _ in page]
            found.update(await self._owned(ids, lambda owner: owner not in owners))
            if not int(cursor):
                return sorted(found)
            await asyncio.sleep(_PAGE_PAUSE_S)

    async def beat(self, replica: Replica, ttl_ms: int, lives: int = 0) -> RollCall:
        """Note that a replica lives; its lives are counted so that a lost answer doesn't matter."""
        keys = (REPLICAS, ABOUT_REPLICAS)
        arguments = (replica.replica_id, ttl_ms, encode_replica(replica), lives)
        lives, found = await self._link.run(BEAT, keys, arguments)
        return RollCall(
            living=tuple(
                decode_replica(replica_id.decode(), about)
                for replica_id, alive, about in found
                if alive
            ),
            dead=tuple(replica_id.decode() for replica_id, alive, _ in found if not alive),
            lives=int(lives),
        )

    async def leave(self, replica_id: str, *, if_dead: bool = False) -> None:
        """Forget a replica."""
        await self._link.run(LEAVE, (REPLICAS, ABOUT_REPLICAS), (replica_id, int(if_dead)))

    async def _forget(self, owner: str, stale: list[str]) -> list[str]:
        """Keep no hints that lead nowhere; those of the games that have just become the owner's."""
        if not stale:
            return []
        await self._link.call("SREM", owned_key(owner), *stale)
        if owned := await self._owned(stale, lambda found_owner: found_owner == owner):
            await self._link.call("SADD", owned_key(owner), *owned)
        return owned

    async def _owned(self, game_ids: list[str], is_theirs: Callable[[str], bool]) -> list[str]:
        """Those of the games that run and whose owner is one of theirs."""
        looks = await asyncio.gather(
            *(self._link.call("HMGET", game_key(each), "state", "owner") for each in game_ids)
        )
        return [
            game_id
            for game_id, (state, owner) in zip(game_ids, looks, strict=True)
            if state is not None and int(state) == RUNNING and is_theirs((owner or b"").decode())
        ]
