"""The server of a service: gRPC, health, reflection and metrics, from start to drain."""

import asyncio
import importlib
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Final, Self
from wsgiref.simple_server import WSGIServer

import grpc
import structlog
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from prometheus_client import start_http_server

from opolyx_servicekit.access import AccessTable, Verifier
from opolyx_servicekit.call_budget import CallBudget
from opolyx_servicekit.exposure import warn_of_exposure
from opolyx_servicekit.file_limit import raise_file_limit
from opolyx_servicekit.garbage import collect_seldom
from opolyx_servicekit.interceptor import ServerInterceptor
from opolyx_servicekit.loop_lag import LoopLag
from opolyx_servicekit.probes import Probes
from opolyx_servicekit.refused_calls import RefusedCalls
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.settings import ServiceSettings
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.transport_security import bind, must_be_certified

_log = structlog.get_logger(__name__)

MAX_MESSAGE_BYTES: Final = 1 << 20
"""The largest message that a server accepts."""

_OPTIONS: Final = (
    ("grpc.so_reuseport", 0),  # a second server on the same port must fail
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_metadata_size", 16 << 10),
    ("grpc.absolute_max_metadata_size", 32 << 10),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_ping_strikes", 4),
)
_CALLS_PART: Final = 0.25  # of the grace: what open calls have of it at least
_PROBE_OPTIONS: Final = (("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", 4096))


