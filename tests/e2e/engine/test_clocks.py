"""Deadlines: shown, exact, and alive after a restart. Time is moved by hand."""

import asyncio
import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from opolyx.engine.v1 import action_pb2, refusal_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import ROLL, START_MS, Caller, Engine, awaited, people, running_engine


async def opened(engine: Engine, count: int = 2) -> tuple[str, list[Caller], pb.Snapshot]:
    game_id = await engine.new_game(people(count))
    callers = [await engine.caller(f"p_{seat}") for seat in range(count)]
    return game_id, callers, await callers[0].game(game_id)


async def until(
    caller: Caller, game_id: str, condition: Callable[[pb.Snapshot], bool]
) -> pb.Snapshot:
    """The game once it is as wanted; the store works in real time."""
    for _ in range(500):
        snapshot = await caller.game(game_id)
        if condition(snapshot):
            return snapshot
        await asyncio.sleep(0.01)
    raise AssertionError("the game did not get there")


def is_at(seq: int, game: pb.Snapshot) -> bool:
    return game.seq == seq


@pytest.mark.statement("R173")
async def test_a_step_has_its_seconds_and_its_deadline_is_shown(tmp_path: Path) -> None:
    async with running_engine(tmp_path, clock=ManualClock(START_MS)) as engine:
        _game_id, _callers, before = await opened(engine)
        assert START_MS == before.now_unix_ms
        assert START_MS + 75_000 == awaited(before.decisions).deadline_unix_ms


@pytest.mark.parametrize(("wait_ms", "taken"), [(74_999, True), (75_000, False), (75_001, False)])
async def test_a_command_counts_before_its_deadline_and_not_at_it(
    tmp_path: Path, wait_ms: int, taken: bool
) -> None:
    """Case A-21: a roll 1 ms before the deadline, at it, and 1 ms after it."""
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock) as engine:
        game_id, callers, before = await opened(engine)
        decision = awaited(before.decisions)
        clock._now_ms += wait_ms  # no timer has fired yet
        result = await callers[decision.seat].submit(game_id, "c", decision.decision_id, **ROLL)
        assert taken == result.HasField("accepted")
        if not taken:
            assert result.refusal.reason in (
                refusal_pb2.REFUSAL_REASON_DEADLINE_PASSED,
                refusal_pb2.REFUSAL_REASON_STALE_DECISION,
            )
        after = await until(callers[0], game_id, lambda game: game.seq == 1)
        missed = after.view.players[decision.seat].missed_turns
        assert (0 if taken else 1) == missed
        await clock.advance(10)
        assert 1 == (await callers[0].game(game_id)).seq


async def test_the_clock_skips_who_does_not_move_and_the_next_gets_a_full_clock(
    tmp_path: Path,
) -> None:
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock) as engine:
        game_id, callers, before = await opened(engine)
        late = awaited(before.decisions).seat
        stream = await callers[0].play(game_id)
        await stream.next("attached")
        await clock.advance(75_000)
        update = await stream.next("update")
        assert not update.HasField("actor")
        kinds = [event.WhichOneof("kind") for event in update.events]
        assert "clock_ran_out" in kinds
        assert "turn_skipped" in kinds
        now = awaited(update.decisions)
        assert 1 - late == now.seat
        assert START_MS + 150_000 == now.deadline_unix_ms


@pytest.mark.statement("R130", "R182")
async def test_building_and_trading_restart_no_clock_and_offers_lapse(tmp_path: Path) -> None:
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock) as engine:
        game_id, callers, before = await opened(engine)
        decision = awaited(before.decisions)
        await clock.advance(5_000)
        trade = action_pb2.ProposeTrade(
            recipient=1 - decision.seat, give_cash=1_000, want_cash=1_000
        )
        made = await callers[decision.seat].submit(
            game_id, "c", decision.decision_id, propose_trade=trade
        )
        assert made.HasField("accepted")
        after = await callers[0].game(game_id)
        deadlines = {d.decision_id[0]: d.deadline_unix_ms for d in after.decisions}
        assert {"d": START_MS + 75_000, "o": START_MS + 65_000} == deadlines
        await clock.advance(60_000)
        lapsed = await until(callers[0], game_id, lambda game: game.seq == 2)
        assert not lapsed.view.offers
        assert START_MS + 75_000 == awaited(lapsed.decisions).deadline_unix_ms


async def test_missing_turns_in_a_row_ends_the_game(tmp_path: Path) -> None:
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock) as engine:
        game_id, callers, _before = await opened(engine)
        seq = 0
        while (await callers[0].game(game_id)).state == pb.GAME_STATE_RUNNING:
            seq += 1
            await clock.advance(75_000)
            await until(callers[0], game_id, functools.partial(is_at, seq))
        assert 3 == seq


@pytest.mark.parametrize(
    ("down_ms", "left_ms"), [(40_000, 35_000), (70_000, 10_000), (100_000, 10_000)]
)
async def test_deadlines_outlive_a_restart_and_leave_at_least_ten_seconds(
    tmp_path: Path, down_ms: int, left_ms: int
) -> None:
    async with running_engine(tmp_path, clock=ManualClock(START_MS)) as engine:
        game_id, _callers, before = await opened(engine)
    late = awaited(before.decisions).seat
    clock = ManualClock(START_MS + down_ms)
    async with running_engine(tmp_path, clock=clock) as engine:
        caller = await engine.caller("p_0")
        snapshot = await caller.game(game_id)
        left = awaited(snapshot.decisions).deadline_unix_ms - snapshot.now_unix_ms
        assert left_ms == left
        await clock.advance(left_ms)
        after = await until(caller, game_id, lambda game: game.seq == 1)
        now = awaited(after.decisions)
        assert 1 == after.view.players[late].missed_turns
        assert (1 - late, 75_000) == (now.seat, now.deadline_unix_ms - after.now_unix_ms)


async def test_exactly_one_of_the_move_and_the_clock_takes_effect(tmp_path: Path) -> None:
    """Case A-21: roll and timer in one tick."""
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock, commands_per_second=10_000) as engine:
        for number in range(60):
            game_id, callers, before = await opened(engine)
            decision = awaited(before.decisions)
            stream = await callers[decision.seat].play(game_id)
            await stream.next("attached")
            await clock.advance(decision.deadline_unix_ms - clock.now_ms() - 1)
            await stream.command(game_id, "c", decision.decision_id, **ROLL)
            for _ in range(number % 12):
                await asyncio.sleep(0)
            await clock.advance(1)
            result = await stream.result("c")
            after = await until(callers[0], game_id, lambda game: game.seq >= 1)
            missed = after.view.players[decision.seat].missed_turns
            assert (1, 0 if result.HasField("accepted") else 1) == (after.seq, missed)
            for caller in callers:
                await caller.channel.close()
