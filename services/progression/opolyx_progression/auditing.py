"""When audits run: by the hour, and when an operator asks; the metric says what the last found."""

import asyncio
from typing import Final

import structlog

from opolyx_progression.audit import AuditReport, audit
from opolyx_progression.metrics import ProgressionMetrics
from opolyx_progression.store.base import Store
from opolyx_servicekit.errors import ServiceError, Unavailable
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

_Outcome = AuditReport | ServiceError


class Auditing:
    """Runs audits, at most one of a kind at a time."""

    def __init__(
        self, store: Store, clock: Clock, metrics: ProgressionMetrics, tasks: TaskOwner
    ) -> None:
        """Run nothing yet.

        Args:
            store: what is audited.
            clock: the time.
            metrics: where drift is shown.
            tasks: owns the audits.
        """
        self._store: Final = store
        self._clock: Final = clock
        self._metrics: Final = metrics
        self._tasks: Final = tasks
        self._running: dict[bool, asyncio.Task[_Outcome]] = {}

    async def run(self, *, count_boards: bool = False) -> AuditReport:
        """Recompute everything; whoever asks meanwhile gets the same report.

        It goes on if the caller goes away.

        Args:
            count_boards: see `audit`.

        Raises:
            ServiceError: the store is away, or the service ends.
        """
        task = self._running.get(count_boards)
        if task is None:
            task = self._start(count_boards)
        outcome = await asyncio.shield(task)
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome

    async def run_for_ever(self, interval_seconds: float) -> None:
        """One audit an interval; a failed one is logged and made up for at the next."""
        interval_ms = round(interval_seconds * 1000)
        while True:
            await self._clock.sleep_until(self._clock.now_ms() + interval_ms)
            try:
                await self.run()
            except Exception:
                _log.exception("audit_failed")

    def _start(self, count_boards: bool) -> asyncio.Task[_Outcome]:
        try:
            task = self._tasks.start(self._outcome(count_boards), name="audit")
        except RuntimeError as error:
            raise Unavailable("CALL_LOST", "progression ends, ask again") from error
        self._running[count_boards] = task
        task.add_done_callback(lambda _: self._running.pop(count_boards, None))
        return task

    async def _outcome(self, count_boards: bool) -> _Outcome:
        """Expected errors are returned, because a task that raises is logged as a bug."""
        try:
            report = await audit(self._store, count_boards=count_boards)
            self._metrics.dead_letters.set(await self._store.dead_letter_count())
        except ServiceError as error:
            return error
        report.at_unix_ms = self._clock.now_ms()
        self._metrics.audited(report.drift, report.at_unix_ms)
        for drift in report.drifts:
            _log.error(
                "award_drift",
                kind=drift.kind,
                subject=drift.subject,
                stored=drift.stored,
                computed=drift.computed,
            )
        return report
