"""`grpc_client_*` metrics of a client's calls, named and labelled as go-grpc-middleware does it.

Needs the extra `metrics`. Give one to every client of a process:

```python
metrics = ClientMetrics()
client = AsyncClient("localhost:7443", options=ClientOptions(metrics=metrics))
```
"""

import time
from typing import TYPE_CHECKING, Final

from opolyx_sdk.errors import MissingExtra

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_LABELS: Final = ("grpc_type", "grpc_service", "grpc_method")
_SPECIAL: Final = {"OK": "OK", "CANCELLED": "Canceled"}


class ClientMetrics:
    """Counts the calls of the clients that it is given to."""

    def __init__(self, registry: "CollectorRegistry | None" = None) -> None:
        """Register with `registry`, or with prometheus_client's own.

        Raises:
            MissingExtra: prometheus_client isn't installed.
        """
        try:
            from prometheus_client import REGISTRY, Counter, Histogram
        except ImportError:
            raise MissingExtra("metrics need the extra: opolyx-sdk[metrics]") from None
        where = registry or REGISTRY
        self._started = Counter("grpc_client_started", "RPCs started.", _LABELS, registry=where)
        self._handled = Counter(
            "grpc_client_handled",
            "RPCs completed, by their code.",
            (*_LABELS, "grpc_code"),
            registry=where,
        )
        self._received = Counter(
            "grpc_client_msg_received", "Messages received.", _LABELS, registry=where
        )
        self._sent = Counter("grpc_client_msg_sent", "Messages sent.", _LABELS, registry=where)
        self._seconds = Histogram(
            "grpc_client_handling_seconds",
            "Seconds from the start of an RPC to its end.",
            _LABELS,
            registry=where,
        )

    def start(self, kind: str, method: str) -> "CountedCall":
        """Count a call that begins.

        Args:
            kind: unary, client_stream, server_stream or bidi_stream.
            method: `/package.Service/Method`; of the contract, never of a server's answer.
        """
        service, _, name = method.lstrip("/").rpartition("/")
        return CountedCall(self, (kind, service, name))


class CountedCall:
    """A call under way; ends once."""

    __slots__ = ("_begun", "_ended", "_labels", "_metrics")

    def __init__(self, metrics: ClientMetrics, labels: tuple[str, str, str]) -> None:
        """Count that it has begun."""
        self._metrics = metrics
        self._labels = labels
        self._begun = time.perf_counter()
        self._ended = False
        metrics._started.labels(*labels).inc()

    def sent(self) -> None:
        """Count a message of the client."""
        self._metrics._sent.labels(*self._labels).inc()

    def received(self) -> None:
        """Count a message of the server."""
        self._metrics._received.labels(*self._labels).inc()

    def end(self, status: str) -> None:
        """Count the end, by the status's name as gRPC has it in Python; further ends are none."""
        if self._ended:
            return
        self._ended = True
        self._metrics._handled.labels(*self._labels, go_name(status)).inc()
        self._metrics._seconds.labels(*self._labels).observe(time.perf_counter() - self._begun)


def go_name(status: str) -> str:
    """The name of a status as Go has it: NOT_FOUND is NotFound there."""
    return _SPECIAL.get(status) or status.title().replace("_", "")
