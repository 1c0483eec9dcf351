"""Health, for liveness (the empty name) and for the readiness of each service."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from opolyx_servicekit.errors import ResourceExhausted

LIVENESS: Final = ""
"""The name to ask for liveness under."""

_DOMAIN: Final = "grpc.health"
_RETRY_MS: Final = 5_000
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING
_UNKNOWN: Final = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


class Probes(health_pb2_grpc.HealthServicer):
    """The health service of a server.

    Liveness is SERVING as long as the process works, also while it drains: a probe must not kill
    what says goodbye. Each service's own name is its readiness. A watcher that stalls delays
    nobody, and open watches end with the server instead of using up its whole grace. As anybody may
    watch, without a token, their number is bounded.
    """

    def __init__(self, service_names: Iterable[str], *, most_watches: int = 100) -> None:
        """Nothing is ready yet.

        Args:
            service_names: full names such as `package.v1.Service`.
            most_watches: watches that may be open at once; one more is refused.
        """
        self._most_watches = most_watches
        self._watches = 0
        self._statuses = dict.fromkeys(service_names, _NOT_SERVING) | {LIVENESS: _SERVING}
        self._ended = False
        self._changed = asyncio.Event()

    def set_ready(self, ready: bool, names: Iterable[str] | None = None) -> None:
        """Set the readiness of the services named, or of all."""
        for name in list(self._statuses if names is None else names):
            if name != LIVENESS:
                self._statuses[name] = _SERVING if ready else _NOT_SERVING
        self._tell_watchers()

    def end_watches(self) -> None:
        """End the open watches, and later ones at once."""
        self._ended = True
        self._tell_watchers()

    async def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        """The status of a name; NOT_FOUND if there is no such service."""
        status = self._statuses.get(request.service)
        if status is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such service here")
        return health_pb2.HealthCheckResponse(status=status)

    async def Watch(self, request: Any, context: Any) -> None:  # noqa: N802
        """The status of a name now and whenever it changes; refused if too many watch."""
        if self._watches >= self._most_watches:
            await self._refuse(context)
        self._watches += 1
        try:
            await self._tell(request, context)
        finally:
            self._watches -= 1
        await context.abort(grpc.StatusCode.UNAVAILABLE, "the server stops")

    async def _refuse(self, context: Any) -> None:
        full = ResourceExhausted(
            "LIMIT",
            f"at most {self._most_watches} watches of health",
            domain=_DOMAIN,
            metadata={"limit": "most_health_watches", "value": self._most_watches},
            retry_after_ms=_RETRY_MS,
        )
        rich = rpc_status.to_status(full.to_status())
        await context.abort(rich.code, rich.details, rich.trailing_metadata)

    async def _tell(self, request: Any, context: Any) -> None:
        """Write until the watches end."""
        sent = None
        while True:
            # Looked at together: what changes during the write is written before the end.
            changed, ended = self._changed, self._ended
            status = self._statuses.get(request.service, _UNKNOWN)
            if status != sent:
                await context.write(health_pb2.HealthCheckResponse(status=status))
                sent = status
            if ended:
                return
            await changed.wait()

    def _tell_watchers(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
