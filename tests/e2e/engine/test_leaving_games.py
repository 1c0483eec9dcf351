"""A game that another replica is to go on with stops between two moves, never within one."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.game_actor import GameActor
from opolyx_engine.store.base import GameStore
from support_bad_store import BadStore
from support_engine import ROLL, Engine, awaited, people, running_engine
from support_waiting import until


@dataclass
class House:
    """One game of two, and what its next mover sends."""

    engine: Engine
    store: BadStore
    game: GameActor

    async def move(self, command_id: str = "c") -> pb.CommandResult:
        """Send what is awaited."""
        decision = awaited(
            (await (await self.engine.caller("p_0")).game(self.game.game_id)).decisions
        )
        mover = await self.engine.caller(f"p_{decision.seat}")
        return await mover.submit(self.game.game_id, command_id, decision.decision_id, **ROLL)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    stores: list[BadStore] = []

    def wrap(store: GameStore) -> GameStore:
        stores.append(BadStore(store))
        return cast("GameStore", stores[0])

    async with running_engine(tmp_path, wrap=wrap, store_retry_ms=5) as engine:
        await engine.new_game(people(2))
        yield House(engine, stores[0], engine.service.registry.running()[0])


async def test_what_is_being_stored_is_shown_and_answered_before_the_game_stops(
    house: House,
) -> None:
    stream = await (await house.engine.caller("p_1")).play(house.game.game_id)
    await stream.next("attached")
    house.store.writable.clear()
    move = asyncio.create_task(house.move())
    await until(lambda: house.store.appends)
    leaving = asyncio.create_task(house.game.leave())
    await asyncio.sleep(0.05)
    assert not leaving.done()
    house.store.writable.set()
    assert 1 == (await move).accepted.seq
    await leaving
    assert (True, False, 1) == (house.game.stopped, house.game.lost, house.game.table.seq)
    assert 1 == (await stream.next("update")).seq
    assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason


async def test_a_step_that_may_be_stored_or_not_is_cleared_up_first(house: House) -> None:
    house.store.faults = ["late"]
    house.store.failing_records = 3
    assert (await house.move()).HasField("retry")
    await house.game.leave()
    assert 1 == house.game.table.seq, "it was stored"
    assert 0 == house.store.failing_records


async def test_a_game_that_cannot_stop_in_time_goes_on(house: House) -> None:
    house.store.writable.clear()
    move = asyncio.create_task(house.move())
    await until(lambda: house.store.appends)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await house.game.leave()
    house.store.writable.set()
    assert 1 == (await move).accepted.seq
    assert not house.game.stopped
    await (await house.engine.caller("p_0")).game(house.game.game_id)
    assert [house.game] == house.engine.service.registry.running()


async def test_a_game_that_ended_or_left_before_leaves_at_once(house: House) -> None:
    await house.game.end_as_void("over")
    await house.game.leave()
    assert not house.game.running
