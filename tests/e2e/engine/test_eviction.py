"""Games in which nothing goes on leave memory, and nobody can tell: neither a player nor a clock."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from opolyx.engine.v1 import action_pb2, refusal_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import operations_service_pb2 as operations_pb
from opolyx_servicekit.wall_clock import ManualClock
from support_bad_store import BadStore, BadStores
from support_engine import (
    ROLL,
    START_MS,
    Caller,
    Engine,
    Stream,
    awaited,
    built_in,
    people,
    person,
    running_engine,
)
from support_waiting import until

IDLE_MS = 20_000
SURRENDER: dict[str, Any] = {"surrender": action_pb2.Surrender()}


@dataclass
class House:
    """An engine on a clock that is moved by hand, with a store that can stall."""

    engine: Engine
    clock: ManualClock
    store: BadStore

    def value(self, name: str, ruleset: str = "") -> float:
        labels = {"ruleset": ruleset} if ruleset else {}
        found = self.engine.service.metrics.registry.get_sample_value(name, labels)
        return -1 if found is None else found

    def resident(self) -> list[str]:
        return [game.game_id for game in self.engine.service.registry.running()]

    def resting(self) -> list[str]:
        return list(self.engine.service.registry.resting())

    async def let_rest(self) -> None:
        await self.clock.advance(IDLE_MS + IDLE_MS // 4)

    async def opened(self, **options: Any) -> tuple[str, list[Caller], pb.Snapshot]:
        game_id = await self.engine.new_game(people(2), **options)
        callers = [await self.engine.caller(f"p_{seat}") for seat in range(2)]
        return game_id, callers, await callers[0].game(game_id)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock, stores = ManualClock(START_MS), BadStores()
    async with running_engine(
        tmp_path, clock=clock, wrap=stores, idle_evict_ms=IDLE_MS, store_retry_ms=10
    ) as engine:
        yield House(engine, clock, stores.store)


def essence(snapshot: pb.Snapshot) -> pb.Snapshot:
    """All of a snapshot but when it was made."""
    copy = pb.Snapshot()
    copy.CopyFrom(snapshot)
    copy.now_unix_ms = 0
    return copy


async def test_an_idle_game_leaves_memory_and_comes_back_as_it_was(house: House) -> None:
    game_id, callers, before = await house.opened()
    kept = weakref.ref(house.engine.service.registry.running()[0])
    assert 1 == house.value("opolyx_active_games", "classic@full")
    await house.clock.advance(IDLE_MS - 1)
    assert [game_id] == house.resident()
    await house.clock.advance(IDLE_MS // 4)
    assert ([], [game_id]) == (house.resident(), house.resting())
    assert 0 == house.value("opolyx_active_games", "classic@full")
    assert 1 == house.value("opolyx_evicted_games", "classic@full")
    assert 1 == house.value("opolyx_game_evictions_total")
    await until(lambda: gc.collect() and kept() is None)
    assert essence(before) == essence(await callers[0].game(game_id))
    assert ([game_id], []) == (house.resident(), house.resting())
    assert 0 == house.value("opolyx_evicted_games", "classic@full")


@pytest.mark.rule("CLOCK-5")
async def test_its_clock_wakes_it_at_the_stored_deadline_and_gives_nobody_time(
    house: House,
) -> None:
    game_id, callers, before = await house.opened()
    late = awaited(before.decisions).seat
    await house.let_rest()
    await house.clock.advance(START_MS + 74_999 - house.clock.now_ms())
    assert [game_id] == house.resting()
    await house.clock.advance(1)
    await until(partial(_has_moved, house, 1))
    after = await callers[0].game(game_id)
    assert (1, 1) == (after.seq, after.view.players[late].missed_turns)
    now = awaited(after.decisions)
    assert (1 - late, START_MS + 150_000) == (now.seat, now.deadline_unix_ms)


async def test_a_game_that_nobody_plays_ends_though_it_rests_between_its_turns(
    house: House,
) -> None:
    game_id, _, _ = await house.opened()
    for turn in range(3):
        await house.let_rest()
        assert [game_id] == house.resting(), turn
        due_ms = START_MS + (turn + 1) * 75_000
        assert due_ms == house.engine.service.registry.resting()[game_id].alarm.next_due_ms
        await house.clock.advance(due_ms - house.clock.now_ms())
        await until(partial(_has_moved, house, turn + 1))
    await until(lambda: not house.resident())
    stored = await house.store.game(game_id)
    assert stored is not None
    assert (3, 2) == (stored.seq, stored.state)
    facts = [fact.fact.kind for fact in await house.store.facts(0, 10)]
    assert ["seat_released", "seat_released", "game_finished"] == facts


def _has_moved(house: House, seq: int) -> bool:
    """Whether the one game is at `seq`, in memory or resting, or over."""
    resting = [rested.seq for rested in house.engine.service.registry.resting().values()]
    seqs = [game.table.seq for game in house.engine.service.registry.running()] + resting
    return not house.engine.service.registry.coming() and (not seqs or seqs[0] >= seq)


def _seq(house: House) -> int:
    return house.engine.service.registry.running()[0].table.seq


async def test_a_command_brings_it_back_and_counts_once(house: House) -> None:
    game_id, callers, before = await house.opened()
    decision = awaited(before.decisions)
    await house.let_rest()
    caller = callers[decision.seat]
    first = await caller.submit(game_id, "c", decision.decision_id, **ROLL)
    assert 1 == first.accepted.seq
    await house.let_rest()
    assert [game_id] == house.resting()
    assert first == await caller.submit(game_id, "c", decision.decision_id, **ROLL)
    other = await caller.submit(game_id, "c", decision.decision_id, **SURRENDER)
    assert refusal_pb2.REFUSAL_REASON_COMMAND_ID_REUSED == other.refusal.reason
    assert 1 == (await caller.game(game_id)).seq


@pytest.mark.rule("CLOCK-5")
@pytest.mark.parametrize("late_ms", [-1, 0])
async def test_a_command_counts_by_when_it_came_however_long_the_game_takes_to_come_back(
    house: House, late_ms: int
) -> None:
    game_id, callers, before = await house.opened()
    decision = awaited(before.decisions)
    await house.let_rest()
    house.store.reads.clear()
    house.store.readable.clear()
    await house.clock.advance(decision.deadline_unix_ms + late_ms - house.clock.now_ms())
    stream = await callers[decision.seat].play()
    await stream.command(game_id, "c", decision.decision_id, **ROLL)
    await until(lambda: house.store.reads[game_id])
    await house.clock.advance(30_000)
    house.store.readable.set()
    result = await stream.result("c")
    assert (late_ms < 0) == result.HasField("accepted")
    await until(lambda: _seq(house) == 1)
    missed = (await callers[0].game(game_id)).view.players[decision.seat].missed_turns
    assert (0 if late_ms < 0 else 1) == missed


async def test_many_who_ask_at_once_load_it_once_and_all_are_served(house: House) -> None:
    game_id, callers, before = await house.opened()
    decision = awaited(before.decisions)
    await house.let_rest()
    house.store.reads.clear()
    house.store.readable.clear()
    stream = await callers[0].play(game_id, after_seq=0)
    trade = pb.CheckTradeRequest(
        game_id=game_id, trade=action_pb2.ProposeTrade(recipient=1, give_cash=10, want_cash=10)
    )
    asked: Any = asyncio.gather(
        callers[1].game(game_id),
        callers[0].engine.CheckTrade(trade, metadata=callers[0].metadata),
        callers[decision.seat].submit(game_id, "c", decision.decision_id, **ROLL),
        callers[1 - decision.seat].submit(game_id, "s", "x", **ROLL),
    )
    await until(lambda: house.store.reads[game_id])
    await asyncio.sleep(0.05)
    house.store.readable.set()
    _, verdict, rolled, stale = await asyncio.wait_for(asked, 10)
    assert 1 == house.store.reads[game_id]
    assert verdict.give_value == verdict.want_value == 10
    assert 1 == rolled.accepted.seq
    assert stale.HasField("refusal")
    assert 1 == (await stream.next("update")).seq


async def test_who_receives_a_game_keeps_it_in_memory(house: House) -> None:
    game_id, callers, _ = await house.opened(turn_seconds=600)
    stream = await callers[0].play(game_id)
    await stream.next("attached")
    await house.let_rest()
    await house.let_rest()
    assert [game_id] == house.resident()
    stream.call.cancel()
    game = house.engine.service.registry.running()[0]
    await until(lambda: not len(game.hub))
    await house.clock.advance(IDLE_MS - IDLE_MS // 4)
    assert [game_id] == house.resident(), "its time begins when the last one leaves"
    await house.clock.advance(IDLE_MS // 2)
    assert [game_id] == house.resting()


async def test_a_game_with_something_under_way_stays(house: House) -> None:
    game_id, callers, before = await house.opened()
    decision = awaited(before.decisions)
    house.store.delay_s = 0.3
    answer = asyncio.create_task(
        callers[decision.seat].submit(game_id, "c", decision.decision_id, **ROLL)
    )
    await until(lambda: house.store.appends)
    await house.let_rest()
    assert [game_id] == house.resident()
    assert 1 == (await answer).accepted.seq


async def test_a_step_that_may_be_stored_or_not_keeps_its_game_in_memory(house: House) -> None:
    game_id, callers, before = await house.opened()
    decision = awaited(before.decisions)
    house.store.faults = ["late"]
    game = house.engine.service.registry.running()[0]
    game._tools.settings.__dict__["store_retry_ms"] = 300
    await callers[decision.seat].submit(game_id, "c", decision.decision_id, **ROLL)
    await house.let_rest()
    assert [game_id] == house.resident()
    await until(lambda: _seq(house) == 1)


async def test_a_game_waits_for_its_bots_in_memory(tmp_path: Path) -> None:
    clock = ManualClock(START_MS)
    async with running_engine(
        tmp_path, clock=clock, idle_evict_ms=1_000, bot_think_ms=3_600_000
    ) as engine:
        await engine.new_game([built_in(0), built_in(1)])
        registry = engine.service.registry
        await until(lambda: engine.service._bots.busy(registry.running()[0]))
        await clock.advance(60_000)
        assert (1, 0) == (len(registry.running()), len(registry.resting()))


async def test_deadlines_that_only_memory_knows_keep_their_game_there(tmp_path: Path) -> None:
    async with running_engine(tmp_path, clock=ManualClock(START_MS)) as engine:
        game_id = await engine.new_game(people(2))
    clock = ManualClock(START_MS + 74_000)
    async with running_engine(tmp_path, clock=clock, idle_evict_ms=1_000) as engine:
        registry = engine.service.registry
        await clock.advance(9_999)
        assert [game_id] == [game.game_id for game in registry.running()]
        assert START_MS + 84_000 == registry.running()[0].next_due_ms
        await clock.advance(1)
        await until(lambda: registry.resting() or registry.running()[0].table.seq == 1)
        await clock.advance(2_000)
        assert [game_id] == list(registry.resting())


@pytest.mark.rule("CLOCK-5")
async def test_a_clock_that_is_due_while_the_store_is_away_waits_for_who_could_not_act(
    house: House,
) -> None:
    game_id, callers, before = await house.opened()
    late = awaited(before.decisions).seat
    await house.let_rest()
    house.store.failing_reads = 4
    await house.clock.advance(75_000)
    await until(house.resident)
    game = house.engine.service.registry.running()[0]
    grace_ms = house.engine.service.registry._tools.settings.restart_grace_ms
    assert house.clock.now_ms() + grace_ms == game.next_due_ms
    await house.clock.advance(grace_ms - 1)
    assert 0 == game.table.seq
    await house.clock.advance(1)
    await until(lambda: _seq(house) == 1)
    assert 1 == (await callers[0].game(game_id)).view.players[late].missed_turns
    assert not house.engine.service.registry.coming()


async def test_a_game_that_the_store_cannot_give_when_it_is_due_counts_as_stuck(
    house: House,
) -> None:
    game_id, _, _ = await house.opened()
    operator = await house.engine.caller("o", "operator")
    await house.let_rest()
    house.store.failing_reads = 1 << 30
    await house.clock.advance(START_MS + 105_000 - house.clock.now_ms())
    house.engine.service._sweep.count_stuck()
    assert 0 == house.value("opolyx_stuck_games")
    await house.clock.advance(1)
    house.engine.service._sweep.count_stuck()
    assert 1 == house.value("opolyx_stuck_games")
    assert [game_id] == list(house.engine.service.registry.coming())
    house.store.failing_reads = 0
    await until(lambda: not house.resting())
    listed = await operator.operations.ListRunningGames(
        operations_pb.ListRunningGamesRequest(only_stuck=True), metadata=operator.metadata
    )
    assert [] == list(listed.games)


async def test_the_list_of_games_and_facts_know_no_difference(house: House) -> None:
    game_id, callers, _ = await house.opened()
    awake = await games(callers[0])
    await house.let_rest()
    assert awake == await games(callers[0])
    assert [game_id] == house.resting(), "a list wakes nothing"
    assert 1 == awake[0].round
    left = await callers[0].submit(game_id, "s", "", **SURRENDER)
    assert left.HasField("accepted")
    facts = [fact.fact.kind for fact in await house.store.facts(0, 10)]
    assert ["seat_released", "seat_released", "game_finished"] == facts


async def games(caller: Caller) -> list[pb.GameSummary]:
    page = await caller.engine.ListGames(pb.ListGamesRequest(), metadata=caller.metadata)
    return list(page.games)


async def test_a_watch_stream_brings_it_back_and_an_operator_can_end_it(house: House) -> None:
    game_id, callers, _ = await house.opened(turn_seconds=600)
    await house.let_rest()
    call: Any = callers[0].engine.WatchGame(
        pb.WatchGameRequest(game_id=game_id), metadata=callers[0].metadata
    )
    assert 0 == (await Stream(call).next("snapshot")).seq
    call.cancel()
    game = house.engine.service.registry.running()[0]
    await until(lambda: not len(game.hub))
    await house.let_rest()
    await house.let_rest()
    assert [game_id] == house.resting()
    assert 3 == await house.engine.service.registry.end_as_void(game_id, "asked for")
    assert ([], []) == (house.resident(), house.resting())


async def test_resting_all_the_time_a_game_is_played_alike_to_its_end(tmp_path: Path) -> None:
    """Two games of the same seed, one of which is put away after every answer."""
    logs = []
    for restless in (False, True):
        directory = tmp_path / str(restless)
        directory.mkdir()
        async with running_engine(directory, clock=ManualClock(START_MS)) as engine:
            registry = engine.service.registry
            game_id = await engine.new_game([person(0), built_in(1, "random")], round_cap=12)
            caller = await engine.caller("p_0")
            while (snapshot := await caller.game(game_id)).state == pb.GAME_STATE_RUNNING:
                if awaited(snapshot.decisions).seat == 0:
                    await answer_first(caller, game_id, snapshot)
                    running = registry.find_running(game_id)
                    if restless and running is not None:
                        registry.rest(running)
                else:
                    await asyncio.sleep(0.002)
            data, complete = await caller.replay(game_id)
            assert complete
            logs.append(data)
            evictions = engine.service.metrics.evictions._value.get()
            assert (evictions > 3) == restless
    assert logs[0] == logs[1]


async def answer_first(caller: Caller, game_id: str, snapshot: pb.Snapshot) -> None:
    decision = awaited(snapshot.decisions)
    command = pb.Command(
        game_id=game_id,
        command_id=decision.decision_id,
        decision_id=decision.decision_id,
        action=decision.legal_actions[0],
    )
    await caller.engine.SubmitCommand(
        pb.SubmitCommandRequest(command=command), metadata=caller.metadata
    )
