"""Progression put together: what is served, and the work behind it."""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

import grpc
from prometheus_client import CollectorRegistry

from opolyx_progression.access import ACCESS, ROLES, SERVICE_NAME
from opolyx_progression.audit import AuditReport
from opolyx_progression.auditing import Auditing
from opolyx_progression.facts import FactConsumer
from opolyx_progression.metrics import ProgressionMetrics
from opolyx_progression.rpc.fact_source import EngineFactSource
from opolyx_progression.rpc.progression import add_progression
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.base import Store
from opolyx_servicekit.streams import BackOff
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.wall_clock import Clock, SystemClock


class ProgressionService:
    """Progression in a process: enter it, add it to a server, and it consumes and serves.

    Everything it is given stays its giver's to close.
    """

    service_names: Final = (SERVICE_NAME,)
    """Full names of what is served, for health and reflection."""

    access: Final[Mapping[str, frozenset[str]]] = ACCESS
    """By full method name, the roles that may call it."""

    roles: Final = ROLES
    """The roles that tokens may have."""

    def __init__(
        self,
        settings: ProgressionSettings,
        *,
        store: Store,
        engine: grpc.aio.Channel,
        registry: CollectorRegistry,
        token: Callable[[], str] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            settings: waits and the audit's interval.
            store: an open store.
            engine: a channel to the engine's AllocationService; the engine may come later.
            registry: where metrics are registered.
            token: makes the service token for the next stream to the engine.
            clock: the system's if absent.
        """
        self._settings = settings
        self._store = store
        self._clock = clock or SystemClock()
        self.metrics = ProgressionMetrics(registry)
        """What it counts."""
        self._consumer = FactConsumer(
            EngineFactSource(engine, token),
            store,
            self._clock,
            self.metrics,
            quiet_seconds=settings.facts_quiet_seconds,
            back_off=BackOff(settings.retry_base_seconds, settings.retry_cap_seconds),
        )
        self._tasks = TaskOwner("progression")
        self._auditing = Auditing(store, self._clock, self.metrics, self._tasks)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Serve progression on `server`."""
        add_progression(server, self._store, self._clock, self._auditing, self._consumer)

    async def audit(self) -> AuditReport:
        """Recompute everything and set the metric of drift."""
        return await self._auditing.run()

    async def __aenter__(self) -> Self:
        """Begin to consume facts."""
        self._tasks.start(self._consumer.run(), name="facts")
        if self._settings.audit_seconds:
            audits = self._auditing.run_for_ever(self._settings.audit_seconds)
            self._tasks.start(audits, name="audits")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop consuming."""
        await self._tasks.close()
