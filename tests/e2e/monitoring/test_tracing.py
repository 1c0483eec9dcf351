"""A trace from the client's command to its publication, its ids in the log, and nothing when off."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import structlog
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.options import ClientOptions
from opolyx_server.embedded import EmbeddedServer
from opolyx_servicekit import tracing
from opolyx_servicekit.logs import configure_logs
from opolyx_servicekit.tracing import CallsTraced, share_of_traces, traced_by, traced_to
from support_engine import people, running_engine

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> Iterator[TracerProvider]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with traced_by(provider):
        yield provider


def by_name(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def names_above(span: ReadableSpan, spans: dict[str, ReadableSpan]) -> list[str]:
    """Names of the spans above one, from it upwards."""
    of_id = {one.context.span_id: one for one in spans.values() if one.context is not None}
    names = []
    while span.parent is not None and span.parent.span_id in of_id:
        span = of_id[span.parent.span_id]
        names.append(span.name)
    return names


async def test_a_command_is_one_trace_from_the_client_to_its_publication(
    tmp_path: Path,
    provider: TracerProvider,
    exporter: InMemorySpanExporter,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trace, "get_tracer", lambda _: provider.get_tracer("client"))
    options = ClientOptions(traces=True)
    async with (
        EmbeddedServer(tmp_path / "data") as server,
        AsyncClient(server.address, options=options) as one,
        AsyncClient(server.address, options=options) as other,
    ):
        for client in (one, other):
            await client.create_guest("Ada")
        room = await one.create_room("blitz@full", 2)
        await other.join_room(code=room.code)
        game_id = await one.start_game(room.room_id)
        async with one.play(game_id) as first, other.play(game_id) as second:
            game = first if first.decision else second
            decision = game.decision
            assert decision is not None
            exporter.clear()
            await game.submit(decision.legal_actions[0])

    spans = by_name(exporter)
    for part in ("admission", "rules", "store", "publish"):
        assert names_above(spans[part], spans) == ["command", "opolyx command"]
    assert len({span.context.trace_id for span in spans.values() if span.name in PARTS}) == 1
    assert (spans["command"].attributes or {})["game_id"] == game_id


PARTS = ("opolyx command", "command", "admission", "rules", "store", "publish")


async def test_a_call_continues_the_trace_that_its_metadata_names(
    tmp_path: Path, provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        await caller.engine.GetGame(
            pb.GetGameRequest(game_id=game_id),
            metadata=(*caller.metadata, ("traceparent", PARENT)),
        )
        with pytest.raises(grpc.aio.AioRpcError):
            await caller.engine.GetGame(pb.GetGameRequest(game_id="g_x"), metadata=caller.metadata)

    first, second = [one for one in exporter.get_finished_spans() if "GetGame" in one.name]
    assert first.context is not None
    assert trace.format_trace_id(first.context.trace_id) == PARENT[3:35]
    assert first.parent is not None
    assert trace.format_span_id(first.parent.span_id) == PARENT[36:52]
    assert (second.attributes or {})["rpc.grpc.status_code"] == 5
    assert second.parent is None


@pytest.mark.parametrize(
    "bad", ["", "x", PARENT + "0", PARENT.upper(), "00-" + "0" * 32 + PARENT[35:]]
)
async def test_a_place_that_is_none_is_ignored(
    provider: TracerProvider, exporter: InMemorySpanExporter, bad: str
) -> None:
    with tracing.served("/a.B/C", (("traceparent", bad),)):
        pass

    (span,) = exporter.get_finished_spans()
    assert span.parent is None


def test_lines_of_the_log_have_the_ids_of_their_span(
    provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    configure_logs(form="json", stream=stream)
    try:
        with tracing.span("work"):
            structlog.get_logger().info("own")
            logging.getLogger("foreign").warning("foreign")
        structlog.get_logger().info("outside")
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        logging.captureWarnings(False)
        structlog.reset_defaults()

    own, foreign, outside = [json.loads(line) for line in stream.getvalue().splitlines()]
    (span,) = exporter.get_finished_spans()
    assert span.context is not None
    assert own["trace_id"] == foreign["trace_id"] == trace.format_trace_id(span.context.trace_id)
    assert own["span_id"] == trace.format_span_id(span.context.span_id)
    assert "trace_id" not in outside


def test_a_caller_can_refuse_to_be_traced_but_not_have_more_traced() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler=share_of_traces(0.0))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with traced_by(provider), tracing.served("/a.B/C", (("traceparent", PARENT),)):
        pass
    assert exporter.get_finished_spans() == ()

    whole = TracerProvider(sampler=share_of_traces(1.0))
    whole.add_span_processor(SimpleSpanProcessor(other := InMemorySpanExporter()))
    with traced_by(whole), tracing.served("/a.B/C", (("traceparent", PARENT[:-2] + "00"),)):
        pass
    assert other.get_finished_spans() == ()


def test_nothing_is_made_where_nothing_is_traced() -> None:
    with tracing.span("a", x=1) as one, tracing.span("b") as other:
        assert one is None
        assert other is None
        assert tracing.span("c") is tracing.span("d")
    assert tracing.here() is tracing.parent_of(PARENT) is None
    assert (tracing.tracing(), tracing.traceparent()) == (False, "")
    with traced_to(None, "x", 1.0):
        assert not tracing.tracing()


def test_an_endpoint_without_the_extra_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.resources", None)

    with pytest.raises(ValueError, match="extra `otel`"), traced_to("http://x:1", "x", 1.0):
        pass


async def test_calls_between_services_carry_their_place(
    provider: TracerProvider,
) -> None:
    seen: list[Any] = []

    async def go_on(details: grpc.aio.ClientCallDetails, _: object) -> None:
        seen.append(details.metadata)

    details = grpc.aio.ClientCallDetails(
        "/a.B/C", None, grpc.aio.Metadata(("authorization", "Bearer x")), None, None
    )
    with tracing.span("work"):
        place = tracing.traceparent()
        await CallsTraced().intercept_unary_unary(go_on, details, None)
    await CallsTraced().intercept_unary_unary(go_on, details, None)

    assert seen[0] is not None
    assert list(seen[0]) == [("authorization", "Bearer x"), ("traceparent", place)]
    assert list(seen[1]) == [("authorization", "Bearer x")]
    await asyncio.sleep(0)
