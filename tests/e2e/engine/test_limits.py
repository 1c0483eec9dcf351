"""How often one account may do what: budgets apart for streams, attaches and commands."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx.engine.v1 import decision_pb2, refusal_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import ROLL, START_MS, Caller, Engine, Stream, awaited, people, running_engine
from support_matchmaker import eventually

OPENS, ATTACHES, COMMANDS, BURST = 30, 40, 5, 5


@dataclass
class Table:
    """A game of two who share one channel: `mine` is awaited."""

    engine: Engine
    clock: ManualClock
    game_id: str
    decision: decision_pb2.Decision
    mine: Caller
    other: Caller


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    limits: dict[str, Any] = {
        "streams_per_second": 1,
        "stream_burst": OPENS,
        "attaches_per_second": 1,
        "attach_burst": ATTACHES,
        "commands_per_second": 2,
        "command_burst": COMMANDS,
        "recent_updates": 1,
        "missed_updates_per_second": 2,
        "missed_update_burst": 3,
    }
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock, **limits) as engine:
        game_id = await engine.new_game(people(2))
        channel = await engine.channel()
        callers = [Caller(channel, engine.token(f"p_{seat}")) for seat in range(2)]
        decision = awaited((await callers[0].game(game_id)).decisions)
        mine, other = callers[decision.seat], callers[1 - decision.seat]
        yield Table(engine, clock, game_id, decision, mine, other)


async def open_and_leave(caller: Caller, game_id: str) -> None:
    stream = await caller.play(game_id)
    await stream.next("attached")
    stream.call.cancel()


async def read_all(stream: Stream) -> None:
    while await stream.call.read() is not grpc.aio.EOF:
        pass


async def refused_stream(stream: Stream) -> tuple[grpc.StatusCode, str, str, int]:
    """Code, reason, limit and wait of a stream that isn't taken, or no longer."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await read_all(stream)
    status: Any = rpc_status.from_call(caught.value)  # type: ignore[arg-type]
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    assert status.details[0].Unpack(info)
    assert status.details[1].Unpack(retry)
    wait_ms = retry.retry_delay.ToMilliseconds()
    return caught.value.code(), info.reason, info.metadata["what"], wait_ms


async def test_who_reopens_streams_all_the_time_can_still_bid_and_come_back(table: Table) -> None:
    """Case A-40: thirty reopened streams cost no command, and the next says how long to wait."""
    for _ in range(OPENS):
        await open_and_leave(table.mine, table.game_id)
    code, reason, limit, wait_ms = await refused_stream(await table.mine.play())
    assert grpc.StatusCode.RESOURCE_EXHAUSTED is code
    assert ("LIMIT", "streams_per_second") == (reason, limit)
    assert 1_000 <= wait_ms <= 1_001
    result = await table.mine.submit(table.game_id, "c", table.decision.decision_id, **ROLL)
    assert 1 == result.accepted.seq
    await open_and_leave(table.other, table.game_id)
    await table.clock.advance(wait_ms)
    await open_and_leave(table.mine, table.game_id)
    assert 1 == table.engine.service.metrics.limited.labels("streams")._value.get()


async def test_a_watch_stream_counts_as_a_stream(table: Table) -> None:
    for _ in range(OPENS):
        await open_and_leave(table.mine, table.game_id)
    request = pb.WatchGameRequest(game_id=table.game_id)
    call = table.mine.engine.WatchGame(request, metadata=table.mine.metadata)
    assert "streams_per_second" == (await refused_stream(Stream(call)))[2]


async def test_who_attaches_all_the_time_is_told_when_to_attach_again(table: Table) -> None:
    stream = await table.mine.play()
    for _ in range(ATTACHES):
        await stream.send(attach=pb.Attach(game_id=table.game_id))
        await stream.next("attached")
    await stream.send(attach=pb.Attach(game_id=table.game_id))
    detached = await stream.next("detached")
    assert pb.DETACH_REASON_UNAVAILABLE == detached.reason
    assert 1_000 <= detached.retry_after_ms <= 1_001
    assert "attaches" in detached.message
    await stream.command(table.game_id, "c", table.decision.decision_id, **ROLL)
    assert 1 == (await stream.result("c")).accepted.seq
    await table.clock.advance(detached.retry_after_ms)
    await stream.send(attach=pb.Attach(game_id=table.game_id))
    assert 1 == (await stream.next("snapshot")).seq


