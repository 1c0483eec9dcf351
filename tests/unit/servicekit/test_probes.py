"""What watchers of a server's health are told, whatever happens while they are told."""

import asyncio
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2

from opolyx_servicekit.probes import Probes

NAME = "shop.v1.Shop"


class Caller:
    """The context of a watch whose first write takes until it is let through."""

    def __init__(self) -> None:
        self.writing = asyncio.Event()
        self.let_through = asyncio.Event()
        self.told: list[int] = []

    async def write(self, message: Any) -> None:
        self.writing.set()
        await self.let_through.wait()
        self.told.append(message.status)

    async def abort(self, code: grpc.StatusCode, details: str) -> None:
        raise grpc.aio.AbortError(f"{code.name}: {details}")


async def test_a_watcher_that_is_slow_to_hear_the_first_status_hears_the_last() -> None:
    probes, caller = Probes([NAME]), Caller()
    probes.set_ready(True)
    request = health_pb2.HealthCheckRequest(service=NAME)
    watch = asyncio.create_task(probes.Watch(request, caller))
    await caller.writing.wait()
    probes.set_ready(False)
    probes.end_watches()
    caller.let_through.set()
    with pytest.raises(grpc.aio.AbortError, match="UNAVAILABLE"):
        await asyncio.wait_for(watch, 10)

    status = health_pb2.HealthCheckResponse
    assert caller.told == [status.SERVING, status.NOT_SERVING]


class Watched:
    """The context of a watch that goes on."""

    def __init__(self) -> None:
        self.told: list[int] = []
        self.refused: list[grpc.StatusCode] = []

    async def write(self, message: Any) -> None:
        self.told.append(message.status)

    async def abort(self, code: grpc.StatusCode, details: str, trailers: Any = ()) -> None:
        self.refused.append(code)
        raise grpc.aio.AbortError(details)


async def test_watches_are_bounded_and_those_that_end_make_room() -> None:
    probes = Probes([NAME], most_watches=2)
    request = health_pb2.HealthCheckRequest(service=NAME)
    callers = [Watched() for _ in range(4)]
    open_ones = [asyncio.create_task(probes.Watch(request, one)) for one in callers[:2]]
    await asyncio.sleep(0)

    with pytest.raises(grpc.aio.AbortError, match="at most 2 watches"):
        await probes.Watch(request, callers[2])
    assert [grpc.StatusCode.RESOURCE_EXHAUSTED] == callers[2].refused

    open_ones[0].cancel()
    await asyncio.gather(open_ones[0], return_exceptions=True)
    last = asyncio.create_task(probes.Watch(request, callers[3]))
    await asyncio.sleep(0)
    assert 1 == len(callers[3].told)
    for task in (open_ones[1], last):
        task.cancel()
    await asyncio.gather(open_ones[1], last, return_exceptions=True)
