"""Servers that are broken, hostile or newer than the SDK: each ends in an error of ours, or goes on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import engine_service_pb2
from opolyx_sdk import AsyncClient, BotOffer, ClientOptions, OfferNews, RequestError
from opolyx_sdk._convert import read_frames
from opolyx_sdk._frames import CommandResult, Detached, Frame, Retry
from opolyx_sdk._session import RetryLater, Session
from opolyx_sdk.actions import Roll
from opolyx_sdk.enums import DetachReason, RefusalReason
from opolyx_sdk.refusals import Refusal
from opolyx_sdk.testing import ScriptedServer

FAST = ClientOptions(patience_s=5)


def with_a_command() -> Session:
    session = Session()
    session.attach("g")
    session.connected()
    session.submit("g", "d1", Roll(), "c")
    return session


def test_an_answer_of_a_newer_kind_is_no_success() -> None:
    session = with_a_command()
    assert [] == session.receive(Frame("g", CommandResult("c")))
    session.connected()
    assert "c" in [getattr(one, "command_id", "") for one in session.outgoing]


@pytest.mark.parametrize("hint_ms", [0, -7, 1])
def test_a_server_that_asks_to_come_back_at_once_is_not_stormed(hint_ms: int) -> None:
    session = with_a_command()
    for kind in (
        CommandResult("c", retry=Retry(hint_ms)),
        Detached(DetachReason.UNAVAILABLE, "", hint_ms),
    ):
        (later,) = session.receive(Frame("g", kind))
        assert isinstance(later, RetryLater)
        assert later.after_ms >= 50


def test_a_wait_below_nothing_is_a_refusal() -> None:
    session = with_a_command()
    refusal = Refusal(RefusalReason.TOO_FAST, "", "", {"retry_after_ms": -1})
    (answered,) = session.receive(Frame("g", CommandResult("c", refusal=refusal)))
    assert refusal == getattr(answered, "refusal", None)


@pytest.mark.parametrize("number", [-3, 999])
def test_no_number_of_an_enumeration_is_a_crash(number: int) -> None:
    frame = engine_service_pb2.Frame(game_id="g")
    frame.detached.reason = number  # type: ignore[assignment]
    assert [Frame("g", Detached(DetachReason.UNSPECIFIED, ""))] == read_frames([frame])


class Garbled(grpc.GenericRpcHandler):
    """Answers everything with what is no message."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        method = str(handler_call_details.method).rpartition("/")[2]
        if method == "Play":
            return grpc.stream_stream_rpc_method_handler(self._stream)
        if method in ("WatchRoom", "WatchGame"):
            return grpc.unary_stream_rpc_method_handler(self._stream)
        return grpc.unary_unary_rpc_method_handler(self._unary)

    async def _unary(self, request: Any, context: Any) -> bytes:
        return b"\xff\xff\xff\xff"

    async def _stream(self, request: Any, context: Any) -> AsyncIterator[bytes]:
        yield b"\xff\xff\xff\xff"


@asynccontextmanager
async def garbled() -> AsyncIterator[str]:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Garbled(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(0)


@pytest.mark.parametrize("use", ["call", "watch_room", "past_events", "play"])
async def test_an_answer_that_cannot_be_read_is_an_error_of_ours(use: str) -> None:
    async with garbled() as address, AsyncClient(address, options=FAST) as client:
        work = {
            "call": client.who_am_i,
            "watch_room": lambda: anext(client.watch_room("r1")),
            "past_events": lambda: client.past_events("g1", up_to=3),
            "play": client.play("g1").__aenter__,
        }[use]
        with pytest.raises(RequestError, match="INTERNAL: the server's answer can't be read"):
            await asyncio.wait_for(work(), 10)


async def test_an_offer_that_is_made_again_leaves_no_task_behind() -> None:
    """What the calls before it left used to take the news of the games from it, too."""
    with ScriptedServer() as server:
        async with AsyncClient(server.address, options=FAST) as client:
            before = len(asyncio.all_tasks())
            told: list[OfferNews] = []
            listening = asyncio.create_task(collect(client, told))
            for count in (1, 2, 3):
                await asyncio.to_thread(server.wait_until, lambda n=count: len(told) == n)  # type: ignore[misc]
                server.cut()
            await asyncio.to_thread(server.wait_until, lambda: len(told) == 4)
            assert len(asyncio.all_tasks()) <= before + 2
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


async def collect(client: AsyncClient, told: list[OfferNews]) -> None:
    async for news in client.offer_bot(BotOffer()):
        told.append(news)
