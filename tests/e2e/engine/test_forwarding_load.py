"""Slow readers and many games through a replica that doesn't run them."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.rpc.frames import detached_frame
from support_engine import Caller, Engine, Stream, people
from support_replicas import ScriptedOwner, error_info, replica_at, running_engines, scripted_owner

BUDGET: dict[str, Any] = {"most_queued_frames": 64, "most_queued_bytes": 1 << 16}
GAMES = 2_000
_SMALL_WINDOW: dict[str, Any] = {"grpc.http2.bdp_probe": 0, "grpc.http2.lookahead_bytes": 1 << 14}


async def watch(engine: Engine, name: str, game_id: str, **options: int) -> Stream:
    caller = Caller(await engine.channel(**options), engine.token(name))
    stream = await caller.play(game_id, spectator=True)
    await stream.next("attached")
    return stream


async def read_on(stream: Stream) -> None:
    while await stream.call.read() is not grpc.aio.EOF:
        pass


async def test_a_slow_reader_gets_one_snapshot_and_then_every_update(tmp_path: Path) -> None:
    """The owner's queue is the only one: what a replica in between holds is bounded by it."""
    async with running_engines(tmp_path, 2, **BUDGET) as ((owner, other), owners):
        game_id = await owner.new_game(people(2))
        owners.of[game_id] = replica_at(owner.port)
        game = owner.service.registry.find_running(game_id)
        assert game is not None
        paused = await watch(other, "p_paused", game_id, **_SMALL_WINDOW)
        reader = await watch(other, "p_reader", game_id)
        frame = detached_frame("another", pb.DETACH_REASON_FAULT, "x" * 16_000)
        replaced = owner.service.metrics.slow_readers.labels("snapshot")
        while not replaced._value.get():
            game.hub.publish(frame)
            await reader.next("detached")
        while (found := await paused.frame()).WhichOneof("kind") == "detached":
            pass  # what had been written before the pause
        assert 0 == found.snapshot.seq
        assert "attached" == (await paused.frame()).WhichOneof("kind")
        game.hub.publish(frame)
        assert 16_000 == len((await paused.next("detached")).message)
        assert 1 == replaced._value.get()


async def test_a_reader_that_stalls_is_ended_and_its_neighbours_are_not(tmp_path: Path) -> None:
    async with running_engines(tmp_path, 2, longest_write_seconds=0.2, **BUDGET) as (
        (owner, other),
        owners,
    ):
        game_id = await owner.new_game(people(2))
        owners.of[game_id] = replica_at(owner.port)
        game = owner.service.registry.find_running(game_id)
        assert game is not None
        stalled = await watch(other, "p_stalled", game_id, **_SMALL_WINDOW)
        reader = await watch(other, "p_reader", game_id)
        frame = detached_frame("another", pb.DETACH_REASON_FAULT, "x" * 16_000)
        for _ in range(10_000):
            game.hub.publish(frame)
            await reader.next("detached")
            if len(other.service.streams) == 1:
                break
        assert 1 == len(other.service.streams)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await read_on(stalled)
        assert "SLOW_READER" == error_info(caught.value).reason


async def test_one_stream_receives_2_000_games_through_another_replica(tmp_path: Path) -> None:
    games = [f"g_{number}" for number in range(GAMES)]
    async with (
        running_engines(tmp_path, 1) as ((engine,), owners),
        scripted_owner() as owner,
    ):
        owners.of.update(dict.fromkeys(games, owner.replica))
        stream = await (await engine.caller("p_0")).play()
        async with asyncio.TaskGroup() as both:
            both.create_task(attach_all(stream, games))
            both.create_task(show_all(owner, games))
            assert games == [await next_of(stream, "attached") for _ in games]
        assert 1 == engine.service.metrics.forwarded_streams._value.get()
        await owner.stop()
        assert games == [await next_of(stream, "detached") for _ in games]
        assert [] == await stream.drained()


async def attach_all(stream: Stream, games: list[str]) -> None:
    for game_id in games:
        await stream.send(attach=pb.Attach(game_id=game_id))


async def show_all(owner: ScriptedOwner, games: list[str]) -> None:
    """The owner's answers to attaches, in order."""
    call = await owner.call()
    for game_id in games:
        assert game_id == (await call.request()).attach.game_id
        shown = pb.Frame(game_id=game_id, snapshot=pb.Snapshot(log_digest=b"x" * 5_000))
        await call.say(shown, pb.Frame(game_id=game_id, attached=pb.Attached(seq=0)))


async def next_of(stream: Stream, kind: str) -> str:
    """The game of the next frame of a kind, others are dropped."""
    while (frame := await stream.frame()).WhichOneof("kind") != kind:
        pass
    return frame.game_id
