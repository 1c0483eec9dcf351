"""`grpc_server_*` metrics, named and labelled as go-grpc-middleware does it.

Two counts are more exact here than there: a message counts as sent only when it was sent, and a
call whose time was over is DeadlineExceeded though its handler was cancelled.
"""

from collections.abc import Iterable
from typing import Final

import grpc
from google.protobuf import descriptor_pool
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

_LABELS: Final = ("grpc_type", "grpc_service", "grpc_method")
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

_LAGS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


def new_registry() -> CollectorRegistry:
    """A registry of one's own, with the process's and the interpreter's metrics.

    Without `_created` series, which would be a third of all and which go-grpc has not, either.
    """
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry(auto_describe=True)
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


class RpcMetrics:
    """The metrics of all RPCs of a process; make one and share it between servers."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        """Register the metrics with `registry`, or with a new one."""
        self.registry = registry or new_registry()
        """Where services register their own metrics too."""
        self._started = Counter(
            "grpc_server_started", "RPCs started.", _LABELS, registry=self.registry
        )
        self._handled = Counter(
            "grpc_server_handled",
            "RPCs completed, by their code.",
            (*_LABELS, "grpc_code"),
            registry=self.registry,
        )
        self._received = Counter(
            "grpc_server_msg_received", "Messages received.", _LABELS, registry=self.registry
        )
        self._sent = Counter(
            "grpc_server_msg_sent", "Messages sent.", _LABELS, registry=self.registry
        )
        self._seconds = Histogram(
            "grpc_server_handling_seconds",
            "Seconds from the start of an RPC to its end.",
            _LABELS,
            registry=self.registry,
            buckets=_BUCKETS,
        )

        self.loop_lag = Histogram(
            "opolyx_event_loop_lag_seconds",
            "Seconds by which a sleep of the event loop was too long.",
            registry=self.registry,
            buckets=_LAGS,
        )
        """Of the process's event loop."""
        self.connections_closed = Counter(
            "opolyx_connections_closed",
            "Connections closed because call after call on them was refused.",
            registry=self.registry,
        )
        """By this process."""

    def expect(self, service_names: Iterable[str]) -> None:
        """Show the methods of these services from the start, with all their codes, at 0.

        A counter that appears with its first error hides that error from `rate`.

        Args:
            service_names: full names of services whose code is loaded; others are left out.
        """
        for name in service_names:
            try:
                service = descriptor_pool.Default().FindServiceByName(name)
            except KeyError:
                continue
            for method in service.methods:
                self.of_method(
                    f"/{name}/{method.name}",
                    request_streaming=method.client_streaming,
                    response_streaming=method.server_streaming,
                ).expect_all_codes()

    def of_method(
        self, method: str, *, request_streaming: bool, response_streaming: bool
    ) -> "MethodMetrics":
        """The metrics of one method; keep the result, finding it costs more than counting."""
        kind = _kind(request_streaming, response_streaming)
        service, name = method.lstrip("/").rsplit("/", 1)
        labels = (kind, service, name)
        return MethodMetrics(
            self._started.labels(*labels),
            self._received.labels(*labels),
            self._sent.labels(*labels),
            self._seconds.labels(*labels),
            self._handled,
            labels,
        )


class MethodMetrics:
    """The metrics of one method, with their labels already bound."""

    __slots__ = (
        "_handled",
        "_handled_by_code",
        "_labels",
        "received",
        "seconds",
        "sent",
        "started",
    )

    def __init__(
        self,
        started: Counter,
        received: Counter,
        sent: Counter,
        seconds: Histogram,
        handled: Counter,
        labels: tuple[str, str, str],
    ) -> None:
        """Bind `labels` (type, service, method) of `handled`; the others are bound already."""
        self.started = started
        self.received = received
        self.sent = sent
        self.seconds = seconds
        self._handled = handled
        self._labels = labels
        self._handled_by_code: dict[grpc.StatusCode, Counter] = {}

    def handled(self, code: grpc.StatusCode, seconds: float) -> None:
        """Count a finished RPC."""
        self._ended_with(code).inc()
        self.seconds.observe(seconds)

    def expect_all_codes(self) -> None:
        """Show every code, at 0."""
        for code in grpc.StatusCode:
            self._ended_with(code)

    def _ended_with(self, code: grpc.StatusCode) -> Counter:
        counter = self._handled_by_code.get(code)
        if counter is None:
            counter = self._handled.labels(*self._labels, _go_name(code))
            self._handled_by_code[code] = counter
        return counter


def _kind(request_streaming: bool, response_streaming: bool) -> str:
    if request_streaming:
        return "bidi_stream" if response_streaming else "client_stream"
    return "server_stream" if response_streaming else "unary"


def _go_name(code: grpc.StatusCode) -> str:
    """`NOT_FOUND` is NotFound there."""
    special = {grpc.StatusCode.OK: "OK", grpc.StatusCode.CANCELLED: "Canceled"}
    return special.get(code, code.name.title().replace("_", ""))
