"""Streams from other services: each end is StreamLost, but for a cancellation that is meant."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue

from opolyx_servicekit.streams import BackOff, StreamLost, heard, responses

METHOD = "/shop.v1.Shop/Watch"


async def gathered(items: AsyncGenerator[Any, None], into: list[Any]) -> None:
    """Put all items into a list, as far as they come."""
    async for item in items:
        into.append(item)


@asynccontextmanager
async def channel_to(*words: str, code: grpc.StatusCode | None = None) -> AsyncIterator[Any]:
    """A channel to a server that says the words, then hangs, or ends with the code."""

    async def watch(request: Any, context: Any) -> AsyncIterator[StringValue]:
        for word in words:
            yield StringValue(value=word)
        if code is None:
            await asyncio.Event().wait()
        elif code is not grpc.StatusCode.OK:
            await context.abort(code, "by hand")

    handler = grpc.unary_stream_rpc_method_handler(
        watch, StringValue.FromString, StringValue.SerializeToString
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("shop.v1.Shop", {"Watch": handler})]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    await server.stop(0)


def opened(channel: Any) -> AsyncGenerator[Any, None]:
    call = channel.unary_stream(
        METHOD,
        request_serializer=StringValue.SerializeToString,
        response_deserializer=StringValue.FromString,
    )
    return responses(call(StringValue()))


@pytest.mark.parametrize(
    "code", [grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED]
)
async def test_every_end_by_the_peer_is_a_lost_stream(code: grpc.StatusCode) -> None:
    said: list[StringValue] = []
    async with channel_to("a", "b", code=code) as channel:
        with pytest.raises(StreamLost):
            await gathered(opened(channel), said)

    assert [word.value for word in said] == ["a", "b"]


async def test_a_channel_that_closes_is_a_lost_stream_and_no_cancellation() -> None:
    """GRPC raises CancelledError here; uncaught, it would end the reading task for good."""
    async with channel_to() as channel:
        waiting = asyncio.ensure_future(anext(opened(channel)))
        await asyncio.sleep(0.05)
        await channel.close()

        with pytest.raises(StreamLost):
            await waiting


async def test_the_reader_s_own_cancellation_stays_one() -> None:
    async with channel_to() as channel:
        waiting = asyncio.ensure_future(anext(opened(channel)))
        await asyncio.sleep(0.05)
        waiting.cancel()

        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_a_stream_that_falls_silent_is_lost_and_closed() -> None:
    closed = asyncio.Event()

    async def silent() -> AsyncGenerator[int, None]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            closed.set()

    items: list[int] = []
    with pytest.raises(StreamLost, match="nothing for"):
        await gathered(heard(silent(), 0.02), items)

    assert (items, closed.is_set()) == ([1], True)


async def test_a_cancellation_is_not_taken_for_silence() -> None:
    async def silent() -> AsyncGenerator[int, None]:
        await asyncio.Event().wait()
        yield 1

    task = asyncio.create_task(gathered(heard(silent(), 5), []))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


def test_waits_double_up_to_the_cap_and_start_over_after_a_success() -> None:
    waits = BackOff(1, 3, jitter=lambda: 1.0)

    assert [waits.next_seconds() for _ in range(4)] == [1, 2, 3, 3]
    waits.reset()
    assert waits.next_seconds() == 1


def test_a_wait_is_half_of_what_it_could_be_at_least() -> None:
    assert BackOff(1, 3, jitter=lambda: 0.0).next_seconds() == 0.5


def test_many_failures_do_not_overflow() -> None:
    waits = BackOff(1, 3, jitter=lambda: 1.0)
    waits.failures = 10_000

    assert waits.next_seconds() == 3
