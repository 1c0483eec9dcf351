"""The interceptor over a real loopback channel: all four kinds of RPC, both styles of handler."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
import structlog
from google.protobuf.message import Message
from google.protobuf.wrappers_pb2 import StringValue
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from opolyx_servicekit.access import PUBLIC, Principal, bad_token, current_principal
from opolyx_servicekit.errors import NotFound, Unauthenticated
from opolyx_servicekit.interceptor import domain_of
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.settings import ServiceSettings

SERVICE = "shop.v1.Shop"
GUEST = (("authorization", "Bearer guest"),)


class NamedVerifier:
    """A token is its role; `bad` isn't one."""

    def verify(self, token: str) -> Principal:
        if token == "bad":
            raise bad_token("invalid", "bad token")
        return Principal(subject="p_1", role=token)


class Shop:
    """Handlers of each kind and style; the request's text says what happens."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.cleaned = asyncio.Event()
        self.entered = asyncio.Event()

    async def act(self, text: str, context: Any) -> str:
        match text:
            case "missing":
                raise NotFound("NO_SHELF", "no shelf", metadata={"shelf": 7})
            case "crash":
                raise ZeroDivisionError("secret detail")
            case "abort":
                await context.abort(grpc.StatusCode.DATA_LOSS, "aborted by hand")
            case "stray":
                raise asyncio.CancelledError
            case "wait":
                self.entered.set()
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    self.cancelled.set()
                    raise
            case "who":
                try:
                    return current_principal().subject
                except Unauthenticated:
                    return "nobody"
            case "log":
                bound = structlog.contextvars.get_contextvars()
                return f"{bound['rpc']} {bound['request_id']} {bound.get('subject')}"
        return text.upper()

    async def unary(self, request: StringValue, context: Any) -> StringValue:
        return StringValue(value=await self.act(request.value, context))

    async def public(self, request: StringValue, context: Any) -> StringValue:
        return await self.unary(request, context)

    async def coded(self, request: StringValue, context: Any) -> StringValue:
        context.set_code(grpc.StatusCode.OUT_OF_RANGE)
        return StringValue()

    async def generate(self, request: StringValue, context: Any) -> AsyncIterator[StringValue]:
        try:
            yield StringValue(value="first")
            yield StringValue(value=await self.act(request.value, context))
        finally:
            self.cleaned.set()

    async def write(self, request: StringValue, context: Any) -> None:
        await context.write(StringValue(value="first"))
        await context.write(StringValue(value=await self.act(request.value, context)))

    async def collect(self, requests: AsyncIterator[StringValue], context: Any) -> StringValue:
        texts = [await self.act(request.value, context) async for request in requests]
        return StringValue(value=" ".join(texts))

    async def chat(
        self, requests: AsyncIterator[StringValue], context: Any
    ) -> AsyncIterator[StringValue]:
        async for request in requests:
            yield StringValue(value=await self.act(request.value, context))

    async def chat_by_hand(self, requests: Any, context: Any) -> None:
        while (request := await context.read()) is not grpc.aio.EOF:
            await context.write(StringValue(value=await self.act(request.value, context)))

    def add_to(self, server: grpc.aio.Server) -> None:
        parts: dict[str, Any] = {
            "request_deserializer": StringValue.FromString,
            "response_serializer": StringValue.SerializeToString,
        }
        handlers = {
            "Unary": grpc.unary_unary_rpc_method_handler(self.unary, **parts),
            "Public": grpc.unary_unary_rpc_method_handler(self.public, **parts),
            "Coded": grpc.unary_unary_rpc_method_handler(self.coded, **parts),
            "Unlisted": grpc.unary_unary_rpc_method_handler(self.unary, **parts),
            "Generate": grpc.unary_stream_rpc_method_handler(self.generate, **parts),
            "Write": grpc.unary_stream_rpc_method_handler(self.write, **parts),
            "Collect": grpc.stream_unary_rpc_method_handler(self.collect, **parts),
            "Chat": grpc.stream_stream_rpc_method_handler(self.chat, **parts),
            "ChatByHand": grpc.stream_stream_rpc_method_handler(self.chat_by_hand, **parts),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))


ROLES = {
    f"/{SERVICE}/{name}": frozenset({"guest"})
    for name in ("Unary", "Coded", "Generate", "Write", "Collect", "Chat", "ChatByHand")
} | {f"/{SERVICE}/Public": PUBLIC}


def encoded(request: str | bytes) -> bytes:
    """A request of that text, or the bytes as they are."""
    if isinstance(request, bytes):
        return request
    return StringValue(value=request).SerializeToString()


class Caller:
    """Calls the shop; answers are texts."""

    def __init__(self, channel: Any) -> None:
        self.channel = channel
        self.last: Any = None  # the call made last

    async def call(self, method: str, *requests: str | bytes, metadata: Any = GUEST) -> list[str]:
        """All answers to all requests, whatever the kind of the method."""
        kind = {
            "Generate": self.channel.unary_stream,
            "Write": self.channel.unary_stream,
            "Collect": self.channel.stream_unary,
            "Chat": self.channel.stream_stream,
            "ChatByHand": self.channel.stream_stream,
        }.get(method, self.channel.unary_unary)
        start = kind(f"/{SERVICE}/{method}", encoded, StringValue.FromString)
        streaming = method in {"Collect", "Chat", "ChatByHand"}
        call = start(iter(requests) if streaming else requests[0], metadata=metadata, timeout=10)
        self.last = call
        if hasattr(call, "__aiter__"):
            return [answer.value async for answer in call]
        return [(await call).value]

    async def failure(
        self, method: str, *requests: str | bytes, metadata: Any = GUEST
    ) -> grpc.aio.AioRpcError:
        """The error that a call ends with."""
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.call(method, *requests, metadata=metadata)
        return caught.value


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def metrics() -> RpcMetrics:
    return RpcMetrics(CollectorRegistry())


@pytest.fixture
async def caller(shop: Shop, metrics: RpcMetrics) -> AsyncIterator[Caller]:
    server = ServiceServer(
        ServiceSettings(grace_seconds=0),
        add_services=shop.add_to,
        service_names=[SERVICE],
        roles=ROLES,
        verifier=NamedVerifier(),
        metrics=metrics,
    )
    async with (
        server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.bound_port}") as channel,
    ):
        yield Caller(channel)


def info(error: grpc.aio.AioRpcError, kind: type[Message] = error_details_pb2.ErrorInfo) -> Any:
    """A detail of the rich status."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    assert status is not None
    message = kind()
    assert any(detail.Unpack(message) for detail in status.details)
    return message


