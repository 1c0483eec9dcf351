"""The client's part in a trace, by OpenTelemetry's interface; the program says where spans go."""

from collections.abc import Iterator
from contextlib import contextmanager

from opolyx_sdk.errors import MissingExtra


class Traces:
    """Says where in a trace a call is, and makes the span of a command; or does nothing."""

    def __init__(self, *, on: bool) -> None:
        """Trace, if it is on.

        Raises:
            MissingExtra: it is, and OpenTelemetry isn't installed.
        """
        self._on = on
        if on:
            try:
                import opentelemetry.trace  # noqa: F401 - only whether it is there
            except ImportError:
                raise MissingExtra("traces need the extra: opolyx-sdk[otel]") from None

    def place(self) -> str:
        """What is under way, as W3C's `traceparent` has it; empty if nothing is."""
        if not self._on:
            return ""
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier)
        return carrier.get("traceparent", "")

    @contextmanager
    def command(self, game_id: str) -> Iterator[str]:
        """The span of a command, from sending it to its answer; yields its place."""
        if not self._on:
            yield ""
            return
        from opentelemetry import trace

        tracer = trace.get_tracer("opolyx_sdk")
        with tracer.start_as_current_span(
            "opolyx command",
            kind=trace.SpanKind.CLIENT,
            attributes={"game_id": game_id},
            record_exception=False,
        ):
            yield self.place()
