"""A watcher that stops reading, over a real channel: it costs a fixed budget, and nobody else."""

from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.rpc.frames import detached_frame
from support_engine import Caller, Engine, Stream, awaited, people, running_engine

EVENTS = 20_000
BUDGET: dict[str, Any] = {"most_queued_frames": 64, "most_queued_bytes": 1 << 16}
_SMALL_WINDOW: dict[str, Any] = {"grpc.http2.bdp_probe": 0, "grpc.http2.lookahead_bytes": 1 << 14}


def queued(engine: Engine) -> tuple[int, int]:
    """The most frames and bytes that wait for any one stream."""
    outboxes = engine.service.streams.outboxes()
    return max(each.waiting for each in outboxes), max(each._bytes for each in outboxes)


async def read_on(stream: Stream) -> None:
    while await stream.call.read() is not grpc.aio.EOF:
        pass


async def watch(engine: Engine, name: str, game_id: str, **options: int) -> Stream:
    caller = Caller(await engine.channel(**options), engine.token(name))
    stream = await caller.play(game_id, spectator=True)
    await stream.next("attached")
    return stream


async def test_20_000_events_wait_in_a_fixed_budget_and_end_the_stalled_stream(
    tmp_path: Path,
) -> None:
    """Case A-32: the others get all of them; the stalled one is ended, and comes back."""
    async with running_engine(tmp_path, **BUDGET) as engine:
        game_id = await engine.new_game(people(2))
        game = engine.service.registry.find_running(game_id)
        assert game is not None
        stalled = await watch(engine, "p_stalled", game_id, **_SMALL_WINDOW)
        reader = await watch(engine, "p_reader", game_id)
        frame = detached_frame(game_id, pb.DETACH_REASON_FAULT, "x" * 1_000)
        most_frames, most_bytes, read = 0, 0, 0
        for _ in range(EVENTS // 40):
            for _ in range(40):
                game.hub.publish(frame)
            frames, octets = queued(engine)
            most_frames, most_bytes = max(most_frames, frames), max(most_bytes, octets)
            for _ in range(40):
                await reader.next("detached")
                read += 1
        assert EVENTS == read
        assert most_frames <= BUDGET["most_queued_frames"]
        assert most_bytes <= BUDGET["most_queued_bytes"]
        assert 1 == engine.service.metrics.slow_readers.labels("ended")._value.get()
        assert [] == await reader.drained()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await read_on(stalled)
        assert grpc.StatusCode.RESOURCE_EXHAUSTED is caught.value.code()
        back = await watch(engine, "p_stalled", game_id)
        assert [] == await back.drained()


async def test_a_reader_that_pauses_gets_one_snapshot_and_then_every_update(
    tmp_path: Path,
) -> None:
    """Case A-32: what it missed is replaced once, and the mover's answer waits for nobody."""
    async with running_engine(tmp_path, **BUDGET) as engine:
        game_id = await engine.new_game(people(2))
        game = engine.service.registry.find_running(game_id)
        assert game is not None
        paused = await watch(engine, "p_paused", game_id, **_SMALL_WINDOW)
        reader = await watch(engine, "p_reader", game_id)
        frame = detached_frame(game_id, pb.DETACH_REASON_FAULT, "x" * 1_000)
        replaced = engine.service.metrics.slow_readers.labels("snapshot")
        while not replaced._value.get():
            game.hub.publish(frame)
            await reader.next("detached")
        assert 1 == await move(engine, game_id, "c1")
        assert 1 == (await reader.next("update")).seq
        while (found := await paused.frame()).WhichOneof("kind") == "detached":
            pass  # what had been written before the pause
        assert 1 == found.snapshot.seq
        assert "attached" == (await paused.frame()).WhichOneof("kind")
        assert [] == await paused.drained()
        assert 2 == await move(engine, game_id, "c2")
        assert 2 == (await paused.next("update")).seq
        assert 1 == replaced._value.get()


async def move(engine: Engine, game_id: str, command_id: str) -> int:
    """Let the awaited seat do the first thing it may; the update's number."""
    caller = await engine.caller("p_0")
    decision = awaited((await caller.game(game_id)).decisions)
    mover = await engine.caller(f"p_{decision.seat}")
    action = decision.legal_actions[0]
    kind = action.WhichOneof("kind")
    assert kind is not None
    result = await mover.submit(
        game_id, command_id, decision.decision_id, **{kind: getattr(action, kind)}
    )
    return result.accepted.seq
