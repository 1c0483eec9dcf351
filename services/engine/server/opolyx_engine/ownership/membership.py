"""Which replicas live, and whether this one may still count itself among them."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

import structlog

from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.replica import Replica
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.owners import NOBODY, OwnerStore
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

_ID_BYTES: Final = 12
_LATE_PART: Final = 0.5  # of a heartbeat: how soon one that failed is tried again


class Membership:
    """This replica's place among those that share its store.

    Each says that it lives, again and again, and hears at the same time who else does. What it
    heard is good for as long as the others count on it: `replica_ttl_ms` from the time it asked.
    An engine without an address for others has the store for itself: it beats for nobody.
    """

    def __init__(
        self,
        store: OwnerStore,
        settings: EngineSettings,
        clock: Clock,
        metrics: EngineMetrics,
        fingerprints: frozenset[str],
    ) -> None:
        """Know of nobody yet; `fingerprints` are those of the rules here."""
        self._store = store
        self._settings = settings
        self._clock = clock
        self._metrics = metrics
        self._living: dict[str, Replica] = {}
        self._dead: tuple[str, ...] = ()
        self._heard_at: float | None = None
        self._unbroken_since: float | None = None
        self._doubtful = False
        self._lives = 0
        self._breaks = 0
        self._failing = False
        self._gone = False
        self._hearing = asyncio.Lock()
        self._beats = 0
        self.me = Replica(secrets.token_hex(_ID_BYTES), settings.replica_address, fingerprints)
        """This replica."""
        self.alone = not settings.replica_address
        """Whether it has the store for itself."""
        self.on_return: Callable[[], Awaitable[object]] = _nothing
        """Called when others may have taken this replica for dead, before it is sure again."""
        self.on_heard: Callable[[], object] = _nothing_now
        """Called when it is known anew who lives."""

    @property
    def certain(self) -> bool:
        """Whether nobody can have taken this replica for dead."""
        if self.alone:
            return True
        heard_at = self._heard_at
        if heard_at is None or self._doubtful:
            return False
        return self._clock.monotonic() - heard_at < self._ttl_s

    @property
    def dead(self) -> tuple[str, ...]:
        """Ids of the replicas whose games may be taken, as far as that is known for sure."""
        return tuple(owner for owner in self._dead if self.may_take_from(owner))

    def known(self) -> set[str]:
        """Ids of all that live, and of all that died and may own something."""
        return {self.me.replica_id, *self._living, *self._dead}

    def hoped_for(self) -> set[str]:
        """Ids of all that aren't known to be dead for sure: calls to them may still be answered."""
        return self.known().difference(self.dead)

    def living(self) -> list[Replica]:
        """All that live, as heard last; this one too."""
        return [self.me, *self.others()]

    def others(self) -> list[Replica]:
        """The others that live, as heard last."""
        return [each for each in self._living.values() if each.replica_id != self.me.replica_id]

    def takers(self) -> list[Replica]:
        """Those that live and take games."""
        return [replica for replica in self.living() if not replica.draining]

    def find(self, replica_id: str) -> Replica | None:
        """Another replica that lives."""
        return None if replica_id == self.me.replica_id else self._living.get(replica_id)

    def may_take_from(self, owner: str) -> bool:
        """Whether games of `owner` may be made this replica's own.

        Of nobody always. Of another only if it has been silent although the store was there: who
        has just come back from an outage of the store waits until all others can have come back.
        """
        if self.alone:
            return True
        if not self.certain:
            return False
        if owner == NOBODY:
            return True
        since = self._unbroken_since
        now = self._clock.monotonic()
        return owner not in self._living and since is not None and now - since >= self._ttl_s

    async def run(self) -> None:
        """Say that this replica lives, until it leaves."""
        if self.alone:
            return
        every_ms = self._settings.heartbeat_ms
        while not self._gone:
            began_ms = self._clock.now_ms()
            pause_ms = every_ms
            try:
                await self.beat()
            except ServiceError as error:
                if not self._failing:
                    _log.warning("heartbeat_failed", error=str(error))
                self._failing = True
                pause_ms = round(every_ms * _LATE_PART)
            except Exception:
                _log.exception("heartbeat_crashed")
            else:
                if self._failing:
                    _log.info("heartbeat_back")
                self._failing = False
            await self._clock.sleep_until(began_ms + pause_ms)

    async def beat(self) -> None:
        """Say so once, and hear who else lives.

        Raises:
            ServiceError: the store failed; nothing is known anew, or this replica isn't sure yet
                what it still runs.
        """
        async with self._hearing:
            await self._hear()
        if self._doubtful:
            _log.warning("replica_was_silent", replica_id=self.me.replica_id)
            breaks = self._breaks
            await self.on_return()
            self._doubtful = self._breaks != breaks  # it may have been silent again meanwhile

    async def ask_about(self, owner: str) -> None:
        """Hear anew who lives if `owner` is unknown: it may have started a moment ago.

        Raises:
            ServiceError: the store failed.
        """
        if self.alone or owner in {NOBODY, self.me.replica_id, *self._living, *self._dead}:
            return
        asked_in = self._beats
        async with self._hearing:
            if self._beats == asked_in:  # else that was since
                await self._hear()

    async def _hear(self) -> None:
        self._beats += 1
        asked_at = self._clock.monotonic()
        roll = await self._store.beat(self.me, self._settings.replica_ttl_ms, self._lives)
        # The clock here may have stood still too, and that of the store may have leapt: so it isn't
        # enough to look at the one here.
        late = self._heard_at is not None and asked_at - self._heard_at >= self._ttl_s
        broken = late or (self._lives > 0 and roll.lives != self._lives)
        self._lives = roll.lives
        self._breaks += broken
        if broken or self._unbroken_since is None:
            self._unbroken_since = asked_at
        self._doubtful = self._doubtful or broken
        self._heard_at = asked_at
        self._living = {replica.replica_id: replica for replica in roll.living}
        self._dead = roll.dead
        self._metrics.replicas_alive.set(len(roll.living))
        self.on_heard()

    async def drain(self) -> None:
        """Take no game any more, and tell the others.

        Raises:
            ServiceError: the store failed; the others don't know yet.
        """
        self.me = replace(self.me, draining=True)
        if not self.alone:
            await self.beat()

    async def leave(self) -> None:
        """Be neither alive nor dead any more; a store that is away doesn't matter."""
        self._gone = True
        if self.alone:
            return
        try:
            await self._store.leave(self.me.replica_id)
        except ServiceError as error:
            _log.warning("replica_not_signed_off", error=str(error))

    @property
    def _ttl_s(self) -> float:
        return self._settings.replica_ttl_ms / 1000


async def _nothing() -> None:
    """What happens on a return if nobody is to be told."""


def _nothing_now() -> None:
    """What happens on a beat if nobody is to be told."""