def counted(metrics: RpcMetrics, name: str, method: str, **labels: str) -> float:
    """The sum of the samples of one method."""
    return sum(
        sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == name
        and sample.labels.get("grpc_method") == method
        and labels.items() <= sample.labels.items()
    )


KINDS = ["Unary", "Generate", "Write", "Collect", "Chat", "ChatByHand"]


async def test_every_kind_and_style_answers(caller: Caller) -> None:
    assert await caller.call("Unary", "a") == ["A"]
    assert await caller.call("Generate", "a") == ["first", "A"]
    assert await caller.call("Write", "a") == ["first", "A"]
    assert await caller.call("Collect", "a", "b") == ["A B"]
    assert await caller.call("Chat", "a", "b") == ["A", "B"]
    assert await caller.call("ChatByHand", "a", "b") == ["A", "B"]
    assert await caller.call("Collect") == [""]


@pytest.mark.parametrize("method", KINDS)
async def test_a_service_error_becomes_a_rich_status(
    caller: Caller, metrics: RpcMetrics, method: str
) -> None:
    error = await caller.failure(method, "missing")

    assert (error.code(), error.details()) == (grpc.StatusCode.NOT_FOUND, "no shelf")
    found = info(error)
    assert (found.reason, found.domain, found.metadata["shelf"]) == ("NO_SHELF", "shop", "7")
    await until(
        lambda: counted(metrics, "grpc_server_handled_total", method, grpc_code="NotFound") == 1
    )


@pytest.mark.parametrize("method", KINDS)
async def test_a_bug_becomes_internal_and_tells_nothing(
    caller: Caller, metrics: RpcMetrics, method: str
) -> None:
    with capture_logs() as lines:
        error = await caller.failure(method, "crash")

    assert (error.code(), error.details()) == (grpc.StatusCode.INTERNAL, "internal error")
    assert [line["event"] for line in lines] == ["rpc_crashed"]
    await until(
        lambda: counted(metrics, "grpc_server_handled_total", method, grpc_code="Internal") == 1
    )
    assert (await caller.call("Unary", "a")) == ["A"]


@pytest.mark.parametrize("method", KINDS)
async def test_an_abort_by_hand_is_left_alone(
    caller: Caller, metrics: RpcMetrics, method: str
) -> None:
    error = await caller.failure(method, "abort")

    assert (error.code(), error.details()) == (grpc.StatusCode.DATA_LOSS, "aborted by hand")
    await until(
        lambda: counted(metrics, "grpc_server_handled_total", method, grpc_code="DataLoss") == 1
    )


