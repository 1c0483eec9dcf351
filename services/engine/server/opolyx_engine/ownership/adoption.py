"""Takes games that nobody runs: those of replicas that died, that were given back, or got lost."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Sequence
from itertools import filterfalse, islice
from typing import Final

import structlog

from opolyx_engine.ownership.membership import Membership
from opolyx_engine.ownership.shares import chosen
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.owners import NOBODY, OwnerStore, everything
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

_SLICE_MS: Final = 100
_STRAYS_MS: Final = 60_000
_STRAYS: Final = "strays"  # whom this falls to, as if it were a game, looks for them


class Adoption:
    """Looks for such games at every heartbeat.

    Each replica takes its share of them at once and what others have left later, at a pace that
    doesn't stop those who play here.
    """

    def __init__(
        self,
        store: OwnerStore,
        membership: Membership,
        take_up: Callable[[str], Awaitable[bool]],
        knows: Callable[[str], bool],
        refused: Collection[str],
        settings: EngineSettings,
        clock: Clock,
    ) -> None:
        """Look when `run` does.

        Args:
            store: whose games.
            membership: who lives.
            take_up: takes a game up, if it may be; False if the store failed.
            knows: whether a game is here, in memory or not, or on its way here.
            refused: games that nobody could go on with when they were looked at last.
            settings: how often, and how fast.
            clock: the time.
        """
        self._store = store
        self._membership = membership
        self._take_up = take_up
        self._knows = knows
        self._refused = refused
        self._settings = settings
        self._clock = clock
        self._share_done_ms: dict[str, int] = {}
        self._own_due_ms = 0
        self._strays_due_ms = clock.now_ms() + 2 * settings.replica_ttl_ms

    async def run(self) -> None:
        """Look until cancelled."""
        if self._membership.alone:
            return
        while True:
            await self._clock.sleep_until(self._clock.now_ms() + self._settings.heartbeat_ms)
            try:
                await self.look()
            except ServiceError as error:
                _log.warning("adoption_waits", error=str(error))
            except Exception:
                _log.exception("adoption_crashed")

    async def look(self) -> None:
        """Look once, and take what is there to take.

        Raises:
            ServiceError: the store failed; what wasn't taken is found again.
        """
        if not self._may_take():
            return
        dead = self._membership.dead
        for owner in (NOBODY, *dead):
            await self._adopt_from(owner)
        for owner in self._share_done_ms.keys() - {NOBODY, *dead}:
            del self._share_done_ms[owner]
        await self._look_for_own()
        await self._look_for_strays()

    async def _adopt_from(self, owner: str) -> None:
        """First this replica's share; when that is done and others had time, what is left."""
        takers, me = self._membership.takers(), self._membership.me
        if share := await self._store.owned_by(owner, lambda each: chosen(each, takers) == me):
            self._share_done_ms.pop(owner, None)
            await self._take_up_all(share)
            return
        now_ms = self._clock.now_ms()
        done_ms = self._share_done_ms.setdefault(owner, now_ms)
        if now_ms - done_ms < self._settings.replica_ttl_ms:
            return
        left = await self._store.owned_by(owner, everything)
        random.shuffle(left)  # others do the same
        await self._take_up_all(left)
        if not left and owner != NOBODY:
            await self._store.leave(owner, if_dead=True)

    async def _look_for_own(self) -> None:
        """Games that were handed over to this replica by one that couldn't tell it so.

        And those that were refused: somebody may have them by now, or have ended them.
        """
        if not self._is_due(self._own_due_ms):
            return
        self._own_due_ms = self._clock.now_ms() + self._settings.replica_ttl_ms
        me = self._membership.me.replica_id
        unknown = await self._store.owned_by(me, lambda game_id: not self._knows(game_id))
        await self._take_up_all([*unknown, *self._refused])

    async def _look_for_strays(self) -> None:
        """Games that no list leads to; one replica looks, as it means looking at all games.

        Nobody's are among them: a list of those may have lost one too.
        """
        finder = chosen(_STRAYS, self._membership.takers())
        if finder != self._membership.me or not self._is_due(self._strays_due_ms):
            return
        self._strays_due_ms = self._clock.now_ms() + _STRAYS_MS
        await self._take_up_all(await self._store.strays(self._membership.known()))

    async def _take_up_all(self, game_ids: Sequence[str]) -> None:
        """Take games up, so many a second; who dies or drains meanwhile leaves the rest.

        Those that came because they were asked for don't count.
        """
        slice_ = max(self._settings.adoptions_per_second * _SLICE_MS // 1000, 1)
        pause_ms = max(slice_ * 1000 // self._settings.adoptions_per_second, 1)
        unknown = filterfalse(self._knows, game_ids)
        while next_ones := list(islice(unknown, slice_)):
            if not self._may_take():
                return
            until_ms = self._clock.now_ms() + pause_ms
            await asyncio.gather(*map(self._take_up, next_ones))
            await self._clock.sleep_until(until_ms)

    def _may_take(self) -> bool:
        return self._membership.certain and not self._membership.me.draining

    def _is_due(self, due_ms: int) -> bool:
        return self._clock.now_ms() >= due_ms
