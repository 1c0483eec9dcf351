"""The one interceptor of every server: access, errors, log context and metrics.

Each handler is wrapped once, in a coroutine that serves both styles of handler (a generator, or
one that calls `context.write`). Requests are parsed here rather than by gRPC, so that a caller is
admitted before its bytes are looked at, and malformed ones are refused as its own mistake.
"""

import asyncio
import inspect
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import grpc
import structlog
from google.rpc import status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx_servicekit.access import AccessTable, is_infrastructure, set_principal
from opolyx_servicekit.errors import InvalidArgument, ServiceError, Unavailable
from opolyx_servicekit.rpc_metrics import MethodMetrics, RpcMetrics
from opolyx_servicekit.streams import was_cancelled

_log = structlog.get_logger(__name__)

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_VERSION: Final = re.compile(r"\.v\d+\w*$")
_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}

# Messages and handlers are whatever generated code makes of them: Any is the honest type here.
_Serve = Callable[[Any, "RpcContext"], Awaitable[Any]]
_Parse = Callable[[bytes], Any]


class ServerInterceptor(grpc.aio.ServerInterceptor):
    """Admits callers, turns errors into statuses, binds log context and counts."""

    def __init__(self, access: AccessTable, metrics: RpcMetrics) -> None:
        """Guard a server with `access` and count in `metrics`."""
        self._access = access
        self._metrics = metrics
        self._wrapped: dict[str, tuple[Any, Any]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """The method's handler, wrapped; None if there is no such method (UNIMPLEMENTED)."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        method = handler_call_details.method
        known = self._wrapped.get(method)
        if known is None or known[0] is not handler:
            known = handler, self._wrap(method, handler)
            self._wrapped[method] = known
        return known[1]

    def _wrap(self, method: str, handler: Any) -> Any:
        metrics = self._metrics.of_method(
            method,
            request_streaming=handler.request_streaming,
            response_streaming=handler.response_streaming,
        )
        guard = _Guard(method, self._access, metrics)
        parse = handler.request_deserializer or bytes
        serializer = handler.response_serializer
        if handler.response_streaming:
            inner = handler.stream_stream if handler.request_streaming else handler.unary_stream
            serve = _streaming_responses(inner)
        else:
            serve = handler.stream_unary if handler.request_streaming else handler.unary_unary

        async def guarded(request: Any, context: Any) -> Any:
            return await guard.run(
                serve,
                request,
                context,
                parse,
                handler.request_streaming,
                handler.response_streaming,
            )

        make = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, False): grpc.stream_unary_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }[handler.request_streaming, handler.response_streaming]
        return make(guarded, request_deserializer=None, response_serializer=serializer)


class _Guard:
    """Runs the calls of one method."""

    def __init__(self, method: str, access: AccessTable, metrics: MethodMetrics) -> None:
        self._method = method
        self._domain = domain_of(method)
        self._access = access
        self._metrics = metrics
        self._quiet = is_infrastructure(method)

    async def run(
        self,
        serve: _Serve,
        request: Any,
        context: Any,
        parse: _Parse,
        request_streaming: bool,
        response_streaming: bool,
    ) -> Any:
        started = time.perf_counter()
        self._metrics.started.inc()
        code = grpc.StatusCode.OK
        try:
            self._admit(context)
            counted = RpcContext(context, parse, self._metrics)
            if request_streaming:
                message: Any = _Requests(counted)
            else:
                message = counted.parsed(request)
            response = await serve(message, counted)
            code = _code_of(context, grpc.StatusCode.OK)
            if not response_streaming and code is grpc.StatusCode.OK:
                self._metrics.sent.inc()
            return response
        except asyncio.CancelledError:
            code = grpc.StatusCode.CANCELLED
            if was_cancelled():
                raise
            # A handler let another task's cancellation escape: gRPC would never answer.
            _log.warning("rpc_lost", method=self._method)
            code = grpc.StatusCode.UNAVAILABLE
            lost = Unavailable("CALL_LOST", "the call was lost, it may be repeated")
            await _abort(context, lost.to_status(self._domain))
        except grpc.aio.AbortError:
            code = _code_of(context, grpc.StatusCode.UNKNOWN)
            raise
        except grpc.aio.BaseError:  # the peer is gone, or the server stopped
            code = grpc.StatusCode.CANCELLED
            raise
        except ServiceError as error:
            code = error.code
            if not self._quiet:
                _log.debug("rpc_refused", code=code.name, reason=error.reason, error=str(error))
            await _abort(context, error.to_status(self._domain))
        except Exception:
            code = grpc.StatusCode.INTERNAL
            _log.exception("rpc_crashed", method=self._method)
            await context.abort(code, "internal error")
        finally:
            self._metrics.handled(code, time.perf_counter() - started)

    def _admit(self, context: Any) -> None:
        metadata = context.invocation_metadata() or ()
        structlog.contextvars.bind_contextvars(rpc=self._method, request_id=_request_id(metadata))
        principal = self._access.admit(self._method, metadata)
        set_principal(principal)
        if principal is not None:
            structlog.contextvars.bind_contextvars(subject=principal.subject, role=principal.role)


class RpcContext:
    """The servicer context that handlers get: gRPC's own, with messages parsed and counted."""

    __slots__ = ("_context", "_metrics", "_parse")

    def __init__(self, context: Any, parse: _Parse, metrics: MethodMetrics) -> None:
        """Wrap `context`."""
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


def _request_id(metadata: Any) -> str:
    """The caller's `x-request-id` if it is harmless, else a new one."""
    for key, value in metadata:
        if key == "x-request-id" and isinstance(value, str) and _REQUEST_ID.fullmatch(value):
            return value
    return os.urandom(8).hex()
