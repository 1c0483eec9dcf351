"""Who asks for a game in the moment in which it starts keeps nobody from starting it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from opolyx_engine.fair_dice import new_reservation
from opolyx_engine.header import PERSON, GameHeader, Holder
from opolyx_engine.store.base import GameStore, StoredGame
from opolyx_servicekit.errors import NotFound
from support_engine import WAIT_SECONDS, running_engine


class SlowToTell:
    """A store that reads a game at once, and tells what it read when it may."""

    def __init__(self, inner: GameStore) -> None:
        self._inner = inner
        self.has_read = asyncio.Event()
        self.may_tell = asyncio.Event()
        self.created = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def game(self, game_id: str) -> StoredGame | None:
        found = await self._inner.game(game_id)
        self.has_read.set()
        await self.may_tell.wait()
        return found

    async def create(self, *arguments: Any) -> StoredGame | None:
        found = await self._inner.create(*arguments)
        self.created.set()
        return found


async def test_a_reader_that_looked_just_before_the_start_does_not_undo_it(tmp_path: Path) -> None:
    stores: list[SlowToTell] = []

    def wrap(inner: GameStore) -> Any:
        stores.append(SlowToTell(inner))
        return stores[0]

    async with running_engine(tmp_path, wrap=wrap) as engine, asyncio.timeout(WAIT_SECONDS):
        store, registry = stores[0], engine.service.registry
        reserved = await store.reserve(new_reservation("r", 0, "seed", 0))
        holders = tuple(Holder(f"p_{seat}", "", PERSON) for seat in range(2))
        header = GameHeader(reserved.game_id, "classic@full", holders)
        early = asyncio.create_task(registry.find(header.game_id))
        await store.has_read.wait()
        creating = asyncio.create_task(registry.create(header, reserved.secret))
        await store.created.wait()
        store.may_tell.set()
        game = await creating
        assert [game] == registry.running()
        with pytest.raises(NotFound):
            await early
        assert game is await registry.find(header.game_id)
