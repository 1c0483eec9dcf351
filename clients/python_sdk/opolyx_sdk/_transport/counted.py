"""A channel whose calls are counted: what generated stubs need of one, and nothing more."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import grpc

from opolyx_sdk.metrics import ClientMetrics, CountedCall

_Method = Callable[..., Any]


def counted(channel: grpc.aio.Channel, metrics: ClientMetrics | None) -> grpc.aio.Channel:
    """The channel for the stubs: itself, or one that counts."""
    return channel if metrics is None else cast(grpc.aio.Channel, CountedChannel(channel, metrics))


class CountedChannel:
    """Makes the methods of a channel, which then count their calls."""

    def __init__(self, channel: grpc.aio.Channel, metrics: ClientMetrics) -> None:
        self._channel = channel
        self._metrics = metrics

    def unary_unary(self, method: str, *args: Any, **options: Any) -> _Method:
        """A method with one request and one response."""
        inner = self._channel.unary_unary(method, *args, **options)

        async def call(request: Any, **how: Any) -> Any:
            call_counted = self._metrics.start("unary", method)
            call_counted.sent()
            try:
                response = await inner(request, **how)
            except BaseException as error:
                call_counted.end(_status_of(error))
                raise
            call_counted.received()
            call_counted.end("OK")
            return response

        return call

    def unary_stream(self, method: str, *args: Any, **options: Any) -> _Method:
        """A method that answers with a stream."""
        inner = self._channel.unary_stream(method, *args, **options)

        def call(request: Any, **how: Any) -> "_CountedStream":
            call_counted = self._metrics.start("server_stream", method)
            call_counted.sent()
            return _CountedStream(inner(request, **how), call_counted)

        return call

    def stream_unary(self, method: str, *args: Any, **options: Any) -> _Method:
        """A method that takes a stream; the contract has none that this client calls."""
        return self._channel.stream_unary(method, *args, **options)

    def stream_stream(self, method: str, *args: Any, **options: Any) -> _Method:
        """A method with a stream in each direction."""
        inner = self._channel.stream_stream(method, *args, **options)

        def call(**how: Any) -> "_CountedStream":
            return _CountedStream(inner(**how), self._metrics.start("bidi_stream", method))

        return call


class _CountedStream:
    """A stream under way."""

    def __init__(self, call: Any, counted: CountedCall) -> None:
        self._call = call
        self._counted = counted

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            async for response in self._call:
                self._counted.received()
                yield response
        except BaseException as error:
            self._counted.end(_status_of(error))
            raise
        self._counted.end("OK")

    async def write(self, request: Any) -> None:
        await self._call.write(request)
        self._counted.sent()

    def cancel(self) -> bool:
        self._counted.end("CANCELLED")
        cancelled: bool = self._call.cancel()
        return cancelled


def _status_of(error: BaseException) -> str:
    if isinstance(error, grpc.aio.AioRpcError):
        return error.code().name
    if isinstance(error, asyncio.CancelledError | GeneratorExit):
        return "CANCELLED"
    return "UNKNOWN"
