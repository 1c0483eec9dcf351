"""Which of several matchmakers serves: the one that holds the store's lease.

Searches, offers and who watches a room live in one process, so one serves and the others stand by.
Who stands by begins to serve when it gets the lease. Who served and lost it, because it stood still
for too long, never serves again: its memory is out of date and its clients must go elsewhere, so
the process ends, and another life of it stands by.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from opolyx_matchmaker.metrics import MatchmakerMetrics
from opolyx_matchmaker.refusals import standby
from opolyx_matchmaker.store.base import Store
from opolyx_servicekit.errors import EnvironmentFault

_log = structlog.get_logger(__name__)

_KEPT_PART: Final = 1 / 3  # of a lease: how often who serves shows that it lives
_ASKED_PART: Final = 1 / 12  # how often who stands by asks


class Duty:
    """Takes the lease, keeps it, and notices its loss."""

    def __init__(
        self,
        store: Store,
        lease_seconds: float,
        metrics: MatchmakerMetrics,
        take_up: Callable[[], Awaitable[None]],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Stand by.

        Args:
            store: has the lease.
            lease_seconds: how long it lasts.
            metrics: say whether this process serves.
            take_up: begins to serve, once; may fail as the environment does, and is tried again.
            monotonic: seconds that never go back.
        """
        self.on_ready: Callable[[bool], object] = _nobody
        """Told whether calls should come here, whenever that changes."""
        self._store = store
        self._lease_seconds = lease_seconds
        self._metrics = metrics
        self._take_up = take_up
        self._monotonic = monotonic
        self._held_at = 0.0
        self._serves = False
        self._ready = False
        self._lost = asyncio.Event()
        self._served = asyncio.Event()
        store.tell_fenced(self._fenced)

    @property
    def is_ready(self) -> bool:
        """Whether calls should come here."""
        return self._ready

    def check(self) -> None:
        """Refuse a call that another process must serve.

        Raises:
            Unavailable: it may be tried again soon, and comes to the other one then.
        """
        if not self._serves or self._lost.is_set():
            raise standby()

    async def look(self) -> None:
        """Take the lease or keep it once; serve when it is held for the first time.

        Raises:
            EnvironmentFault: the store doesn't answer. Who serves goes on to, as what it writes is
                fenced; after a lease without an answer it is ready no more, as perhaps only it
                can't reach the store.
        """
        try:
            held = await self._store.hold_lease()
        except EnvironmentFault:
            if self._serves and self._monotonic() - self._held_at >= self._lease_seconds:
                self._set_ready(False)
            raise
        if not held:
            if self._serves:
                self._lose()
            return
        self._held_at = self._monotonic()
        if not self._serves:
            await self._take_up()
            self._serves = True
            self._served.set()
            _log.info("matchmaker_serves")
        self._set_ready(True)

    async def run(self) -> None:
        """Look again and again, until the lease is lost."""
        while not self._lost.is_set():
            part = _KEPT_PART if self._serves else _ASKED_PART
            await asyncio.sleep(self._lease_seconds * part)
            try:
                await self.look()
            except EnvironmentFault as error:
                _log.warning("lease_not_asked", error=str(error))
            except Exception:
                _log.exception("lease_crashed")

    async def until_serving(self) -> None:
        """Wait until this process serves."""
        await self._served.wait()

    async def until_lost(self) -> None:
        """Wait until another process serves in place of this one, which may never be."""
        await self._lost.wait()

    async def end(self) -> None:
        """Let the next one serve at once; what this one began must be done."""
        self._set_ready(False)
        self._serves = False
        self._metrics.active.set(0)
        try:
            await self._store.release_lease()
        except EnvironmentFault as error:
            _log.warning("lease_not_released", error=str(error))

    def _fenced(self) -> None:
        self._metrics.fenced_writes.inc()
        if self._serves:
            self._lose()

    def _lose(self) -> None:
        if not self._lost.is_set():
            _log.error("lease_lost", why="another matchmaker took over: this one stood still")
            self._lost.set()
            self._set_ready(False)

    def _set_ready(self, ready: bool) -> None:
        self._metrics.active.set(int(ready))
        if ready != self._ready:
            self._ready = ready
            self.on_ready(ready)


def _nobody(ready: bool) -> None:
    """Who is told when nobody asked."""
