"""Every store of the matchmaker, empty: what is promised of one is promised of each."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.store.opening import open_store
from opolyx_matchmaker.store.redis import RedisStore
from opolyx_servicekit.redis_link import RedisLink
from support_link import ForgetfulLink
from support_redis import Cluster, RedisServer, flush, redis_cluster, redis_server

STORES = ("sqlite", "redis", "redis+cluster", "redis, answers lost")
"""What the suites run over. With the last, each script runs twice, as after a lost answer."""


@pytest.fixture(scope="session")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as running:
        yield running


@pytest.fixture(scope="session")
def running_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with redis_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def server(running_server: RedisServer) -> RedisServer:
    """An empty Redis."""
    flush(running_server)
    return running_server


@pytest.fixture(params=STORES)
def kind(request: pytest.FixtureRequest) -> str:
    """One of the stores."""
    return str(request.param)


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store."""
    if kind == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    if kind == "redis+cluster":
        cluster: Cluster = request.getfixturevalue("running_cluster")
        cluster.flush()
        return cluster.url
    return str(request.getfixturevalue("server").url)


@pytest.fixture
async def store(kind: str, url: str) -> AsyncIterator[Store]:
    """The store of a process that may write."""
    async with _forgetful(url) if "lost" in kind else opened(url) as store:
        assert await store.hold_lease()
        yield store


def opened(url: str) -> AbstractAsyncContextManager[Store]:
    """A store as one process opens it."""
    return open_store(MatchmakerSettings(store_url=url))


@asynccontextmanager
async def _forgetful(url: str) -> AsyncIterator[Store]:
    async with await RedisLink.open(url) as link:
        yield RedisStore(cast("RedisLink", ForgetfulLink(link)), lease_seconds=6.0)
