"""Clocks of every kind of prompt outlive a crash; time is moved by hand."""

import asyncio
from pathlib import Path

import pytest

from opolyx.engine.v1 import decision_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_rules.verification import verify
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import START_MS, Engine, awaited, people, running_engine
from support_phases import until_phase

GRACE_MS = 10_000


async def skips(engine: Engine, game_id: str, after_seq: int) -> list[int]:
    """Seats for which the clock has acted after an update, from the log."""
    data, _ = await (await engine.caller("p_r")).replay(game_id)
    assert "" == verify(data).problem
    stream = await (await engine.caller("p_r")).play(game_id, after_seq=after_seq, spectator=True)
    frames = await stream.drained()
    return [
        event.clock_ran_out.seat
        for frame in frames
        if frame.HasField("update")
        for event in frame.update.events
        if event.HasField("clock_ran_out")
    ]


PROMPTS = [
    (decision_pb2.PHASE_ROLL, 75_000, 40_000),
    (decision_pb2.PHASE_AUCTION, 10_000, 4_000),
    (decision_pb2.PHASE_PAYMENT, 75_000, 40_000),
]


@pytest.mark.parametrize(("phase", "seconds_ms", "crash_ms"), PROMPTS)
@pytest.mark.parametrize("back_ms", [60_000, 100_000])
async def test_a_prompt_goes_on_where_it_was_and_the_clock_acts_once(
    tmp_path: Path,
    phase: decision_pb2.Phase.ValueType,
    seconds_ms: int,
    crash_ms: int,
    back_ms: int,
) -> None:
    """Case A-27: crash in a prompt of 75 or 10 s, back after 60 or 100 s, nobody connected."""
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock) as engine:
        game_id = await engine.new_game(people(2), start_cash=4_000, round_cap=300)
        await until_phase(engine, game_id, phase)
        before = await (await engine.caller("p_r")).game(game_id)
        due_ms = awaited(before.decisions).deadline_unix_ms
        assert START_MS + seconds_ms == due_ms
        await clock.advance(crash_ms)
    clock = ManualClock(START_MS + back_ms)
    async with running_engine(tmp_path, clock=clock) as engine:
        reader = await engine.caller("p_r")
        back = await reader.game(game_id)
        decision = awaited(back.decisions)
        assert (before.seq, before.log_digest) == (back.seq, back.log_digest)
        assert awaited(before.decisions).decision_id == decision.decision_id
        assert max(due_ms, clock.now_ms() + GRACE_MS) == decision.deadline_unix_ms
        await clock.advance(decision.deadline_unix_ms - clock.now_ms() - 1)
        assert back.seq == (await reader.game(game_id)).seq
        await clock.advance(1)
        async with asyncio.timeout(10):
            while (after := await reader.game(game_id)).seq == back.seq:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert back.seq + 1 == after.seq
        assert [decision.seat] == await skips(engine, game_id, back.seq)
        if after.state == pb.GAME_STATE_RUNNING:
            now = awaited(after.decisions)
            assert now.deadline_unix_ms - after.now_unix_ms in (10_000, 75_000), "a full clock"
