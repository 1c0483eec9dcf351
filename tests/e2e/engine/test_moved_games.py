"""Games whose log somebody else wrote to: taken up where they are, also if nobody asks."""

import asyncio
from contextlib import suppress
from pathlib import Path

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.game_actor import GameActor
from opolyx_engine.store.base import FINISHED, Append, StoreConflict
from opolyx_rules.actions import SURRENDER
from opolyx_rules.verification import verify
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import START_MS, Engine, awaited, built_in, people, running_engine
from support_waiting import until


async def move(engine: Engine, game: GameActor, seat: int) -> None:
    """Another engine takes the game for its own, and a seat surrenders there."""
    table = game.table
    step = table.plan((SURRENDER, seat), "elsewhere", table.started_ms + 1)
    epoch = await engine.store.claim(game.game_id, game.epoch, "elsewhere")
    assert epoch is not None
    append = Append(
        game_id=game.game_id,
        expected_seq=table.seq,
        records=(step.entry.encode(),),
        epoch=epoch,
    )
    await engine.store.append(append)


async def test_a_game_of_bots_that_moved_goes_on_by_itself(tmp_path: Path) -> None:
    async with running_engine(tmp_path, store_retry_ms=20, bot_think_ms=20) as engine:
        seats = [built_in(seat, "random") for seat in range(3)]
        game_id = await engine.new_game(seats, round_cap=3)
        registry = engine.service.registry
        first = registry.running()[0]
        await until(lambda: first.table.seq >= 2)
        while not first.stopped:
            if not first.table.state.out_order[2]:
                with suppress(StoreConflict):  # a bot was faster, or hasn't noticed yet
                    await move(engine, first, 2)
            await asyncio.sleep(0.02)
        await until(lambda: registry.find_running(game_id) not in (None, first))
        stored = await engine.store.game(game_id)
        for _ in range(1_000):
            stored = await engine.store.game(game_id)
            if stored is not None and stored.state == FINISHED:
                break
            await asyncio.sleep(0.01)
        assert stored is not None
        assert FINISHED == stored.state
        data, complete = await (await engine.caller("p_w")).replay(game_id)
        assert complete
        assert "" == verify(data).problem
        assert b"elsewhere" not in data
        assert not registry.coming()


async def test_the_clock_of_a_game_that_moved_goes_on_by_itself(tmp_path: Path) -> None:
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock, store_retry_ms=20) as engine:
        await engine.new_game(people(3))
        registry = engine.service.registry
        game = registry.running()[0]
        late = (game.table.state.turn_seat + 1) % 3
        await move(engine, game, late)
        await clock.advance(75_000)
        await until(lambda: game.stopped)
        await until(lambda: registry.running() not in ([], [game]))
        again = registry.running()[0]
        assert 1 == again.table.seq, "the clock's own step had no effect"
        assert START_MS + 85_000 == again.next_due_ms, "who is awaited gets a little time"
        await clock.advance(10_000)
        await until(lambda: registry.running()[0].table.seq == 2)
        snapshot = await (await engine.caller("p_0")).game(again.game_id)
        assert (pb.GAME_STATE_RUNNING, 2) == (snapshot.state, snapshot.seq)
        assert late != awaited(snapshot.decisions).seat
