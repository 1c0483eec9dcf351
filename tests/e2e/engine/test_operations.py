"""What operators see of an engine, and how they steer it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from opolyx.engine.v1 import action_pb2, decision_pb2
from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as engine_pb
from opolyx.engine.v1 import operations_service_pb2 as pb
from opolyx_servicekit.wall_clock import ManualClock
from support_bad_store import BadStore, BadStores
from support_engine import (
    ROLL,
    START_MS,
    Caller,
    Engine,
    awaited,
    built_in,
    people,
    person,
    running_engine,
)
from support_waiting import until

IDLE_MS = 20_000


@dataclass
class House:
    """An engine on a clock that is moved by hand, and its operator."""

    engine: Engine
    operator: Caller
    clock: ManualClock
    store: BadStore

    async def listed(self, **request: Any) -> pb.ListRunningGamesResponse:
        response: pb.ListRunningGamesResponse = await self.operator.operations.ListRunningGames(
            pb.ListRunningGamesRequest(**request), metadata=self.operator.metadata
        )
        return response

    async def inspected(self, game_id: str) -> pb.InspectGameResponse:
        response: pb.InspectGameResponse = await self.operator.operations.InspectGame(
            pb.InspectGameRequest(game_id=game_id), metadata=self.operator.metadata
        )
        return response


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock, stores = ManualClock(START_MS), BadStores()
    settings: dict[str, Any] = {"idle_evict_ms": IDLE_MS, "stuck_after_ms": 5_000}
    async with running_engine(
        tmp_path, clock=clock, wrap=stores, store_retry_ms=50, **settings
    ) as engine:
        operator = await engine.caller("o_1", "operator")
        yield House(engine, operator, clock, stores.store)


def reason_of(error: Any) -> str:
    status = rpc_status.from_call(error)
    assert status is not None
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return str(info.reason)


async def test_running_games_are_listed_with_what_goes_on_in_them(house: House) -> None:
    game_id = await house.engine.new_game([person(0), person(1), built_in(2)])
    stream = await (await house.engine.caller("p_0")).play(game_id)
    await stream.next("attached")
    response = await house.listed()
    (game,) = response.games
    assert (game_id, pb.GAME_PLACE_IN_MEMORY) == (game.game_id, game.place)
    assert ("classic@full", 1, 1) == (game.ruleset, game.round, game.receivers)
    assert ["p_0", "p_1", ""] == [seat.player_id for seat in game.seats]
    assert START_MS + 75_000 == game.next_deadline_unix_ms
    assert (START_MS, False) == (game.started_unix_ms, game.stuck)
    assert (True, False) == (response.takes_new_games, response.draining)
    ended = allocation_pb.EndGameRequest(game_id=game_id, reason="asked for")
    await house.operator.allocation.EndGame(ended, metadata=house.operator.metadata)
    assert not (await house.listed()).games


async def test_games_are_listed_in_pages_by_id_wherever_they_are(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        made = sorted([await engine.new_game(people(2)) for _ in range(5)])
    with sqlite3.connect(tmp_path / "engine.db") as db:
        damage = "CAST(replace(CAST(header AS TEXT), 'classic@full', 'chess@full') AS BLOB)"
        db.execute(f"UPDATE engine_games SET header = {damage} WHERE game_id = ?", (made[1],))
    db.close()
    clock, stores = ManualClock(START_MS), BadStores()
    async with running_engine(tmp_path, clock=clock, wrap=stores, store_retry_ms=600_000) as engine:
        operator = await engine.caller("o_1", "operator")
        house = House(engine, operator, clock, stores.store)
        registry = engine.service.registry
        resting = registry.find_running(made[3])
        moved = registry.find_running(made[4])
        assert resting is not None
        assert moved is not None
        assert registry.rest(resting)
        moved.lost = moved.stopped = True
        moved.wake()
        await until(registry.coming)
        pages = [await house.listed(page_size=2)]
        while pages[-1].next_page_token:
            token = pages[-1].next_page_token
            pages.append(await house.listed(page_size=2, page_token=token))
        games = [game for page in pages for game in page.games]
        assert [2, 2, 1] == [len(page.games) for page in pages]
        assert made == [game.game_id for game in games]
        places = [pb.GamePlace.Name(game.place)[11:] for game in games]
        assert ["IN_MEMORY", "HELD", "IN_MEMORY", "RESTING", "COMING"] == places
        assert [2, 0, 2, 2, 2] == [len(game.seats) for game in games], "as far as that is known"
        assert games[3].round == 1
        assert games[3].next_deadline_unix_ms > 0
        held = await house.listed(place=pb.GAME_PLACE_HELD)
        assert [made[1]] == [game.game_id for game in held.games]
        inspected = await house.inspected(made[1])
        assert (pb.GAME_PLACE_HELD, 0) == (inspected.game.place, inspected.game.seq)
        assert engine_pb.GAME_STATE_RUNNING == inspected.state
        assert not inspected.HasField("awaited_seat")
        resting_now = await house.inspected(made[3])
        assert pb.GAME_PLACE_RESTING == resting_now.game.place
        assert resting_now.HasField("awaited_seat")


async def test_a_game_is_inspected_down_to_its_inbox_and_its_store(house: House) -> None:
    game_id = await house.engine.new_game(people(3))
    caller = await house.engine.caller("p_0")
    decision = awaited((await caller.game(game_id)).decisions)
    mover = await house.engine.caller(f"p_{decision.seat}")
    stream = await mover.play(game_id)
    await stream.next("attached")
    seen = await house.inspected(game_id)
    assert (decision.seat, decision_pb2.PHASE_ROLL) == (seen.awaited_seat, seen.phase)
    assert decision.decision_id == seen.decision_id
    assert decision.deadline_unix_ms == seen.deadline_unix_ms
    assert [decision.seat] == list(seen.connected_seats)
    assert (0, 0) == (seen.commands_waiting, seen.first_command_unix_ms)
    assert not seen.HasField("last_store_failure")
    house.store.faults = ["lost"]
    await stream.command(game_id, "c0", decision.decision_id, **ROLL)
    assert (await stream.result("c0")).HasField("retry")
    house.store.delay_s = 0.5
    for number in range(3):
        await stream.command(game_id, f"c{number}", decision.decision_id, **ROLL)
    await until(lambda: house.engine.service.registry.running()[0].waiting == 2)
    await house.clock.advance(5_001)
    seen = await house.inspected(game_id)
    assert (2, START_MS) == (seen.commands_waiting, seen.first_command_unix_ms)
    assert (START_MS, "nothing was written") == (
        seen.last_store_failure.at_unix_ms,
        seen.last_store_failure.message,
    )
    assert seen.game.stuck
    assert [game_id] == [game.game_id for game in (await house.listed(only_stuck=True)).games]
    house.engine.service._sweep.count_stuck()
    assert 1 == house.engine.service.metrics.stuck_games._value.get()
    await stream.result("c0")
    await stream.result("c2")
    assert not (await house.listed(only_stuck=True)).games


async def test_a_clock_that_does_not_act_is_stuck(house: House) -> None:
    game_id = await house.engine.new_game(people(2))
    stream = await (await house.engine.caller("p_0")).play(game_id)
    await stream.next("attached")
    house.store.faults = ["lost"] * 1_000
    await house.clock.advance(75_000 + 5_000)
    assert not (await house.inspected(game_id)).game.stuck
    await house.clock.advance(1)
    assert (await house.inspected(game_id)).game.stuck
    house.store.faults.clear()
    moved = awaited((await stream.next("snapshot")).decisions)
    assert moved.deadline_unix_ms >= START_MS + 75_000 + 10_000, "nobody loses a turn to an outage"
    await house.clock.advance(moved.deadline_unix_ms - house.clock.now_ms())
    await stream.next("update")
    assert not (await house.inspected(game_id)).game.stuck


async def test_nothing_hidden_is_in_any_answer(house: House) -> None:
    game_id = await house.engine.new_game(people(3))
    game = house.engine.service.registry.running()[0]
    stored = await house.store.game(game_id)
    assert stored is not None
    streams = [await (await house.engine.caller(f"p_{seat}")).play(game_id) for seat in range(3)]
    for stream in streams:
        await stream.next("attached")
    for running in (True, False):
        if not running:
            await house.engine.service.registry.end_as_void(game_id, "asked for")
        answers = [
            (await house.listed()).SerializeToString(),
            (await house.inspected(game_id)).SerializeToString(),
        ]
        for answer in answers:
            assert stored.secret not in answer
            assert stored.secret.hex().encode() not in answer
            assert bytes(game.table.state.deck) not in answer
            assert b"127.0.0.1" not in answer
            assert b"eyJ" not in answer, "a token"
            for holder in game.table.header.holders:
                assert holder.nonce
                assert holder.nonce not in answer
                assert holder.nonce.hex().encode() not in answer


async def test_an_unknown_game_is_not_found_and_a_page_has_a_limit(house: House) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.inspected("g_unknown")
    assert "GAME_NOT_FOUND" == reason_of(caught.value)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.listed(page_size=101)
    assert "INVALID_FIELD" == reason_of(caught.value)


async def test_new_games_are_paused_and_taken_again_while_others_go_on(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        operator = await engine.caller("o_1", "operator")
        game_id = await engine.new_game(people(2))
        for _ in range(2):
            await operator.operations.PauseNewGames(
                pb.PauseNewGamesRequest(), metadata=operator.metadata
            )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await engine.new_game(people(2))
        assert "PAUSED" == reason_of(caught.value)
        listed = await operator.operations.ListRunningGames(
            pb.ListRunningGamesRequest(), metadata=operator.metadata
        )
        assert not listed.takes_new_games
        decision = awaited((await (await engine.caller("p_0")).game(game_id)).decisions)
        mover = await engine.caller(f"p_{decision.seat}")
        rolled = await mover.submit(game_id, "c", decision.decision_id, **ROLL)
        assert 1 == rolled.accepted.seq
        await operator.operations.ResumeNewGames(
            pb.ResumeNewGamesRequest(), metadata=operator.metadata
        )
        await engine.new_game(people(2))
        await operator.operations.PauseNewGames(
            pb.PauseNewGamesRequest(), metadata=operator.metadata
        )
    async with running_engine(tmp_path) as engine:
        await engine.new_game(people(2))


async def test_a_drain_sends_streams_elsewhere_and_games_go_on(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        operator = await engine.caller("o_1", "operator")
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        stream = await caller.play(game_id)
        await stream.next("attached")
        service = await engine.caller("s_m", "service")
        facts: Any = service.allocation.WatchFacts(
            allocation_pb.WatchFactsRequest(consumer="test"), metadata=service.metadata
        )
        for streams in (1, 0):
            drained = await operator.operations.Drain(pb.DrainRequest(), metadata=operator.metadata)
            assert streams == drained.streams
            if streams:
                assert (await stream.next("draining")).retry_after_ms
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await stream.next("update")
                assert "DRAINING" == reason_of(caught.value)
        for refused in (caller.play(game_id), engine.new_game(people(2))):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await read_from(refused)
            assert grpc.StatusCode.UNAVAILABLE is caught.value.code()
        stub: Any = health_pb2_grpc.HealthStub(await engine.channel())
        serving = []
        for name in ("", "opolyx.engine.v1.EngineService"):
            health = await stub.Check(health_pb2.HealthCheckRequest(service=name))
            serving.append(health_pb2.HealthCheckResponse.SERVING == health.status)
        assert [True, False] == serving, "alive, and not ready"
        left = await caller.submit(game_id, "s", "", surrender=action_pb2.Surrender())
        assert left.HasField("accepted")
        async with asyncio.timeout(10):
            told = await facts.read()
        assert "seat_released" == told.facts[0].WhichOneof("kind")
        facts.cancel()


async def read_from(opening: Any) -> None:
    stream = await opening
    await stream.call.read()
