"""Where a server of all three services keeps its data: in one SQLite file, or in one Redis."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import opolyx_engine.store.opening as games
import opolyx_matchmaker.store.opening as rooms
import opolyx_progression.store.opening as awards
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import GameStore
from opolyx_engine.store.sqlite import SqliteGameStore
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import Store as MatchmakerStore
from opolyx_matchmaker.store.sqlite import SqliteStore as SqliteMatchmakerStore
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.base import Store as ProgressionStore
from opolyx_progression.store.sqlite import SqliteStore as SqliteProgressionStore
from opolyx_server.premises import CannotStart
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.sqlite_file import SqliteFile
from opolyx_servicekit.store_url import REDIS_SCHEMES, is_redis

_LEASES: Final = 2.0  # how long to wait for a server that was killed, in its leases
_ASKED_SECONDS: Final = 0.25


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of the three services."""

    games: GameStore
    """The engine's."""

    rooms: MatchmakerStore
    """The matchmaker's."""

    awards: ProgressionStore
    """Progression's."""


@asynccontextmanager
async def sqlite_stores(path: Path) -> AsyncIterator[Stores]:
    """All in one file, whose writes share transactions.

    Raises:
        CannotStart: it isn't a database, or can't be used.
    """
    try:
        file = SqliteFile(path, synchronous="NORMAL")
    except sqlite3.Error as error:
        raise CannotStart(f"can't use the database {path}: {error}") from error
    async with file:
        yield Stores(
            await SqliteGameStore.open(file),
            await SqliteMatchmakerStore.open(file),
            await SqliteProgressionStore.open(file),
        )


@asynccontextmanager
async def redis_stores(
    engine: EngineSettings, matchmaker: MatchmakerSettings, progression: ProgressionSettings
) -> AsyncIterator[Stores]:
    """All in the Redis that the settings name, held against every other server.

    The hold is the matchmaker's lease. One that was killed holds it for some seconds more.

    Raises:
        CannotStart: it can't be reached or isn't durable, or another server uses it.
    """
    if not is_redis(engine.store_url):
        schemes = ", ".join(REDIS_SCHEMES)
        raise CannotStart(f"the store must begin with one of {schemes}")
    async with AsyncExitStack() as stack:
        try:
            stores = Stores(
                await stack.enter_async_context(games.open_store(engine)),
                await stack.enter_async_context(rooms.open_store(matchmaker)),
                await stack.enter_async_context(awards.open_store(progression)),
            )
            await _hold(stores.rooms, matchmaker.lease_seconds * _LEASES)
        except (ServiceError, ValueError) as error:
            raise CannotStart(f"can't use the store: {error}") from error
        yield stores


async def _hold(store: MatchmakerStore, wait_seconds: float) -> None:
    try:
        async with asyncio.timeout(wait_seconds):
            while True:
                if await store.hold_lease():
                    return
                await asyncio.sleep(_ASKED_SECONDS)
    except TimeoutError:
        raise CannotStart("another server uses the store") from None
