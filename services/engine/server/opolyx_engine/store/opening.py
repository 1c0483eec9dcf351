"""Which store a URL names."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import GameStore
from opolyx_engine.store.sqlite import SqliteGameStore
from opolyx_servicekit.sqlite_file import SqliteFile, sqlite_path
from opolyx_servicekit.store_url import is_redis, open_redis


@asynccontextmanager
async def open_store(settings: EngineSettings) -> AsyncIterator[GameStore]:
    """The store of `settings.store_url`, closed at the end.

    Raises:
        ValueError: the URL names no store, or a Redis that may forget what it acknowledged.
        StoreUnavailable: the Redis can't be reached.
    """
    if is_redis(settings.store_url):
        async with _redis(settings) as store:
            yield store
        return
    if not settings.store_url.startswith("sqlite:"):
        raise ValueError("store url is neither sqlite:///<file> nor redis[s][+cluster]://<host>")
    path = sqlite_path(settings.store_url)
    async with SqliteFile(path, synchronous=settings.store_sync) as file:
        yield await SqliteGameStore.open(file)


@asynccontextmanager
async def _redis(settings: EngineSettings) -> AsyncIterator[GameStore]:
    link = await open_redis(settings)
    # Only now: the package redis is an extra, and its absence has been told.
    from opolyx_engine.store.redis import RedisGameStore

    store = await RedisGameStore.open(link, owns_link=True)
    try:
        yield store
    finally:
        await store.close()
