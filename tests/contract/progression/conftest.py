"""Every store that progression can have, empty; a suite that takes `store` runs over all of them."""

from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.base import Store
from opolyx_progression.store.opening import open_store
from support_redis import Cluster, RedisServer, flush, redis_cluster, redis_server

STORES = ("sqlite", "redis", "redis+cluster")
"""All kinds of stores."""


@pytest.fixture(scope="session")
def redis_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One Redis for all tests of a process."""
    with redis_server(tmp_path_factory.mktemp("redis")) as running:
        yield running


@pytest.fixture(scope="session")
def cluster_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One Redis Cluster for all tests of a process."""
    with redis_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def redis(redis_once: RedisServer) -> RedisServer:
    """An empty Redis."""
    flush(redis_once)
    return redis_once


@pytest.fixture(params=STORES)
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], ProgressionSettings]:
    """Settings with an empty store, whenever it is called; on Redis the one before is gone then."""
    numbers = count()

    def on_sqlite() -> ProgressionSettings:
        path = tmp_path / f"progression{next(numbers)}.db"
        return ProgressionSettings(store_url=f"sqlite:///{path}")

    def on_redis() -> ProgressionSettings:
        for server in servers:
            flush(server)
        return ProgressionSettings(store_url=url)

    if request.param == "sqlite":
        return on_sqlite
    if request.param == "redis":
        server: RedisServer = request.getfixturevalue("redis_once")
        servers, url = [server], server.url
    else:
        cluster: Cluster = request.getfixturevalue("cluster_once")
        servers, url = cluster.servers, cluster.url
    return on_redis


@pytest.fixture
def settings(new_store: Callable[[], ProgressionSettings]) -> ProgressionSettings:
    """Settings with an empty store."""
    return new_store()


@pytest.fixture
async def store(settings: ProgressionSettings) -> AsyncIterator[Store]:
    """That store, open."""
    async with open_store(settings) as opened:
        yield opened
