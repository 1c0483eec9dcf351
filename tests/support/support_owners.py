"""Several engines in one process on one store, each with an address that the others reach it by."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from support_engine import Engine, running_engine
from support_redis import free_port

HEARTBEAT_MS = 100
TTL_MS = 500


def fast(port: int, **settings: Any) -> dict[str, Any]:
    """The settings of an engine at a port of loopback that notices soon who died."""
    address = f"127.0.0.1:{port}"
    values: dict[str, Any] = {
        "listen_address": address,
        "replica_address": address,
        "heartbeat_ms": HEARTBEAT_MS,
        "replica_ttl_ms": TTL_MS,
        "store_retry_ms": 20,
        "development_seed": None,
    }
    return {**values, **settings}


@asynccontextmanager
async def running_replica(directory: Path, url: str, **settings: Any) -> AsyncIterator[Engine]:
    """One engine among others on the store."""
    values = fast(free_port(), store_url=url, **settings)
    async with running_engine(directory, **values) as engine:
        yield engine


@asynccontextmanager
async def running_replicas(
    directory: Path, url: str, count: int, **settings: Any
) -> AsyncIterator[list[Engine]]:
    """Some engines that know of each other."""
    async with AsyncExitStack() as stack:
        engines = [
            await stack.enter_async_context(running_replica(directory, url, **settings))
            for _ in range(count)
        ]
        for engine in engines:
            await engine.service.membership.beat()
        yield engines
