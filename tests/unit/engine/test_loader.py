"""Many games that come out of the store at once leave room for those that are played."""

import asyncio
from types import SimpleNamespace

import pytest

from opolyx_engine import loader as loader_module
from opolyx_engine.header import GameHeader, Holder
from opolyx_engine.loader import Loader
from opolyx_engine.store.base import RUNNING, Record, StoredGame
from opolyx_engine.table import Table

COUNT = 20
HOLDERS = (Holder("p_1", "", 1), Holder("p_2", "", 1))


class StoreOfStarts:
    """Games that have just started; it answers at once."""

    async def snapshot(self, game_id: str, up_to_seq: int) -> None:
        return None

    async def records(self, game_id: str, after_seq: int, limit: int) -> list[Record]:
        return []


def game(number: int) -> StoredGame:
    header = GameHeader(f"g_{number}", "classic@full", HOLDERS).encode()
    return StoredGame(f"g_{number}", RUNNING, "classic@full", True, b"s" * 32, header, 1_000, 0)


async def test_between_two_of_many_loads_everybody_else_gets_a_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns = 0
    loaded_at: list[int] = []

    async def play() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    def followed(stored: StoredGame, table: Table, records: list[Record]) -> tuple[Table, None]:
        loaded_at.append(turns)
        return table, None

    monkeypatch.setattr(loader_module, "_followed", followed)
    loader = Loader(SimpleNamespace(store=StoreOfStarts()))  # type: ignore[arg-type]
    playing = asyncio.create_task(play())
    await asyncio.gather(*(loader.load(game(number)) for number in range(COUNT)))
    playing.cancel()
    assert COUNT == len(set(loaded_at)), "some were loaded without a break"
