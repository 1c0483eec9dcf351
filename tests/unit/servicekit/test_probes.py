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
