"""The one interceptor of every server: access, errors, log context and metrics.

Each handler is wrapped once, in a coroutine that serves both styles of handler (a generator, or
one that calls `context.write`). Requests are read and parsed here rather than by gRPC, so that a
caller is admitted before its bytes are waited for, nobody waits for them for ever, and malformed
ones are refused as the caller's own mistake. So every handler is one of streams to gRPC.
"""

import asyncio
import inspect
import logging
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import grpc
import structlog
from google.protobuf import text_format
from google.protobuf.message import Message
from google.rpc import status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx_servicekit import tracing
from opolyx_servicekit.access import AccessTable, Principal, is_infrastructure, set_principal
from opolyx_servicekit.call_budget import CallBudget
from opolyx_servicekit.errors import (
    InvalidArgument,
    RequestLate,
    ServiceError,
    Unauthenticated,
    Unavailable,
)
from opolyx_servicekit.refused_calls import RefusedCalls
from opolyx_servicekit.rpc_metrics import MethodMetrics, RpcMetrics
from opolyx_servicekit.streams import was_cancelled

_log = structlog.get_logger(__name__)
_root_log: Final = logging.getLogger()

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_LONGEST_GAME_ID: Final = 64
_VERSION: Final = re.compile(r"\.v\d+\w*$")
_OPERATOR: Final = "operator"
_LONGEST_REQUEST: Final = 500
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}

# Messages and handlers are whatever generated code makes of them: Any is the honest type here.
_Serve = Callable[[Any, "RpcContext"], Awaitable[Any]]
_Parse = Callable[[bytes], Any]


class ServerInterceptor(grpc.aio.ServerInterceptor):
    """Admits callers, turns errors into statuses, binds log context and counts."""

    def __init__(
        self,
        access: AccessTable,
        metrics: RpcMetrics,
        *,
        budget: CallBudget | None = None,
        request_seconds: float = 10.0,
        admit_peer: Callable[[Principal, Any], None] | None = None,
        refused: RefusedCalls | None = None,
    ) -> None:
        """Guard a server.

        Args:
            access: who may call what.
            metrics: where calls are counted.
            budget: how many calls an account may make; any number if absent.
            request_seconds: how long the one request of a call may take to come.
            admit_peer: raises if the caller's connection, told by gRPC's context, is none for it.
            refused: told of calls that are refused; nobody if absent.
        """
        self._rules = _Rules(
            access,
            budget or CallBudget(0, 0),
            request_seconds,
            admit_peer,
            refused or RefusedCalls(0, 1),
        )
        self._metrics = metrics
        self._wrapped: dict[str, tuple[Any, Any]] = {}
        self._unknown: Any = grpc.stream_unary_rpc_method_handler(self._refuse_unknown)

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """The method's handler, wrapped; one that says so if there is no such method."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return self._unknown
        method = handler_call_details.method
        known = self._wrapped.get(method)
        if known is None or known[0] is not handler:
            known = handler, self._wrap(method, handler)
            self._wrapped[method] = known
        return known[1]

    async def _refuse_unknown(self, _: Any, context: Any) -> None:
        code = grpc.StatusCode.UNIMPLEMENTED
        await self._rules.refused.leave_unanswered(context)
        self._rules.refused.note(context, code)
        await context.abort(code, "there is no such method")

    def _wrap(self, method: str, handler: Any) -> Any:
        metrics = self._metrics.of_method(
            method,
            request_streaming=handler.request_streaming,
            response_streaming=handler.response_streaming,
        )
        guard = _Guard(method, self._rules, metrics)
        parse = handler.request_deserializer or bytes
        serializer = handler.response_serializer
        if handler.response_streaming:
            inner = handler.stream_stream if handler.request_streaming else handler.unary_stream
            serve = _streaming_responses(inner)
        else:
            serve = handler.stream_unary if handler.request_streaming else handler.unary_unary

        async def guarded(_: Any, context: Any) -> Any:
            await self._rules.refused.leave_unanswered(context)
            with guard.traced(context):
                return await guard.run(
                    serve,
                    context,
                    parse,
                    handler.request_streaming,
                    handler.response_streaming,
                )

        make = (
            grpc.stream_stream_rpc_method_handler
            if handler.response_streaming
            else grpc.stream_unary_rpc_method_handler
        )
        return make(guarded, request_deserializer=None, response_serializer=serializer)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What every call must keep to."""

    access: AccessTable
    budget: CallBudget
    request_seconds: float
    admit_peer: Callable[[Principal, Any], None] | None
    refused: RefusedCalls