@pytest.mark.parametrize("method", KINDS)
async def test_a_cancellation_that_nobody_asked_for_does_not_leave_the_caller_hanging(
    caller: Caller, method: str
) -> None:
    with capture_logs() as lines:
        error = await caller.failure(method, "stray")

    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert info(error).reason == "CALL_LOST"
    assert [line["event"] for line in lines] == ["rpc_lost"]


@pytest.mark.parametrize("method", KINDS)
async def test_a_caller_s_cancellation_reaches_the_handler(
    caller: Caller, shop: Shop, metrics: RpcMetrics, method: str
) -> None:
    call = asyncio.create_task(caller.call(method, "wait"))
    await shop.entered.wait()
    caller.last.cancel()  # cancelling the task alone is lost if it still waits for the send
    await asyncio.gather(call, return_exceptions=True)

    await asyncio.wait_for(shop.cancelled.wait(), 10)
    if method == "Generate":
        await asyncio.wait_for(shop.cleaned.wait(), 10)
    await until(
        lambda: counted(metrics, "grpc_server_handled_total", method, grpc_code="Canceled") == 1
    )


async def test_a_code_set_by_hand_is_counted(caller: Caller, metrics: RpcMetrics) -> None:
    error = await caller.failure("Coded", "x")

    assert error.code() is grpc.StatusCode.OUT_OF_RANGE
    await until(
        lambda: counted(metrics, "grpc_server_handled_total", "Coded", grpc_code="OutOfRange") == 1
    )
    assert counted(metrics, "grpc_server_msg_sent_total", "Coded") == 0


@pytest.mark.parametrize("method", KINDS)
@pytest.mark.parametrize(
    ("metadata", "code", "reason"),
    [
        ((), grpc.StatusCode.UNAUTHENTICATED, "TOKEN"),
        ((("authorization", "Bearer bad"),), grpc.StatusCode.UNAUTHENTICATED, "TOKEN"),
        ((("authorization", "Bearer clerk"),), grpc.StatusCode.PERMISSION_DENIED, "ROLE"),
    ],
    ids=["no token", "bad token", "wrong role"],
)
async def test_callers_without_the_role_are_refused(
    caller: Caller, method: str, metadata: Any, code: grpc.StatusCode, reason: str
) -> None:
    # A message sent after the refusal came would make gRPC's client report its own INTERNAL.
    requests = [] if method in {"Collect", "Chat", "ChatByHand"} else ["a"]
    error = await caller.failure(method, *requests, metadata=metadata)

    assert error.code() is code
    assert (info(error).reason, info(error).domain) == (reason, "opolyx.identity")


async def test_a_method_that_is_not_in_the_table_is_denied(caller: Caller) -> None:
    assert (await caller.failure("Unlisted", "a")).code() is grpc.StatusCode.PERMISSION_DENIED


async def test_an_unknown_method_is_unimplemented_and_makes_no_label(
    caller: Caller, metrics: RpcMetrics
) -> None:
    assert (await caller.failure("Invented", "a")).code() is grpc.StatusCode.UNIMPLEMENTED
    assert counted(metrics, "grpc_server_started_total", "Invented") == 0


async def test_the_handler_knows_its_caller(caller: Caller) -> None:
    assert await caller.call("Unary", "who") == ["p_1"]
    assert await caller.call("Public", "who") == ["p_1"]
    assert await caller.call("Public", "who", metadata=()) == ["nobody"]
    assert await caller.call("Public", "who", metadata=(("authorization", "Bearer bad"),)) == [
        "nobody"
    ]
    with pytest.raises(Unauthenticated):
        current_principal()


async def test_log_lines_of_a_call_are_bound_to_it(caller: Caller) -> None:
    named = (*GUEST, ("x-request-id", "r-1"))
    hostile = (*GUEST, ("x-request-id", "r" * 200))

    (bound,) = await caller.call("Unary", "log", metadata=named)
    (renamed,) = await caller.call("Unary", "log", metadata=hostile)

    assert bound == f"/{SERVICE}/Unary r-1 p_1"
    assert len(renamed.split()[1]) == 16


@pytest.mark.parametrize("method", KINDS)
async def test_malformed_bytes_are_the_caller_s_mistake(caller: Caller, method: str) -> None:
    error = await caller.failure(method, b"\xff\xff\xff")

    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert info(error).reason == "INVALID_FIELD"


