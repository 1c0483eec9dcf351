"""An empty store of each kind, for the tests of what every store must do."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import GameStore
from opolyx_engine.store.opening import open_store
from support_redis import Cluster, RedisServer, flush, redis_cluster, redis_server

Opener = Callable[[], AbstractAsyncContextManager[GameStore]]


@pytest.fixture(scope="package")
def redis_of_contract(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as running:
        yield running


@pytest.fixture(scope="package")
def cluster_of_contract(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with redis_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(params=["sqlite", "redis", "redis+cluster"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    if request.param == "redis":
        server: RedisServer = request.getfixturevalue("redis_of_contract")
        flush(server)
        return server.url
    cluster: Cluster = request.getfixturevalue("cluster_of_contract")
    cluster.flush()
    return cluster.url


@pytest.fixture
def opener(url: str) -> Opener:
    return lambda: open_store(EngineSettings(store_url=url))


@pytest.fixture
async def store(opener: Opener) -> AsyncIterator[GameStore]:
    async with opener() as opened:
        yield opened
