"""Which store a URL names."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.store.sqlite import SqliteStore
from opolyx_servicekit.sqlite_file import SqliteFile, sqlite_path
from opolyx_servicekit.store_url import is_redis, open_redis


@asynccontextmanager
async def open_store(settings: MatchmakerSettings) -> AsyncIterator[Store]:
    """The store of `settings.store_url`, closed at the end.

    Raises:
        ValueError: the URL names no store, or a Redis that may forget what it acknowledged.
        StoreUnavailable: the Redis can't be reached.
    """
    if is_redis(settings.store_url):
        async with await open_redis(settings) as link:
            # Only now: the package redis is an extra, and its absence has been told.
            from opolyx_matchmaker.store.redis import RedisStore

            yield RedisStore(link, settings.lease_seconds)
        return
    if not settings.store_url.startswith("sqlite:"):
        raise ValueError("store url is neither sqlite:///<file> nor redis[s][+cluster]://<host>")
    async with SqliteFile(sqlite_path(settings.store_url)) as file:
        yield await SqliteStore.open(file)