async def test_messages_and_seconds_are_counted_as_go_grpc_does(
    caller: Caller, metrics: RpcMetrics
) -> None:
    await caller.call("Unary", "a")
    await caller.call("Chat", "a", "b", "c")
    await caller.call("Write", "a")
    await caller.call("Collect", "a", "b")
    expected = {
        "Unary": ("unary", 1, 1),
        "Chat": ("bidi_stream", 3, 3),
        "Write": ("server_stream", 1, 2),
        "Collect": ("client_stream", 2, 1),
    }

    finished = "grpc_server_handled_total"
    await until(lambda: all(counted(metrics, finished, method) for method in expected))
    for method, (kind, received, sent) in expected.items():
        labels = {"grpc_type": kind, "grpc_service": SERVICE}
        assert counted(metrics, "grpc_server_started_total", method, **labels) == 1
        assert counted(metrics, "grpc_server_msg_received_total", method, **labels) == received
        assert counted(metrics, "grpc_server_msg_sent_total", method, **labels) == sent
        assert counted(metrics, "grpc_server_handling_seconds_count", method, **labels) == 1
        assert counted(metrics, "grpc_server_handled_total", method, grpc_code="OK", **labels) == 1


@pytest.mark.parametrize(
    ("method", "domain"),
    [
        ("/opolyx.shop.v1.Shop/Buy", "opolyx.shop"),
        ("/shop.v1beta1.Shop/Buy", "shop"),
        ("/shop.Shop/Buy", "shop"),
        ("/Shop/Buy", ""),
    ],
)
def test_the_domain_of_a_method(method: str, domain: str) -> None:
    assert domain_of(method) == domain


async def until(holds: Callable[[], bool]) -> None:
    """Let the loop turn until something holds."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - nothing tells us
            await asyncio.sleep(0.001)


async def test_what_operators_do_is_logged_with_who_and_what(caller: Caller) -> None:
    operator = (("authorization", "Bearer operator"),)
    with capture_logs() as lines:
        await caller.call("Public", "what for", metadata=operator)
        await caller.call("Public", "what for", metadata=GUEST)
        await caller.failure("Public", "missing", metadata=operator)

    told = [line for line in lines if line["event"] == "operator_called"]
    assert ["OK", "NOT_FOUND"] == [line["code"] for line in told]
    assert 'value: "what for"' == told[0]["request"]


@pytest.fixture
async def strict(shop: Shop) -> AsyncIterator[Caller]:
    """Of a server that waits for hardly anything, and lets an account call twice."""
    settings = ServiceSettings(
        grace_seconds=0, request_seconds=0.05, calls_per_second=1, call_burst=2
    )
    server = ServiceServer(
        settings,
        add_services=shop.add_to,
        service_names=[SERVICE],
        roles=ROLES,
        verifier=NamedVerifier(),
        counted_elsewhere=[f"/{SERVICE}/Chat"],
    )
    async with server, grpc.aio.insecure_channel(f"127.0.0.1:{server.bound_port}") as channel:
        yield Caller(channel)


def opened(caller: Caller, metadata: Any) -> Any:
    """A call of a method with one request, which doesn't come."""
    start = caller.channel.stream_unary(f"/{SERVICE}/Unary", encoded, StringValue.FromString)
    return start(metadata=metadata, timeout=10)


async def test_a_request_that_does_not_come_is_not_waited_for(strict: Caller) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await opened(strict, GUEST)

    assert grpc.StatusCode.DEADLINE_EXCEEDED is caught.value.code()
    assert "request_seconds" == info(caught.value).metadata["limit"]


async def test_whoever_has_no_token_is_not_waited_for_at_all(caller: Caller) -> None:
    """This server would wait for ten seconds, and the caller ends after one."""
    call = caller.channel.stream_unary(f"/{SERVICE}/Unary", encoded, StringValue.FromString)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(timeout=5)

    assert grpc.StatusCode.UNAUTHENTICATED is caught.value.code()


async def test_a_call_that_ends_without_its_request_is_the_callers_mistake(
    caller: Caller,
) -> None:
    start = caller.channel.stream_unary(f"/{SERVICE}/Unary", encoded, StringValue.FromString)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await start(iter(()), metadata=GUEST, timeout=10)

    assert grpc.StatusCode.INVALID_ARGUMENT is caught.value.code()


async def test_calls_of_an_account_have_a_budget_and_streams_of_their_own_none(
    strict: Caller,
) -> None:
    for _ in range(2):
        await strict.call("Unary", "a")
    error = await strict.failure("Unary", "a")
    assert grpc.StatusCode.RESOURCE_EXHAUSTED is error.code()
    assert {"limit": "calls_per_second", "value": "1"} == dict(info(error).metadata)
    retry = info(error, error_details_pb2.RetryInfo).retry_delay
    assert 0 < retry.ToMilliseconds() <= 1_001

    assert ["A"] == await strict.call("Chat", "a")
