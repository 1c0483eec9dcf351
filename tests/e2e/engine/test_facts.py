"""What the other services learn of games: in order, once, with the record that causes it."""

from pathlib import Path
from typing import Any

import pytest

from opolyx.engine.v1 import action_pb2
from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.store.base import Append
from support_engine import Caller, Engine, awaited, people, running_engine

SURRENDER: dict[str, Any] = {"surrender": action_pb2.Surrender()}


async def follow(service: Caller, count: int, after: int = 0) -> list[allocation_pb.Fact]:
    """The next `count` facts."""
    call = service.allocation.WatchFacts(
        allocation_pb.WatchFactsRequest(after=after, consumer="test"), metadata=service.metadata
    )
    found: list[allocation_pb.Fact] = []
    async for response in call:
        found.extend(response.facts)
        if len(found) >= count:
            break
    call.cancel()
    return found


@pytest.mark.statement("R011")
async def test_surrendering_frees_the_player_at_once_and_ends_the_game(tmp_path: Path) -> None:
    """Cases A-20 and A-24: who surrenders is told free while the game goes on."""
    async with running_engine(tmp_path) as engine:
        service = await engine.caller("s_m", "service")
        game_id = await engine.new_game(people(3))
        first, second = [await engine.caller(f"p_{seat}") for seat in (2, 0)]
        assert (await first.submit(game_id, "s", "", **SURRENDER)).HasField("accepted")
        released = (await follow(service, 1))[0]
        assert (1, game_id) == (released.number, released.game_id)
        assert ("p_2", True) == (
            released.seat_released.player_id,
            released.seat_released.surrendered,
        )
        assert (await second.submit(game_id, "s2", "", **SURRENDER)).HasField("accepted")
        rest = await follow(service, 3, after=1)
        assert [2, 3, 4] == [fact.number for fact in rest]
        assert ["p_0", "p_1"] == [fact.seat_released.player_id for fact in rest[:2]]
        assert [True, False] == [fact.seat_released.surrendered for fact in rest[:2]]
        finished = rest[2].game_finished
        assert (3, allocation_pb.XP_SCHEME_EVERY_SEAT) == (finished.places, finished.xp_scheme)
        assert [2, 1, 3] == [seat.place for seat in finished.result.seats]
        assert ["p_0", "p_1", "p_2"] == [seat.player_id for seat in finished.seats]
        again = await first.submit(game_id, "s", "", **SURRENDER)
        assert 1 == again.accepted.seq


async def test_facts_are_there_after_a_restart(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        ended = await caller.submit(game_id, "s", "", **SURRENDER)
        before = await follow(await engine.caller("s_m", "service"), 3)
    async with running_engine(tmp_path) as engine:
        assert before == await follow(await engine.caller("s_m", "service"), 3)
        caller = await engine.caller("p_0")
        assert ended == await caller.submit(game_id, "s", "", **SURRENDER)
        snapshot = await caller.game(game_id)
        assert pb.GAME_STATE_FINISHED == snapshot.state
        assert [] == engine.service.registry.running()


async def leave_to_another_owner(engine: Engine, game_id: str) -> None:
    """Another engine takes the game for its own and writes to its log."""
    game = engine.service.registry.find_running(game_id)
    assert game is not None
    step = game.table.plan((24, 0), "elsewhere", game.table.started_ms + 1)
    epoch = await engine.store.claim(game_id, game.epoch, "elsewhere")
    assert epoch is not None
    await engine.store.append(
        Append(game_id=game_id, expected_seq=0, records=(step.entry.encode(),), epoch=epoch)
    )


async def test_a_game_that_moved_on_elsewhere_is_taken_up_where_it_is(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(3))
        caller = await engine.caller("p_1")
        stream = await caller.play(game_id)
        await stream.next("attached")
        await leave_to_another_owner(engine, game_id)
        result = await caller.submit(game_id, "s", "", **SURRENDER)
        assert result.HasField("retry")
        assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason
        await stream.send(attach=pb.Attach(game_id=game_id, after_seq=0))
        assert 1 == (await stream.next("update")).seq
        snapshot = await caller.game(game_id)
        assert (1, False) == (snapshot.seq, snapshot.view.players[0].in_game)
        assert awaited(snapshot.decisions).seat != 0
        assert 2 == (await caller.submit(game_id, "s", "", **SURRENDER)).accepted.seq