async def test_who_asks_for_the_past_all_the_time_gets_snapshots(table: Table) -> None:
    for number in range(4):
        await play_on(table, f"c{number}")
    seen = []
    for caller in (table.mine, table.mine, table.other):
        seen.append(await kinds_of_attach(caller, table.game_id, after_seq=1))
    await table.clock.advance(1_000)
    seen.append(await kinds_of_attach(table.mine, table.game_id, after_seq=1))
    updates = ["update"] * 3 + ["presence"]
    assert [updates, ["snapshot"], updates, updates] == seen
    assert ["update", "presence"] == await kinds_of_attach(table.mine, table.game_id, after_seq=3)


async def play_on(table: Table, command_id: str) -> None:
    decision = awaited((await table.mine.game(table.game_id)).decisions)
    command = pb.Command(
        game_id=table.game_id,
        command_id=command_id,
        decision_id=decision.decision_id,
        action=decision.legal_actions[0],
    )
    mover = table.mine if decision.seat == table.decision.seat else table.other
    request = pb.SubmitCommandRequest(command=command)
    response = await mover.engine.SubmitCommand(request, metadata=mover.metadata)
    assert response.result.HasField("accepted")


async def kinds_of_attach(caller: Caller, game_id: str, after_seq: int) -> list[str]:
    """What a new stream begins with, up to its being up to date."""
    stream = await caller.play(game_id, after_seq=after_seq)
    kinds: list[str] = []
    while "attached" not in kinds:
        kinds.append(str((await stream.frame()).WhichOneof("kind")))
    stream.call.cancel()
    return kinds[:-1]


async def test_a_flood_of_refused_commands_is_read_ever_more_slowly_and_then_not_at_all(
    tmp_path: Path,
) -> None:
    clock = ManualClock(START_MS)
    limits: dict[str, Any] = {"refused_commands_per_second": 1, "refused_command_burst": BURST}
    async with running_engine(tmp_path, clock=clock, **limits) as engine:
        game_id = await engine.new_game(people(2))
        flooder = await engine.caller("p_flooder")
        stream = await flooder.play()
        for number in range(100):
            await stream.command(game_id, f"c{number}", "d0", **ROLL)
        metrics = engine.service.metrics
        refused = metrics.refusals.labels("spectator")._value
        held = metrics.limited.labels("refused_commands")._value
        for times, hold_ms in enumerate((50, 100, 200, 400, 800, 1_600, 3_200, 6_400), 1):
            await eventually(lambda times=times: held.get() == times)  # type: ignore[misc]
            before = refused.get()
            await (await engine.caller("p_0")).game(game_id)  # others are served meanwhile
            assert before == refused.get()
            await clock.advance(hold_ms)
        assert BURST < refused.get() < 30

        ended = await refused_stream(stream)
        assert (grpc.StatusCode.RESOURCE_EXHAUSTED, "refused_commands_per_second") == ended[::2]
        assert "refused_commands_per_second" == (await refused_stream(await flooder.play()))[2]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await flooder.submit(game_id, "c", "d0", **ROLL)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        await clock.advance(ended[3])
        await (await flooder.play()).drained()


async def test_streams_that_are_left_without_a_word_count_as_refused(tmp_path: Path) -> None:
    limits: dict[str, Any] = {"refused_commands_per_second": 1, "refused_command_burst": BURST}
    async with running_engine(tmp_path, clock=ManualClock(START_MS), **limits) as engine:
        caller = await engine.caller("p_0")
        for _ in range(BURST + 1):
            await caller.play()
            await eventually(lambda: len(engine.service.streams) == 1)
            await caller.channel.close()
            await eventually(lambda: len(engine.service.streams) == 0)
            caller = await engine.caller("p_0")
        limit = (await refused_stream(await caller.play()))[2]
        assert "refused_commands_per_second" == limit


async def test_commands_are_counted_by_seat_and_not_by_address(table: Table) -> None:
    for number in range(COMMANDS):
        result = await table.other.submit(table.game_id, f"c{number}", "d0", **ROLL)
        assert refusal_pb2.REFUSAL_REASON_STALE_DECISION == result.refusal.reason
    result = await table.other.submit(table.game_id, "more", "d0", **ROLL)
    assert refusal_pb2.REFUSAL_REASON_TOO_FAST == result.refusal.reason
    numbers = dict(result.refusal.numbers)
    assert 2 == numbers["commands_per_second"]
    assert 500 <= numbers["retry_after_ms"] <= 501
    stream = await table.other.play(table.game_id)
    await stream.next("attached")
    rolled = await table.mine.submit(table.game_id, "c0", table.decision.decision_id, **ROLL)
    assert 1 == rolled.accepted.seq
    await table.clock.advance(numbers["retry_after_ms"])
    again = await table.other.submit(table.game_id, "more", "d0", **ROLL)
    assert refusal_pb2.REFUSAL_REASON_STALE_DECISION == again.refusal.reason, "it is judged now"
