"""Spans of OpenTelemetry where a service traces; elsewhere nothing, for the price of one look.

The spans of a command: the client's own, the call's, the game's turn at it, and below that
admission, rules, store and publication. Who calls says its place in the trace as W3C has it, in the
call's metadata `traceparent`, or in the command where one stream carries many.

OpenTelemetry is an extra (`opolyx-servicekit[otel]`) and imported only when a service traces.
"""

import re
from collections.abc import Iterable, Iterator, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

import grpc

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import Sampler
    from opentelemetry.trace import Tracer

TRACEPARENT: Final = "traceparent"
"""Key of the metadata that says where in a trace a call is."""

_W3C: Final = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_NOTHING: Final[AbstractContextManager[None]] = nullcontext()
_SERVER_FAULTS: Final = frozenset(
    {
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)

_tracer: "Tracer | None" = None


@contextmanager
def traced_by(provider: "TracerProvider") -> Iterator[None]:
    """Give spans to `provider` for the length of a block, and what is left of them at its end."""
    global _tracer  # noqa: PLW0603 - like logging, it is the process's
    before, _tracer = _tracer, provider.get_tracer("opolyx")
    try:
        yield
    finally:
        _tracer = before
        provider.shutdown()


@contextmanager
def traced_to(endpoint: str | None, service: str, ratio: float) -> Iterator[None]:
    """Send spans to a collector for the length of a block; nothing is traced without one.

    Args:
        endpoint: URL of a collector that takes OTLP over gRPC, `http://` without TLS.
        service: the service's name.
        ratio: the share of traces that is kept, from 0 to 1.

    Raises:
        ValueError: OpenTelemetry isn't installed.
    """
    if endpoint is None:
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ValueError("traces_endpoint needs the extra `otel`") from error
    resource = Resource.create({"service.name": service})
    provider = TracerProvider(sampler=share_of_traces(ratio), resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    with traced_by(provider):
        yield


def share_of_traces(ratio: float) -> "Sampler":
    """Keeps a share of all traces, by their ids, so that all services keep the same ones.

    A caller can say that a trace isn't to be kept, but not that it is: clients can't make a server
    trace more than it is set to.
    """
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    share = TraceIdRatioBased(ratio)
    return ParentBased(root=share, remote_parent_sampled=share)


def tracing() -> bool:
    """Whether spans go anywhere."""
    return _tracer is not None


def span(
    name: str, parent: "Context | None" = None, **attributes: str | int
) -> AbstractContextManager[Any]:
    """A span for the length of a block, below `parent` or whatever is under way here."""
    if _tracer is None:
        return _NOTHING
    return _tracer.start_as_current_span(
        name,
        context=parent,
        attributes=attributes,
        record_exception=False,  # its text may hold what isn't for everybody
        set_status_on_exception=False,
    )


def served(method: str, metadata: Iterable[tuple[str, str | bytes]]) -> AbstractContextManager[Any]:
    """The span of a call that is served, below its caller's."""
    if _tracer is None:
        return _NOTHING
    from opentelemetry.trace import SpanKind

    found = [value for key, value in metadata if key == TRACEPARENT and isinstance(value, str)]
    return _tracer.start_as_current_span(
        method.lstrip("/"),
        context=parent_of(found[0]) if found else None,
        kind=SpanKind.SERVER,
        attributes={"rpc.system": "grpc"},
        record_exception=False,
        set_status_on_exception=False,
    )


def ended(code: grpc.StatusCode) -> None:
    """Note in the span under way how its call ended."""
    if _tracer is None:
        return
    from opentelemetry.trace import Status, StatusCode, get_current_span

    current = get_current_span()
    current.set_attribute("rpc.grpc.status_code", code.value[0])
    if code in _SERVER_FAULTS:
        current.set_status(Status(StatusCode.ERROR))


def here() -> "Context | None":
    """What is under way, for work that goes on in another task; None where nothing is traced."""
    if _tracer is None:
        return None
    from opentelemetry.context import get_current

    return get_current()


def parent_of(traceparent: str) -> "Context | None":
    """The place in a trace that a caller named; None if that is no such place, or none is traced."""
    if _tracer is None or not _W3C.fullmatch(traceparent):
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({TRACEPARENT: traceparent})


def traceparent() -> str:
    """What is under way, as W3C writes it; empty where nothing is traced."""
    if _tracer is None:
        return ""
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get(TRACEPARENT, "")


def add_trace_ids(
    _logger: object, _name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A log line gets the ids of the span in which it was written."""
    if _tracer is None:
        return event
    from opentelemetry.trace import format_span_id, format_trace_id, get_current_span

    context = get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = format_trace_id(context.trace_id)
        event["span_id"] = format_span_id(context.span_id)
    return event


class CallsTraced(grpc.aio.UnaryUnaryClientInterceptor):
    """Says in each call that a service makes where in the trace it is."""

    async def intercept_unary_unary(
        self, continuation: Any, client_call_details: grpc.aio.ClientCallDetails, request: Any
    ) -> Any:
        """The call, with its place in the trace."""
        place = traceparent()
        if place:
            metadata = (*(client_call_details.metadata or ()), (TRACEPARENT, place))
            client_call_details = grpc.aio.ClientCallDetails(
                client_call_details.method,
                client_call_details.timeout,
                grpc.aio.Metadata(*metadata),
                client_call_details.credentials,
                client_call_details.wait_for_ready,
            )
        return await continuation(client_call_details, request)
