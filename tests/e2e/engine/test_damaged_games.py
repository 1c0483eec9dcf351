"""Games whose stored log can't be followed are held; the others are served."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1.error_pb2 import ERROR_REASON_GAME_FAULT
from opolyx_engine.store.base import VOID
from opolyx_servicekit.wall_clock import ManualClock
from support_bad_store import BadStores
from support_engine import ROLL, START_MS, Caller, Engine, awaited, people, running_engine


async def roll(engine: Engine, game_id: str) -> None:
    decision = awaited((await (await engine.caller("p_0")).game(game_id)).decisions)
    mover = await engine.caller(f"p_{decision.seat}")
    result = await mover.submit(game_id, "c", decision.decision_id, **ROLL)
    assert 1 == result.accepted.seq


def damage(directory: Path, game_id: str, statement: str) -> None:
    with sqlite3.connect(directory / "engine.db") as db:
        assert db.execute(statement, (game_id,)).rowcount
    db.close()


DAMAGES = {
    "another action": "UPDATE engine_records SET body ="
    " CAST(replace(CAST(body AS TEXT), '[1,', '[24,') AS BLOB) WHERE game_id = ? AND seq = 1",
    "no json": "UPDATE engine_records SET body = x'7b0a' WHERE game_id = ? AND seq = 1",
    "unknown ruleset": "UPDATE engine_games SET header ="
    " CAST(replace(CAST(header AS TEXT), 'classic@full', 'chess@full') AS BLOB) WHERE game_id = ?",
    "last record lost": "DELETE FROM engine_records WHERE game_id = ? AND seq = 1",
    "no header": "UPDATE engine_games SET header = x'7b' WHERE game_id = ?",
}


@pytest.mark.parametrize("kind", list(DAMAGES))
async def test_a_damaged_game_is_held_and_the_others_are_served(tmp_path: Path, kind: str) -> None:
    async with running_engine(tmp_path) as engine:
        bad, good = [await engine.new_game(people(2)) for _ in range(2)]
        await roll(engine, bad)
    damage(tmp_path, bad, DAMAGES[kind])
    async with running_engine(tmp_path) as engine:
        caller = await engine.caller("p_0")
        stream = await caller.play(bad)
        assert pb.DETACH_REASON_FAULT == (await stream.next("detached")).reason
        await stream.command(bad, "x", "d1", **ROLL)
        assert ERROR_REASON_GAME_FAULT == (await stream.result("x")).retry.reason
        await stream.send(attach=pb.Attach(game_id=good))
        await stream.next("attached")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await caller.game(bad)
        assert grpc.StatusCode.FAILED_PRECONDITION is caught.value.code()
        await roll(engine, good)
        request_all = pb.ListGamesRequest()
        listed = await caller.engine.ListGames(request_all, metadata=caller.metadata)
        assert [good] == [game.game_id for game in listed.games], "what can be watched"
        assert [bad, good] == await engine.store.running(), "nothing is given up by itself"
        operator = await engine.caller("o", "operator")
        request = allocation_pb.EndGameRequest(game_id=bad, reason="damaged")
        for _ in range(2):
            ended = await operator.allocation.EndGame(request, metadata=operator.metadata)
            assert pb.GAME_STATE_VOID == ended.state
        stored = await engine.store.game(bad)
        assert stored is not None
        assert (VOID, "damaged") == (stored.state, stored.end_reason)
        fact = (await engine.store.facts(0, 10))[-1]
        assert ("game_voided", bad) == (fact.fact.kind, fact.game_id)
        if kind != "no header":
            assert b"p_1" in fact.fact.body


async def test_games_are_listed_though_one_is_damaged_and_not_held_yet(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        bad, good = [await engine.new_game(people(2)) for _ in range(2)]
    damage(tmp_path, bad, DAMAGES["no header"])
    async with running_engine(tmp_path, wrap=BadStores(failing_reads=1_000)) as engine:
        caller = await engine.caller("p_0")
        request = pb.ListGamesRequest()
        listed = await caller.engine.ListGames(request, metadata=caller.metadata)
        assert [good] == [game.game_id for game in listed.games]


async def test_a_replay_whose_records_went_missing_ends_with_an_error(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        await roll(engine, game_id)
        damage(tmp_path, game_id, DAMAGES["last record lost"])
        caller = await engine.caller("p_0")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await asyncio.wait_for(caller.replay(game_id), 5)
        assert grpc.StatusCode.FAILED_PRECONDITION is caught.value.code()


async def test_a_game_that_cannot_be_read_at_the_start_is_taken_up_later(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        games = [await engine.new_game(people(2)) for _ in range(3)]
    wrapped = BadStores(failing_reads=4)
    async with running_engine(tmp_path, wrap=wrapped, store_retry_ms=10) as engine:
        for _ in range(200):
            if len(engine.service.registry.running()) == 3:
                break
            await asyncio.sleep(0.01)
        found = {game.game_id for game in engine.service.registry.running()}
        assert set(games) == found


async def test_a_fault_is_shown_only_once_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped = BadStores()
    async with running_engine(tmp_path, wrap=wrapped, store_retry_ms=50) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        stream = await caller.play(game_id)
        await stream.next("attached")
        decision = awaited((await caller.game(game_id)).decisions)
        mover = await engine.caller(f"p_{decision.seat}")
        wrapped.store.failing_ends = 3  # the last of them is stored all the same

        def broken(*arguments: Any) -> None:
            raise RuntimeError("a bug")

        with monkeypatch.context() as patched:
            patched.setattr("opolyx_engine.rpc.frame_encoder.fill_delta", broken)
            result = await mover.submit(game_id, "c", decision.decision_id, **ROLL)
            assert result.HasField("retry")
        snapshot = await caller.game(game_id)
        assert (1, pb.GAME_STATE_RUNNING) == (snapshot.seq, snapshot.state)
        assert pb.GAME_STATE_VOID == (await stream.next("snapshot")).state
        stored = await engine.store.game(game_id)
        assert stored is not None
        assert (VOID, 1) == (stored.state, stored.seq)
        assert pb.DETACH_REASON_FAULT == (await stream.next("detached")).reason
        facts = await engine.store.facts(0, 10)
        assert ["game_voided"] == [fact.fact.kind for fact in facts]
        assert 1 == engine.service.metrics.faults._value.get()


async def test_a_watch_stream_ends_with_its_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        call: Any = caller.engine.WatchGame(
            pb.WatchGameRequest(game_id=game_id), metadata=caller.metadata
        )
        await call.read()

        def broken(*arguments: Any) -> None:
            raise RuntimeError("a bug")

        with monkeypatch.context() as patched:
            patched.setattr("opolyx_rules.engine.apply", broken)
            decision = awaited((await caller.game(game_id)).decisions)
            mover = await engine.caller(f"p_{decision.seat}")
            await mover.submit(game_id, "c", decision.decision_id, **ROLL)
        kinds: list[str] = []
        async with asyncio.timeout(5):
            while (response := await call.read()) is not grpc.aio.EOF:
                kinds += [str(frame.WhichOneof("kind")) for frame in response.frames]
        assert "detached" == kinds[-1]


@pytest.mark.parametrize("down_ms", [0, 74_000])
async def test_who_comes_back_up_to_date_learns_the_deadlines_after_an_outage(
    tmp_path: Path, down_ms: int
) -> None:
    async with running_engine(tmp_path, clock=ManualClock(START_MS)) as engine:
        game_id = await engine.new_game(people(2))
        await roll(engine, game_id)
    clock = ManualClock(START_MS + down_ms)
    async with running_engine(tmp_path, clock=clock) as engine:
        caller = await engine.caller("p_0")
        for after_seq, updates in ((1, 0), (0, 1)):
            stream = await caller.play(game_id, after_seq=after_seq)
            kinds = await kinds_until_attached(stream)
            assert updates == kinds.count("update")
            assert (down_ms > 0) == ("snapshot" in kinds)
            stream.call.cancel()
        snapshot = await caller.game(game_id)
        left = awaited(snapshot.decisions).deadline_unix_ms - snapshot.now_unix_ms
        assert left >= 10_000
        await play_on(caller, engine, game_id)
        stream = await caller.play(game_id, after_seq=2)
        assert "snapshot" not in await kinds_until_attached(stream)


async def kinds_until_attached(stream: Any) -> list[str]:
    kinds: list[str] = []
    while "attached" not in kinds:
        kinds.append(str((await stream.frame()).WhichOneof("kind")))
    return kinds


async def play_on(caller: Caller, engine: Engine, game_id: str) -> None:
    decision = awaited((await caller.game(game_id)).decisions)
    mover = await engine.caller(f"p_{decision.seat}")
    command = pb.Command(
        game_id=game_id,
        command_id="next",
        decision_id=decision.decision_id,
        action=decision.legal_actions[0],
    )
    request = pb.SubmitCommandRequest(command=command)
    response = await mover.engine.SubmitCommand(request, metadata=mover.metadata)
    assert 2 == response.result.accepted.seq
