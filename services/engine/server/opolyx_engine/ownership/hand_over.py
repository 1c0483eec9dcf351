"""Gives this replica's games to the others when it drains, so that nobody waits for a timeout."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, Protocol

import structlog

from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.ownership.given_game import Give, GivenGame
from opolyx_engine.ownership.membership import Membership
from opolyx_engine.ownership.shares import chosen
from opolyx_engine.replica import Replica
from opolyx_engine.rules_fit import fingerprint_in
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import RUNNING, GameStore, StoredGame
from opolyx_engine.store.owners import NOBODY, everything
from opolyx_servicekit.errors import ServiceError

_log = structlog.get_logger(__name__)

_AT_ONCE: Final = 50
_MOST_ROUNDS: Final = 3
_MOST_TRIES: Final = 5
_LEAVE_PART: Final = 0.25  # of the whole time: how long one game may take to come to rest
_RELEASE_S: Final = 5.0

Tell = Callable[[Replica, Sequence[GivenGame]], Coroutine[Any, Any, None]]
"""Tells a replica which games it has now; never raises, as the store tells it too."""


class Games(Protocol):
    """The games of this replica."""

    def here(self) -> list[str]:
        """Their ids."""
        ...

    async def hand_over(self, game_id: str, give: Give, wait_s: float) -> GivenGame | None:
        """Run a game no longer and give it away; None if it stays."""
        ...


class HandOver:
    """The hand-over of all games of one replica."""

    def __init__(
        self,
        games: Games,
        store: GameStore,
        membership: Membership,
        tell: Tell,
        settings: EngineSettings,
        metrics: EngineMetrics,
    ) -> None:
        """Nothing is given away before `run`."""
        self._games = games
        self._store = store
        self._membership = membership
        self._tell = tell
        self._settings = settings
        self._metrics = metrics
        # Streams must still hear of it within the grace.
        self._limit_s = min(settings.hand_over_ms / 1000, settings.grace_seconds / 2)
        self._failed = False

    async def run(self) -> None:
        """Give away what can be given, within the limit; the rest stays.

        May be called again, for what has come since; not again after it ran out of time.
        """
        if self._failed or self._membership.alone or not self._limit_s:
            return
        try:
            async with asyncio.timeout(self._limit_s):
                await self._membership.drain()
                async with asyncio.TaskGroup() as telling:
                    await self._give_all(telling)
        except (TimeoutError, ServiceError) as error:
            self._failed = True
            left = len(self._games.here())
            _log.warning("hand_over_incomplete", games_left=left, error=repr(error))

    async def release(self) -> None:
        """At the very end: make what is left nobody's, so that others take it at once, and leave."""
        if self._membership.alone:
            return
        try:
            async with asyncio.timeout(_RELEASE_S):
                left = await self._store.owned_by(self._membership.me.replica_id, everything)
                for first in range(0, len(left), _AT_ONCE):
                    await asyncio.gather(*map(self._release, left[first : first + _AT_ONCE]))
                await self._membership.leave()
        except (TimeoutError, ServiceError) as error:  # they are found once this one counts as dead
            _log.warning("games_not_released", error=repr(error))

    async def _give_all(self, telling: asyncio.TaskGroup) -> None:
        """Some rounds: a game may just have come when the first began."""
        for _ in range(_MOST_ROUNDS):
            games = self._games.here()
            if not games or not self._takers():
                return
            for first in range(0, len(games), _AT_ONCE):
                page = games[first : first + _AT_ONCE]
                given = await asyncio.gather(*map(self._hand_over, page))
                self._tell_all([each for each in given if each is not None], telling)

    async def _hand_over(self, game_id: str) -> GivenGame | None:
        return await self._games.hand_over(game_id, self._give, self._limit_s * _LEAVE_PART)

    async def _give(self, stored: StoredGame) -> Replica | None:
        """Make another replica the owner of a game.

        A claim may be made twice: so when its outcome is unknown, it is simply made again.
        """
        taker = chosen(stored.game_id, self._takers(fingerprint_in(stored.header)))
        if taker is None:
            return None
        for tries_left in reversed(range(_MOST_TRIES)):
            try:
                claimed = await self._store.claim(stored.game_id, stored.epoch, taker.replica_id)
            except ServiceError:
                if not tries_left:
                    raise
                await asyncio.sleep(self._settings.store_retry_ms / 1000)
                continue
            if claimed is None:
                return None
            self._metrics.handed_over.inc()
            return taker
        return None

    def _tell_all(self, given: Sequence[GivenGame], telling: asyncio.TaskGroup) -> None:
        """Tell the new owners, who begin with these games while the next ones are given away."""
        by_taker: defaultdict[Replica, list[GivenGame]] = defaultdict(list)
        for each in given:
            by_taker[each.replica].append(each)
        for taker, games in by_taker.items():
            telling.create_task(self._tell(taker, games))

    async def _release(self, game_id: str) -> None:
        stored = await self._store.game(game_id)
        me = self._membership.me.replica_id
        if stored is not None and (stored.state, stored.owner) == (RUNNING, me):
            await self._store.claim(game_id, stored.epoch, NOBODY)

    def _takers(self, fingerprint: str | None = None) -> list[Replica]:
        """Who takes games; of a fingerprint, if one is given."""
        return [
            replica
            for replica in self._membership.others()
            if not replica.draining and (fingerprint is None or fingerprint in replica.fingerprints)
        ]
