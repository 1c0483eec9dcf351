"""The stream of facts itself: how it ends, and what comes out of bytes."""

import asyncio

import grpc
import pytest

from opolyx_progression.deliveries import Unreadable
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.rpc.fact_source import EngineFactSource
from opolyx_servicekit.streams import StreamLost
from support_progression import FactTeller, duel, finished_fact, serving


async def test_channel_that_closes_is_a_lost_source_and_no_cancellation() -> None:
    """GRPC raises CancelledError here; uncaught, it would end the consumer for good."""
    async with serving(FactTeller()) as address:
        channel = grpc.aio.insecure_channel(address)
        await channel.channel_ready()
        batches = EngineFactSource(channel, None).watch(0)
        waiting = asyncio.ensure_future(anext(batches))
        await asyncio.sleep(0.05)
        await channel.close()

        with pytest.raises(StreamLost):
            await waiting


async def test_own_cancellation_stays_one() -> None:
    async with serving(FactTeller()) as address, grpc.aio.insecure_channel(address) as channel:
        batches = EngineFactSource(channel, None).watch(0)
        waiting = asyncio.ensure_future(anext(batches))
        await asyncio.sleep(0.05)
        waiting.cancel()

        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_fact_is_read_back_from_its_bytes() -> None:
    delivery = delivery_of(finished_fact(7, duel("g1", "p_a", "p_b")))
    async with grpc.aio.insecure_channel("127.0.0.1:1") as channel:
        source = EngineFactSource(channel, None)

        assert delivery == source.parse(delivery.raw)
        assert isinstance(source.parse(b"\xff\xff").effect, Unreadable)