class _Guard:
    """Runs the calls of one method."""

    def __init__(self, method: str, rules: _Rules, metrics: MethodMetrics) -> None:
        self._method = method
        self._domain = domain_of(method)
        self._rules = rules
        self._metrics = metrics
        self._quiet = is_infrastructure(method)
        self._unauthenticated: dict[tuple[str, str], status_pb2.Status] = {}

    def traced(self, context: Any) -> AbstractContextManager[Any]:
        """The span of a call; health and reflection have none."""
        if self._quiet or not tracing.tracing():
            return nullcontext()
        return tracing.served(self._method, context.invocation_metadata() or ())

    async def run(
        self,
        serve: _Serve,
        context: Any,
        parse: _Parse,
        request_streaming: bool,
        response_streaming: bool,
    ) -> Any:
        started = time.perf_counter()
        self._metrics.started.inc()
        code = grpc.StatusCode.OK
        principal: Principal | None = None
        message: Any = None
        counted = RpcContext(context, parse, self._metrics)
        try:
            principal = self._admit(context)
            message = _Requests(counted) if request_streaming else await self._only(counted)
            response = await serve(message, counted)
            code = _code_of(context, grpc.StatusCode.OK)
            if not response_streaming and code is grpc.StatusCode.OK:
                self._metrics.sent.inc()
            return response
        except asyncio.CancelledError:
            code = _code_of_cancelled(context)
            if was_cancelled():
                if not counted.heard:
                    self._rules.refused.note_silent(context)
                raise
            # A handler let another task's cancellation escape: gRPC would never answer.
            _log.warning("rpc_lost", method=self._method)
            code = grpc.StatusCode.UNAVAILABLE
            lost = Unavailable("CALL_LOST", "the call was lost, it may be repeated")
            await _abort(context, lost.to_status(self._domain))
        except grpc.aio.AbortError:
            code = _code_of(context, grpc.StatusCode.UNKNOWN)
            self._rules.refused.note(context, code)
            raise
        except grpc.aio.BaseError:  # the peer is gone, or the server stopped
            code = grpc.StatusCode.CANCELLED
            raise
        except ServiceError as error:
            code = error.code
            self._rules.refused.note(context, code)
            if not self._quiet and _root_log.isEnabledFor(logging.DEBUG):
                _log.debug("rpc_refused", code=code.name, reason=error.reason, error=str(error))
            await _abort(context, self._status_of(error))
        except Exception:
            code = grpc.StatusCode.INTERNAL
            _log.exception("rpc_crashed", method=self._method)
            await context.abort(code, "internal error")
        finally:
            self._metrics.handled(code, time.perf_counter() - started)
            if principal is not None and principal.role == _OPERATOR:
                _log.info("operator_called", code=code.name, request=_in_short(message))
            tracing.ended(code)

    def _status_of(self, error: ServiceError) -> status_pb2.Status:
        """Its wire form; those for bad tokens, of which there are few, are made once."""
        if not isinstance(error, Unauthenticated):
            return error.to_status(self._domain)
        key = error.reason, error.message
        known = self._unauthenticated.get(key)
        if known is None:
            known = self._unauthenticated[key] = error.to_status(self._domain)
        return known

    def _admit(self, context: Any) -> Principal | None:
        metadata = context.invocation_metadata() or ()
        structlog.contextvars.bind_contextvars(rpc=self._method, request_id=_request_id(metadata))
        principal = self._rules.access.admit(self._method, metadata)
        if principal is not None:
            structlog.contextvars.bind_contextvars(subject=principal.subject, role=principal.role)
            if self._rules.admit_peer is not None:
                self._rules.admit_peer(principal, context)
        self._rules.budget.take(self._method, principal)
        set_principal(principal)
        return principal

    async def _only(self, counted: "RpcContext") -> Any:
        """The request of a method that has one."""
        try:
            async with asyncio.timeout(self._rules.request_seconds):
                message = await counted.read()
        except TimeoutError:
            raise RequestLate(
                "LIMIT",
                "the request did not come in time",
                metadata={"limit": "request_seconds", "value": self._rules.request_seconds},
            ) from None
        if message is grpc.aio.EOF:
            raise InvalidArgument("INVALID_FIELD", "there is no request")
        if game_id := getattr(message, "game_id", ""):  # the call's log lines say which game
            structlog.contextvars.bind_contextvars(game_id=game_id[:_LONGEST_GAME_ID])
        return message


