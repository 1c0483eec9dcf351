"""A store that stalls or fails, and bugs in a game: nothing that isn't stored is ever shown."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import refusal_pb2
from opolyx_rules import policies
from opolyx_rules.verification import verify
from support_bad_store import BadStores
from support_engine import ROLL, Caller, awaited, built_in, people, running_engine


async def submit_until_judged(
    caller: Caller, game_id: str, command_id: str, decision: str
) -> pb.CommandResult:
    """Send a roll again with the same id as long as the answer is to retry."""
    while True:
        result = await caller.submit(game_id, command_id, decision, **ROLL)
        if not result.HasField("retry"):
            return result
        await asyncio.sleep(result.retry.retry_after_ms / 1_000)


@pytest.mark.parametrize("fault", ["busy", "lost", "late"])
async def test_a_failed_append_is_shown_to_nobody_and_the_retry_counts_once(
    tmp_path: Path, fault: str
) -> None:
    faults = BadStores()
    async with running_engine(tmp_path, wrap=faults, store_retry_ms=20) as engine:
        game_id = await engine.new_game(people(2))
        watcher = await (await engine.caller("p_w")).play(game_id, spectator=True)
        await watcher.next("attached")
        reader = await engine.caller("p_0")
        decision = awaited((await reader.game(game_id)).decisions)
        roller = await engine.caller(f"p_{decision.seat}")
        faults.store.faults = [fault]
        first = await roller.submit(game_id, "c", decision.decision_id, **ROLL)
        assert 20 == first.retry.retry_after_ms
        if fault != "late":
            assert 0 == (await reader.game(game_id)).seq
            assert [] == await watcher.drained()
        result = await submit_until_judged(roller, game_id, "c", decision.decision_id)
        assert 1 == result.accepted.seq
        assert 1 == (await watcher.next("update")).seq
        assert 1 == (await reader.game(game_id)).seq


async def test_a_store_that_fails_every_fifth_write_loses_nothing(tmp_path: Path) -> None:
    faults = BadStores()
    async with running_engine(tmp_path, wrap=faults, store_retry_ms=1) as engine:
        watcher = await (await engine.caller("p_w")).play()
        seats = [built_in(seat, "random") for seat in range(3)]
        faults.store.every = 5
        game_id = await engine.new_game(seats, round_cap=4)
        await watcher.send(attach=pb.Attach(game_id=game_id, after_seq=0, spectator=True))
        seqs = [0]
        while True:
            update = await watcher.next("update")
            assert seqs[-1] + 1 == update.seq
            seqs.append(update.seq)
            if update.state == pb.GAME_STATE_FINISHED:
                break
        data, complete = await (await engine.caller("p_r")).replay(game_id)
        assert complete
        assert "" == verify(data).problem


async def test_a_slow_store_makes_one_game_wait_and_not_the_others(tmp_path: Path) -> None:
    faults = BadStores()
    async with running_engine(tmp_path, wrap=faults) as engine:
        games = [await engine.new_game(people(2)) for _ in range(20)]
        faults.store.writable.clear()

        async def roll(game_id: str) -> pb.CommandResult:
            reader = await engine.caller("p_0")
            decision = awaited((await reader.game(game_id)).decisions)
            caller = await engine.caller(f"p_{decision.seat}")
            return await caller.submit(game_id, "c", decision.decision_id, **ROLL)

        rolling = asyncio.gather(*(roll(game_id) for game_id in games))
        for _ in range(2_000):
            if faults.store.appends == len(games):
                break
            await asyncio.sleep(0.005)
        assert len(games) == faults.store.appends, "none waits for another's write"
        faults.store.writable.set()
        assert {1} == {result.accepted.seq for result in await rolling}


async def test_a_bug_ends_its_own_game_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_engine(tmp_path) as engine:
        bad, good = [await engine.new_game(people(2)) for _ in range(2)]
        reader = await engine.caller("p_0")
        stream = await reader.play(bad)
        await stream.next("attached")
        decision = awaited((await reader.game(bad)).decisions)
        roller = await engine.caller(f"p_{decision.seat}")

        def broken(*arguments: Any) -> None:
            raise RuntimeError("a bug")

        with monkeypatch.context() as patched:
            patched.setattr("opolyx_rules.engine.apply", broken)
            result = await roller.submit(bad, "c", decision.decision_id, **ROLL)
            assert result.HasField("retry")
            assert pb.GAME_STATE_VOID == (await stream.next("snapshot")).state
            assert pb.DETACH_REASON_FAULT == (await stream.next("detached")).reason
        again = await roller.submit(bad, "c", decision.decision_id, **ROLL)
        assert refusal_pb2.REFUSAL_REASON_GAME_VOID == again.refusal.reason
        assert ["game_voided"] == [fact.fact.kind for fact in await engine.store.facts(0, 10)]
        assert good == engine.service.registry.running()[0].game_id
        decision = awaited((await reader.game(good)).decisions)
        roller = await engine.caller(f"p_{decision.seat}")
        result = await roller.submit(good, "c", decision.decision_id, **ROLL)
        assert 1 == result.accepted.seq


async def test_a_policy_that_fails_does_not_stop_its_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setitem(policies.POLICIES, "random", broken)
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game([built_in(0, "random"), built_in(1)], round_cap=2)
        stream = await (await engine.caller("p_w")).play(game_id, spectator=True, after_seq=0)
        while (await stream.next("update")).state == pb.GAME_STATE_RUNNING:
            pass


async def test_a_command_refused_by_a_full_inbox_is_to_be_sent_again(tmp_path: Path) -> None:
    faults = BadStores()
    async with running_engine(tmp_path, wrap=faults, most_waiting_commands=2) as engine:
        game_id = await engine.new_game(people(2))
        decision = awaited((await (await engine.caller("p_0")).game(game_id)).decisions)
        faults.store.delay_s = 0.2
        stream = await (await engine.caller(f"p_{decision.seat}")).play(game_id)
        for number in range(5):
            await stream.command(game_id, f"c{number}", decision.decision_id, **ROLL)
        results = [await stream.next("command_result") for _ in range(5)]
        outcomes = [result.WhichOneof("outcome") for result in results]
        assert 1 == outcomes.count("accepted")
        assert 2 <= outcomes.count("retry") <= 3