class ServiceServer:
    """One gRPC server with what belongs to it. Use as a context, or `start` and `drain`."""

    def __init__(
        self,
        settings: ServiceSettings,
        *,
        add_services: Callable[[grpc.aio.Server], None],
        service_names: Iterable[str],
        roles: Mapping[str, frozenset[str]],
        verifier: Verifier | None,
        metrics: RpcMetrics | None = None,
        on_drain: Callable[[], Awaitable[None]] | None = None,
        counted_elsewhere: Iterable[str] = (),
    ) -> None:
        """Describe the server; nothing is opened before `start`.

        Args:
            settings: addresses, TLS, grace, reflection.
            add_services: adds the servicers; called by `start`.
            service_names: their full names, for health and reflection.
            roles: by full method name, the roles that may call it, or `access.PUBLIC`.
            verifier: checks callers' tokens.
            metrics: shared between the servers of a process; new ones if absent.
            on_drain: says goodbye on open streams and hands work over; called when readiness is
                gone and calls are still served; given up after the grace.
            counted_elsewhere: full names of methods that count for no account's budget of calls,
                as they have one of their own.
        """
        self._settings = settings
        self._add_services = add_services
        self._names = tuple(service_names)
        self._access = AccessTable(roles, verifier, gate=self._pass_gate)
        self._budget = CallBudget(
            settings.calls_per_second, settings.call_burst, counted_elsewhere=counted_elsewhere
        )
        self.metrics = metrics or RpcMetrics()
        """The metrics; services register their own with `metrics.registry`."""
        self.gate: Callable[[str], None] = _open
        """Told the full name of each method that is called; raises if it isn't served here now."""
        self._refused = RefusedCalls(
            settings.refused_calls_per_second,
            settings.refused_call_burst,
            on_closed=self.metrics.connections_closed.inc,
        )
        self._on_drain = on_drain
        self._server: grpc.aio.Server | None = None
        self._probe_server: grpc.aio.Server | None = None
        self._metrics_server: tuple[WSGIServer, threading.Thread] | None = None
        self._probes: Probes | None = None
        self._tasks = TaskOwner("server")
        self._not_ready: set[str] = set()
        self._drain_lock = asyncio.Lock()
        self._port = 0
        self._service_port = 0
        self._probe_port = 0

    @property
    def bound_port(self) -> int:
        """The port of the gRPC server; 0 before `start`."""
        return self._port

    @property
    def service_port(self) -> int:
        """The port for the other services; 0 if they have none of their own."""
        return self._service_port

    @property
    def probe_port(self) -> int:
        """The port of the health-only server; 0 if there is none."""
        return self._probe_port

    @property
    def metrics_port(self) -> int:
        """The port of the Prometheus endpoint; 0 if there is none."""
        return self._metrics_server[0].server_port if self._metrics_server else 0

    async def start(self) -> None:
        """Open the ports and serve; ready once this returns.

        Raises:
            RuntimeError: an address can't be bound.
            OSError: the metrics address can't be bound, or a TLS file can't be read.
        """
        raise_file_limit(self._settings.most_connections)
        self._probes = Probes(self._names, most_watches=self._settings.most_health_watches)
        certified = self._settings.tls_client_ca_file is not None
        interceptor = ServerInterceptor(
            self._access,
            self.metrics,
            budget=self._budget,
            request_seconds=self._settings.request_seconds,
            admit_peer=must_be_certified if certified else None,
            refused=self._refused,
        )
        self._server = grpc.aio.server(
            interceptors=[interceptor], options=server_options(self._settings)
        )
        self._add_services(self._server)
        self.metrics.expect(self._names)
        health_pb2_grpc.add_HealthServicer_to_server(self._probes, self._server)
        if self._settings.reflection:
            names = (*self._names, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, self._server)
        self._port, self._service_port = bind(self._server, self._settings)
        self._refused.ports = (self._port, self._service_port)
        await self._start_probe_server(self._probes)
        self._start_metrics_server()
        self._tasks.start(LoopLag(self.metrics.loop_lag).run(), name="loop_lag")
        await self._server.start()
        self._probes.set_ready(True, set(self._names) - self._not_ready)
        warn_of_exposure(self._settings)
        if unknown := self._settings.unknown_names():
            _log.warning("settings_unknown", names=unknown)
        _log.info("server_started", port=self._port, **self._settings.describe())

    def not_ready(self) -> None:
        """Say from now on that new calls should go elsewhere; those that come are served."""
        if self._probes is not None:
            self._probes.set_ready(False)

    def set_ready(self, ready: bool, names: Iterable[str]) -> None:
        """Say from now on whether new calls of some services should come here.

        Before `start` it holds from then on. A server that drains is ready for nothing.
        """
        changed = set(names)
        self._not_ready = self._not_ready - changed if ready else self._not_ready | changed
        if self._server is not None and self._probes is not None and not self._drain_lock.locked():
            self._probes.set_ready(ready, changed)

    async def drain(self) -> None:
        """Stop kindly: readiness off, `on_drain`, then wait for open calls up to the grace's end.

        May be called again, and before `start`.
        """
        async with self._drain_lock:
            if self._server is None or self._probes is None:
                return
            _log.info("server_draining", grace_seconds=self._settings.grace_seconds)
            self._probes.set_ready(False)
            began = time.monotonic()
            await self._say_goodbye()
            self._probes.end_watches()
            # One grace for both: who stops this process counts on it. Calls have to hear of it, too.
            grace_s = self._settings.grace_seconds
            left_s = max(grace_s - (time.monotonic() - began), grace_s * _CALLS_PART)
            try:
                await self._server.stop(left_s)
            finally:  # also when a second signal cancels the wait
                self._server = None
                await self._stop_side_servers()
            _log.info("server_stopped")

    async def __aenter__(self) -> Self:
        """Start."""
        try:
            await self.start()
        except BaseException:
            await self._stop_side_servers()
            if self._server is not None:
                await self._server.stop(None)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Drain, unless that was done."""
        await self.drain()

    def _pass_gate(self, method: str) -> None:
        self.gate(method)

    async def _start_probe_server(self, probes: Probes) -> None:
        if self._settings.probe_address is None:
            return
        self._probe_server = grpc.aio.server(options=_PROBE_OPTIONS)
        health_pb2_grpc.add_HealthServicer_to_server(probes, self._probe_server)
        self._probe_port = self._probe_server.add_insecure_port(self._settings.probe_address)
        await self._probe_server.start()

    def _start_metrics_server(self) -> None:
        if self._settings.metrics_address is None:
            return
        host, _, port = self._settings.metrics_address.rpartition(":")
        self._metrics_server = start_http_server(
            int(port), addr=host.strip("[]"), registry=self.metrics.registry
        )

    async def _say_goodbye(self) -> None:
        """A failed goodbye must not keep the server from stopping."""
        if self._on_drain is None:
            return
        try:
            # Not wait_for: before Python 3.12 it can swallow a cancellation.
            async with asyncio.timeout(self._settings.grace_seconds):
                await self._on_drain()
        except Exception:
            _log.exception("drain_incomplete")

    async def _stop_side_servers(self) -> None:
        await self._tasks.close()
        await self._refused.aclose()
        if self._probe_server is not None:
            await self._probe_server.stop(0)
        if self._metrics_server is not None:
            server, thread = self._metrics_server
            await asyncio.to_thread(server.shutdown)
            server.server_close()
            await asyncio.to_thread(thread.join)


def _open(method: str) -> None:
    """The gate of a server that serves everything it has."""


def server_options(settings: ServiceSettings) -> tuple[tuple[str, int], ...]:
    """What gRPC is told; it ignores names that it doesn't know, so a test holds them to it."""
    timeout_ms = round(settings.keepalive_timeout_seconds * 1000)
    return (
        *_OPTIONS,
        ("grpc.keepalive_time_ms", round(settings.keepalive_seconds * 1000)),
        ("grpc.keepalive_timeout_ms", timeout_ms),
        ("grpc.http2.ping_timeout_ms", timeout_ms),  # alone counts while another ping is under way
        # Despite what gRPC's guides call it: without it, five minutes must lie between two pings.
        ("grpc.http2.min_ping_interval_without_data_ms", round(settings.least_ping_seconds * 1000)),
        # Whoever opens a connection and says nothing, or half of what begins it, is gone soon.
        ("grpc.server_handshake_timeout_ms", round(settings.handshake_seconds * 1000)),
        ("grpc.http2.settings_timeout", round(settings.handshake_seconds * 1000)),
        ("grpc.max_connection_idle_ms", round(settings.idle_connection_seconds * 1000)),
        ("grpc.max_allowed_incoming_connections", settings.most_connections),
        ("grpc.max_concurrent_streams", settings.most_connection_calls),
        # Calls that wait to be taken are first come, first served, whoever floods: past the first
        # number some are refused at once, past the second all, before Python hears of them.
        ("grpc.server.max_pending_requests", settings.most_pending_calls),
        ("grpc.server.max_pending_requests_hard_limit", settings.most_pending_calls * 2),
    )


def run(main: Callable[[asyncio.Event], Awaitable[None]]) -> int:
    """Run a service's `main` until it returns; the process's exit code.

    SIGTERM and SIGINT set the event that `main` is given: it then drains and returns, and the
    code is 0. A second signal cancels it, and the code is 1. uvloop is used if installed.
    """
    collect_seldom()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        try:
            runner.run(_with_signals(main))
        except asyncio.CancelledError:
            return 1
    return 0


async def _with_signals(main: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    stop = asyncio.Event()
    task = asyncio.current_task()

    def on_signal() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    await main(stop)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        uvloop: Any = importlib.import_module("uvloop")
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
