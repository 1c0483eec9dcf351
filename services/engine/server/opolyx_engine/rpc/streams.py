"""The open streams of an engine: what waits for each is written, and all are told of a drain.

A stream outlives the look at its token with which it began, so tokens are looked at again.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import structlog

from opolyx_engine.errors import draining, too_many, too_often
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.outbox import Outbox
from opolyx_engine.rpc.frames import draining_frame
from opolyx_engine.rpc.patience import Patience
from opolyx_engine.settings import EngineSettings
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import Unauthenticated
from opolyx_servicekit.rates import Buckets
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)


class Streams:
    """Makes outboxes and keeps those of open streams."""

    def __init__(
        self,
        settings: EngineSettings,
        metrics: EngineMetrics,
        clock: Clock,
        check_token: Callable[[Principal], None],
    ) -> None:
        """No stream yet.

        Args:
            settings: the limits.
            metrics: count the streams.
            clock: the time.
            check_token: raises `Unauthenticated` if a caller's token is no longer good.
        """
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._check_token = check_token
        self._open: dict[Outbox, Principal] = {}
        self._of_account: Counter[str] = Counter()
        self._draining = False
        self._opens = Buckets(settings.streams_per_second, settings.stream_burst)
        self._attaches = Buckets(settings.attaches_per_second, settings.attach_burst)
        self._missed = Buckets(settings.missed_updates_per_second, settings.missed_update_burst)
        self.patience = Patience(settings, metrics, clock)
        """With accounts whose commands are refused."""

    def __len__(self) -> int:
        """How many streams are open."""
        return len(self._open)

    def outboxes(self) -> list[Outbox]:
        """The outboxes of all open streams."""
        return list(self._open)

    def open(self, principal: Principal) -> Outbox:
        """The outbox of a new stream; close it with `close`.

        Raises:
            Unavailable: the engine drains.
            ResourceExhausted: the account has as many streams as it may, opens too many, or is
                shut out.
        """
        if self._draining:
            raise draining(self._settings.drain_retry_ms)
        self.patience.admit(principal)
        if wait_ms := self._opens.wait_ms(principal.subject, self._clock.now_ms()):
            self._metrics.limited.labels("streams").inc()
            raise too_often("streams", self._settings.streams_per_second, wait_ms)
        most = self._settings.most_account_streams
        if self._of_account[principal.subject] >= most:
            raise too_many("streams", most)
        self._of_account[principal.subject] += 1
        outbox = Outbox(
            self._settings.most_queued_frames, self._settings.most_queued_bytes, self._metrics
        )
        self._open[outbox] = principal
        self._metrics.streams.set(len(self._open))
        return outbox

    def admit_attach(self, principal: Principal) -> None:
        """Count an attach; raises ResourceExhausted if the account attaches too often."""
        if wait_ms := self._attaches.wait_ms(principal.subject, self._clock.now_ms()):
            self._metrics.limited.labels("attaches").inc()
            raise too_often("attaches", self._settings.attaches_per_second, wait_ms)

    def may_read_back(self, principal: Principal, updates: int) -> bool:
        """Whether so many updates may be read back for the account, which are counted then.

        That is work, as each is put through the rules again; who wants more gets a snapshot.
        """
        if self._missed.wait_ms(principal.subject, self._clock.now_ms(), updates):
            self._metrics.limited.labels("missed_updates").inc()
            return False
        return True

    def close(self, outbox: Outbox) -> None:
        """Forget a stream."""
        outbox.end()
        principal = self._open.pop(outbox, None)
        if principal is not None:
            self._of_account[principal.subject] -= 1
            if not self._of_account[principal.subject]:
                del self._of_account[principal.subject]
        self._metrics.streams.set(len(self._open))

    async def watch_tokens(self) -> None:
        """Until cancelled, end streams whose tokens are no longer good."""
        every_ms = round(self._settings.token_check_seconds * 1000)
        while True:
            await self._clock.sleep_until(self._clock.now_ms() + every_ms)
            self.check_tokens()

    def check_tokens(self) -> None:
        """End the streams whose tokens are no longer good."""
        for outbox, principal in list(self._open.items()):
            try:
                self._check_token(principal)
            except Unauthenticated as error:
                _log.info("stream_cut", subject=principal.subject, reason=error.reason)
                self._metrics.streams_cut.labels(error.reason.lower()).inc()
                outbox.fail(error)

    def drain(self) -> int:
        """Tell every stream to connect elsewhere, and end it once that is written; how many.

        No stream is taken any more.
        """
        self._draining = True
        frame = draining_frame(self._settings.drain_retry_ms)
        for outbox in self._open:
            outbox.put(frame)
            outbox.end(draining(self._settings.drain_retry_ms))
        return len(self._open)


async def write_all(context: Any, outbox: Outbox) -> None:
    """Write what comes into `outbox` until it ends; all that waits goes in one message.

    Raises:
        ServiceError: the stream must end with it; a write that its reader blocks is given up.
    """
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("streams are written by tasks")
    outbox.on_failure(task.cancel)
    try:
        while frames := await outbox.take():
            await context.write(frames)
    except asyncio.CancelledError:
        if outbox.error is None or task.cancelling() != 1:
            raise
        task.uncancel()
        raise outbox.error from None