class RpcContext:
    """The servicer context that handlers get: gRPC's own, with messages parsed and counted."""

    __slots__ = ("_context", "_metrics", "_parse", "heard")

    def __init__(self, context: Any, parse: _Parse, metrics: MethodMetrics) -> None:
        """Wrap `context`."""
        self.heard = False
        """Whether the caller has said anything."""
        self._context = context
        self._parse = parse
        self._metrics = metrics

    def __getattr__(self, name: str) -> Any:
        """Whatever else gRPC's context has."""
        return getattr(self._context, name)

    def write(self, message: Any) -> Awaitable[None]:
        """Send `message`, counted."""
        self._metrics.sent.inc()
        sending: Awaitable[None] = self._context.write(message)
        return sending

    async def read(self) -> Any:
        """The next request, parsed and counted, or `grpc.aio.EOF`."""
        raw = await self._context.read()
        return raw if raw is grpc.aio.EOF else self.parsed(raw)

    def parsed(self, raw: bytes) -> Any:
        """The message in `raw`; raises InvalidArgument."""
        self.heard = True
        self._metrics.received.inc()
        try:
            return self._parse(raw)
        except Exception as error:
            raise InvalidArgument(
                "INVALID_FIELD", "request is not a message of this method"
            ) from error


class _Requests:
    """The requests of a stream: reading them costs less than gRPC's own iterator, wrapped."""

    __slots__ = ("_context",)

    def __init__(self, context: RpcContext) -> None:
        self._context = context

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        request = await self._context.read()
        if request is grpc.aio.EOF:
            raise StopAsyncIteration
        return request


def _in_short(message: Any) -> str:
    """What an operator asked for, for the log that says who did what."""
    if not isinstance(message, Message):
        return ""
    return text_format.MessageToString(message, as_one_line=True)[:_LONGEST_REQUEST]


def domain_of(method: str) -> str:
    """The domain of a method's errors: `/a.b.v1.Service/Method` has `a.b`."""
    package = method.lstrip("/").split("/")[0].rpartition(".")[0]
    return _VERSION.sub("", package)


def _streaming_responses(inner: Any) -> _Serve:
    """`inner` as a coroutine that writes, whichever of the two styles it has."""
    if not inspect.isasyncgenfunction(inner):
        serve: _Serve = inner
        return serve

    async def write_all(request: Any, context: RpcContext) -> None:
        responses = inner(request, context)
        try:
            async for response in responses:
                await context.write(response)
        finally:
            await responses.aclose()  # runs the generator's cleanup now, not when it is collected

    return write_all


async def _abort(context: Any, status: status_pb2.Status) -> None:
    rich = rpc_status.to_status(status)
    await context.abort(rich.code, rich.details, rich.trailing_metadata)


def _code_of(context: Any, default: grpc.StatusCode) -> grpc.StatusCode:
    code = context.code()
    if code is None:
        return default
    return code if isinstance(code, grpc.StatusCode) else _CODES.get(code, default)


def _code_of_cancelled(context: Any) -> grpc.StatusCode:
    """Whether the caller went away or its time was over: gRPC cancels the handler for both."""
    left = context.time_remaining()
    out_of_time = left is not None and left <= 0
    return grpc.StatusCode.DEADLINE_EXCEEDED if out_of_time else grpc.StatusCode.CANCELLED


def _request_id(metadata: Any) -> str:
    """The caller's `x-request-id` if it is harmless, else a new one."""
    for key, value in metadata:
        if key == "x-request-id" and isinstance(value, str) and _REQUEST_ID.fullmatch(value):
            return value
    return os.urandom(8).hex()
