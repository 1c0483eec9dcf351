"""Who couldn't act because of an outage gets time to act after it, though nothing was restarted."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from opolyx_engine.game_actor import GameActor
from opolyx_engine.store.base import GameStore
from opolyx_servicekit.wall_clock import ManualClock
from support_bad_store import BadStore
from support_engine import ROLL, START_MS, Engine, Stream, awaited, people, running_engine
from support_waiting import until

TURN_MS = 75_000
GRACE_MS = 10_000


@dataclass
class House:
    """One game of two, its clock moved by hand, its store failing as told."""

    engine: Engine
    clock: ManualClock
    store: BadStore
    game: GameActor
    stream: Stream
    seat: int

    @property
    def deadline_ms(self) -> int:
        return self.game.table.clocks.deadline_ms - START_MS


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock, stores = ManualClock(START_MS), []

    def wrap(store: GameStore) -> GameStore:
        stores.append(BadStore(store))
        return cast("GameStore", stores[0])

    async with running_engine(
        tmp_path, clock=clock, wrap=wrap, store_retry_ms=5, restart_grace_ms=GRACE_MS
    ) as engine:
        game_id = await engine.new_game(people(2))
        stream = await (await engine.caller("p_0")).play(game_id)
        seat = awaited((await stream.next("snapshot")).decisions).seat
        game = engine.service.registry.running()[0]
        yield House(engine, clock, stores[0], game, stream, seat)


async def tries(house: House) -> None:
    """Let the game try again some times."""
    before = house.engine.service.metrics.store_retries._value.get()
    await until(lambda: house.engine.service.metrics.store_retries._value.get() > before + 3)


@pytest.mark.rule("CLOCK-5")
@pytest.mark.parametrize("fault", ["lost", "busy"])
async def test_a_deadline_in_an_outage_of_the_store_moves_when_the_store_is_back(
    house: House, fault: str
) -> None:
    house.store.faults = [fault] * 10_000
    house.store.failing_records = 10_000
    await house.clock.advance(TURN_MS + 30_000)
    await tries(house)
    assert (TURN_MS, 0) == (house.deadline_ms, house.game.table.seq)
    house.store.faults.clear()
    house.store.failing_records = 0
    await until(lambda: house.deadline_ms > TURN_MS)
    assert TURN_MS + 30_000 + GRACE_MS == house.deadline_ms
    told = awaited((await house.stream.next("snapshot")).decisions)
    assert house.deadline_ms == told.deadline_unix_ms - START_MS
    await house.clock.advance(GRACE_MS - 1)
    assert 0 == house.game.table.seq
    mover = await house.engine.caller(f"p_{house.seat}")
    answer = await mover.submit(house.game.game_id, "c", "d1", **ROLL)
    assert 1 == answer.accepted.seq
    assert 0 == house.game.table.state.missed[house.seat]


@pytest.mark.rule("CLOCK-5")
async def test_the_time_given_after_an_outage_is_given_once(house: House) -> None:
    house.store.faults = ["lost"] * 3
    await house.clock.advance(TURN_MS)
    await until(lambda: house.deadline_ms > TURN_MS)
    for _ in range(20):
        await house.clock.advance(GRACE_MS)
        await asyncio.sleep(0.01)
        if house.game.table.seq:
            break
    assert 1 == house.game.table.seq, "its player did nothing, and the clock acts"
    assert 1 == house.game.table.state.missed[house.seat]


@pytest.mark.rule("CLOCK-5")
async def test_the_clock_does_nothing_in_a_game_that_others_may_have_taken(house: House) -> None:
    membership = house.engine.service.membership
    membership.alone = False  # as one that has not been heard for long
    await house.clock.advance(TURN_MS)
    await tries(house)
    assert (TURN_MS, 0, 1) == (house.deadline_ms, house.game.table.seq, house.store.appends + 1)
    membership.alone = True
    await until(lambda: house.deadline_ms > TURN_MS)
    assert 0 == house.game.table.seq
    await house.clock.advance(GRACE_MS)
    await until(lambda: house.game.table.seq == 1)
