"""Every store that progression can have, empty; a suite that takes `url` runs over all of them."""

from collections.abc import AsyncIterator, Iterator
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
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Names an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'progression.db'}"
    if request.param == "redis":
        server: RedisServer = request.getfixturevalue("redis")
        return server.url
    cluster: Cluster = request.getfixturevalue("cluster_once")
    cluster.flush()
    return cluster.url


@pytest.fixture
def settings(url: str) -> ProgressionSettings:
    """Settings with that store."""
    return ProgressionSettings(store_url=url)


@pytest.fixture
async def store(settings: ProgressionSettings) -> AsyncIterator[Store]:
    """That store, open."""
    async with open_store(settings) as opened:
        yield opened
