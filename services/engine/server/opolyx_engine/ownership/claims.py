"""Whether a stored game is this replica's, may become so, or is somebody else's."""

from typing import Final

import structlog

from opolyx_engine.errors import GameElsewhere, owner_unknown, rules_differ
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.ownership.membership import Membership
from opolyx_engine.ownership.shares import chosen
from opolyx_engine.replica import Replica
from opolyx_engine.rules_fit import fingerprint_in
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import RUNNING, GameStore, StoredGame
from opolyx_servicekit.errors import FailedPrecondition

_log = structlog.get_logger(__name__)

_MOST_TRIES: Final = 3


class Claims:
    """Makes games this replica's own before they are taken up."""

    def __init__(
        self,
        store: GameStore,
        membership: Membership,
        settings: EngineSettings,
        metrics: EngineMetrics,
    ) -> None:
        """Claim for the replica that `membership` is about."""
        self._store = store
        self._membership = membership
        self._settings = settings
        self._metrics = metrics
        self.refused: dict[str, str] = {}
        """Rulesets of the games that nobody can go on with, by id: their rules are nowhere."""

    async def own(self, stored: StoredGame) -> StoredGame:
        """The game as it is once it is this replica's own; ended games are nobody's.

        It is read after it was claimed: until then, somebody else could append.

        Raises:
            GameElsewhere: a living replica owns it, or is the one to own it.
            FailedPrecondition: no living replica has its rules.
            ServiceError: the store failed, or nobody may own it for the moment.
        """
        try:
            return await self._own(stored)
        except FailedPrecondition:
            self._refuse(stored)
            raise
        except GameElsewhere:
            self.refused.pop(stored.game_id, None)
            raise

    async def own_to_end(self, stored: StoredGame) -> StoredGame:
        """As `own`, but only to end the game: whatever its rules are.

        Raises:
            GameElsewhere, ServiceError: as `own`.
        """
        for _ in range(_MOST_TRIES):
            if self._is_settled(stored):
                return stored
            await self._membership.ask_about(stored.owner)
            self._ask_owner(stored)
            stored = await self._claimed(stored)
        raise owner_unknown(stored.game_id, self._settings.store_retry_ms)

    async def _own(self, stored: StoredGame) -> StoredGame:
        for _ in range(_MOST_TRIES):
            if self._is_settled(stored):
                self.refused.pop(stored.game_id, None)
                return stored
            await self._membership.ask_about(stored.owner)
            self._admit(stored)
            stored = await self._claimed(stored)
        raise owner_unknown(stored.game_id, self._settings.store_retry_ms)

    def is_mine(self, stored: StoredGame, epoch: int | None = None) -> bool:
        """Whether this replica owns a running game, with this epoch if one is given."""
        mine = stored.state == RUNNING and stored.owner == self._membership.me.replica_id
        return mine and epoch in (None, stored.epoch)

    def _is_settled(self, stored: StoredGame) -> bool:
        return stored.state != RUNNING or self.is_mine(stored)

    async def _claimed(self, stored: StoredGame) -> StoredGame:
        """The game after a try to claim it, whoever has it then."""
        game_id, me = stored.game_id, self._membership.me.replica_id
        if await self._store.claim(game_id, stored.epoch, me) is not None and stored.epoch:
            self._metrics.adopted.inc()
        return await self._store.game(game_id) or stored

    def _admit(self, stored: StoredGame) -> None:
        """Whether this replica may have the game; raises if not."""
        self._ask_owner(stored)
        fingerprint = fingerprint_in(stored.header)
        me = self._membership.me
        if _fits(me, fingerprint) and not me.draining:
            return
        others = [each for each in self._membership.takers() if each != me]
        taker = chosen(stored.game_id, (each for each in others if _fits(each, fingerprint)))
        if taker is not None:
            raise GameElsewhere(stored.game_id, taker, self._settings.store_retry_ms)
        if _fits(me, fingerprint):
            raise owner_unknown(stored.game_id, self._settings.drain_retry_ms)
        raise rules_differ(stored.game_id)

    def _ask_owner(self, stored: StoredGame) -> None:
        """Raises if somebody else owns the game, or may do so."""
        if not self._membership.alone and (owner := self._membership.find(stored.owner)):
            raise GameElsewhere(stored.game_id, owner, self._settings.store_retry_ms)
        if not self._membership.may_take_from(stored.owner):
            raise owner_unknown(stored.game_id, self._settings.heartbeat_ms)

    def _refuse(self, stored: StoredGame) -> None:
        """Say it once a game: it is looked at again and again."""
        if stored.game_id in self.refused:
            return
        self.refused[stored.game_id] = stored.ruleset
        self._metrics.games_refused.labels("rules").inc()
        _log.error(
            "game_refused",
            game_id=stored.game_id,
            ruleset=stored.ruleset,
            rules=fingerprint_in(stored.header),
            hint="start an engine of the version that began it, or end it as void",
        )


def _fits(replica: Replica, fingerprint: str) -> bool:
    return fingerprint in replica.fingerprints
