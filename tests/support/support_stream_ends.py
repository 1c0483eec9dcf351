"""Streams that are opened and ended in every way a client has, wave by wave."""

import asyncio
import itertools
from typing import Any

import grpc

from opolyx.engine.v1 import engine_service_pb2 as pb
from support_engine import Caller
from support_proxy import FlakyProxy

WAYS = ("client cancel", "socket kill", "deadline", "task cancel")
"""How a stream is ended."""

_DEADLINE_S = 0.15
_PRIVATE = (("grpc.use_local_subchannel_pool", 1),)


class StreamEnder:
    """Opens Play and WatchGame streams on one game, in turn, and ends them in turn."""

    def __init__(self, port: int, token: str, game_id: str) -> None:
        """Connect to `port` with `token` and receive `game_id`."""
        self._port = port
        self._token = token
        self._game_id = game_id
        self._numbers = itertools.count()
        self.received = 0
        """Streams on which the game was seen before they were ended."""

    async def end(self, streams: int, *, at_once: int = 40) -> None:
        """Open and end so many streams, so many at once."""
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{self._port}", options=_PRIVATE)
        async with channel, FlakyProxy(self._port) as proxy:
            caller = Caller(channel, self._token)
            for first in range(0, streams, at_once):
                await self._wave(caller, proxy, min(at_once, streams - first))

    async def _wave(self, caller: Caller, proxy: FlakyProxy, streams: int) -> None:
        doomed = grpc.aio.insecure_channel(proxy.address, options=_PRIVATE)
        async with doomed, asyncio.TaskGroup() as group:
            cut_off = Caller(doomed, self._token)
            attached = asyncio.Barrier(len(range(1, streams, len(WAYS))) + 1)
            for index in range(streams):
                way = WAYS[index % len(WAYS)]
                owner = cut_off if way == "socket kill" else caller
                group.create_task(self._open_and_end(owner, way, attached))
            await attached.wait()
            proxy.cut_all()

    async def _open_and_end(self, caller: Caller, way: str, attached: asyncio.Barrier) -> None:
        timeout = _DEADLINE_S if way == "deadline" else None
        # Both kinds of stream for each way: the ways take turns, so the kinds do by fours.
        if next(self._numbers) // len(WAYS) % 2:
            call: Any = caller.engine.WatchGame(
                pb.WatchGameRequest(game_id=self._game_id),
                metadata=caller.metadata,
                timeout=timeout,
            )
        else:
            call = caller.engine.Play(metadata=caller.metadata, timeout=timeout)
            attach = pb.Attach(game_id=self._game_id, spectator=True)
            await _unless_ended(call.write(pb.PlayRequest(attach=attach)))
        began = asyncio.Event()
        reading = asyncio.create_task(self._read(call, began))
        await asyncio.wait_for(began.wait(), 10)
        if way == "client cancel":
            call.cancel()
        elif way == "task cancel":
            reading.cancel()
        elif way == "socket kill":
            await attached.wait()
        await asyncio.wait([reading], timeout=10)
        assert call.done(), f"a stream went on after its {way}"

    async def _read(self, call: Any, began: asyncio.Event) -> None:
        try:
            async for response in call:
                self.received += any(frame.HasField("snapshot") for frame in response.frames)
                began.set()
        except grpc.aio.AioRpcError:
            return
        finally:
            began.set()


async def _unless_ended(step: Any) -> None:
    try:
        await step
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError, asyncio.CancelledError):
        return
