"""An engine whose games' owner is scripted: what it is sent, and what its every end leads to."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import action_pb2, error_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.replica import Replica
from support_engine import ROLL, Engine, Stream, people
from support_replicas import (
    Owners,
    ScriptedOwner,
    error_info,
    failure,
    replica_at,
    running_engines,
    scripted_owner,
)
from support_waiting import until

GAME = "g_scripted"
UPDATE = pb.Frame(game_id=GAME, update=pb.Update(seq=1))
ATTACHED = pb.Frame(game_id=GAME, attached=pb.Attached(seq=0))


@asynccontextmanager
async def entered(
    directory: Path, **settings: Any
) -> AsyncIterator[tuple[Engine, Owners, ScriptedOwner]]:
    """An engine, the book of owners, and the scripted owner of `GAME`."""
    async with (
        running_engines(directory, 1, **settings) as ((engine,), owners),
        scripted_owner() as owner,
    ):
        owners.of[GAME] = owner.replica
        yield engine, owners, owner


async def attached_stream(engine: Engine, owner: ScriptedOwner) -> tuple[Stream, Any]:
    """A stream that receives the game, and the owner's side of it."""
    stream = await (await engine.caller("p_0")).play(GAME)
    call = await owner.call()
    assert GAME == (await call.request()).attach.game_id
    await call.say(ATTACHED)
    await stream.next("attached")
    return stream, call


def snapshot(seq: int) -> pb.GetGameResponse:
    return pb.GetGameResponse(snapshot=pb.Snapshot(seq=seq))


async def test_a_call_is_repeated_with_the_callers_token_and_what_is_left_of_its_time(
    tmp_path: Path,
) -> None:
    async with entered(tmp_path) as (engine, _, owner):
        owner.answers = [snapshot(7), snapshot(8)]
        caller = await engine.caller("p_0")
        metadata = (*caller.metadata, ("x-request-id", "r-1"), ("x-other", "secret"))
        request = pb.GetGameRequest(game_id=GAME)
        response = await caller.engine.GetGame(request, metadata=metadata, timeout=5)
        assert 7 == response.snapshot.seq
        call = await owner.call()
        assert dict(caller.metadata)["authorization"] == call.metadata["authorization"]
        me = engine.service.membership.me.replica_id
        assert (me, "r-1") == (call.metadata["x-opolyx-hops"], call.metadata["x-request-id"])
        assert "x-other" not in call.metadata
        assert call.deadline_s is not None
        assert 0 < call.deadline_s <= 5
        await caller.engine.GetGame(request, metadata=caller.metadata)
        unbounded = await owner.call()
        assert unbounded.deadline_s is not None
        assert 5 < unbounded.deadline_s < 60


async def test_a_call_that_came_from_another_replica_goes_no_further(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, _, owner):
        caller = await engine.caller("p_0")
        hopped = (*caller.metadata, ("x-opolyx-hops", "1"))
        registry: Any = engine.service.registry
        hand = registry.hand
        looks: list[str] = []

        async def noted(game_id: str, deliver: Any) -> None:
            looks.append(game_id)
            await hand(game_id, deliver)

        registry.hand = noted
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await caller.engine.GetGame(pb.GetGameRequest(game_id=GAME), metadata=hopped)
        assert "NOT_OWNER" == error_info(caught.value).reason
        assert [GAME] == looks, "who sent it on looks again, nobody else does"
        stream = Stream(caller.engine.Play(metadata=hopped))
        await stream.send(attach=pb.Attach(game_id=GAME))
        assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason
        assert owner.calls.empty()


async def test_a_call_follows_a_game_that_moves(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, owners, first), scripted_owner() as second:
        first.answers = [failure(grpc.StatusCode.UNAVAILABLE, "NOT_OWNER", 20)]
        second.answers = [snapshot(9)]
        caller = await engine.caller("p_0")
        asking = asyncio.create_task(caller.game(GAME))
        await first.call()
        owners.of[GAME] = second.replica
        assert 9 == (await asking).seq
        results = engine.service.metrics.forwards
        assert 1 == results.labels("not_owner")._value.get()
        assert 1 == results.labels("answered")._value.get()


async def test_a_call_is_served_here_when_its_game_has_come_here(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, owners, owner):
        game_id = await engine.new_game(people(2))
        owners.of[game_id] = owner.replica
        owner.answers = [failure(grpc.StatusCode.UNAVAILABLE, "NOT_OWNER", 20)]
        caller = await engine.caller("p_0")
        asking = asyncio.create_task(caller.game(game_id))
        await owner.call()
        del owners.of[game_id]
        assert 0 == (await asking).your_seat


async def test_a_failure_of_the_owner_is_repeated_only_if_it_passes(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, _, owner):
        caller = await engine.caller("p_0")
        for status, calls in (
            (failure(grpc.StatusCode.NOT_FOUND, "GAME_NOT_FOUND"), 1),
            (failure(grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT", 700), 1),
            (failure(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", 200), 1),
            (failure(grpc.StatusCode.UNIMPLEMENTED), 1),
            (failure(grpc.StatusCode.UNAVAILABLE), 3),
        ):
            owner.answers = [status] * 3
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await caller.game(GAME)
            assert status.code == caught.value.code().value[0]
            assert calls == owner.calls.qsize()
            while not owner.calls.empty():
                owner.calls.get_nowait()


async def test_the_wait_for_an_owner_is_bounded(tmp_path: Path) -> None:
    async with entered(tmp_path, forward_within_ms=0) as (engine, _, owner):
        owner.answers = [failure(grpc.StatusCode.UNAVAILABLE, "NOT_OWNER", 20)] * 3
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await (await engine.caller("p_0")).game(GAME)
        assert "NOT_OWNER" == error_info(caught.value).reason
        assert 1 == owner.calls.qsize()


async def test_requests_and_frames_pass_as_they_are(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, _, owner):
        stream, call = await attached_stream(engine, owner)
        later_version = b"\x0a\x07\x0a\x02g1\xf2\x01\x00"  # a kind of frame that isn't known here
        await call.context.write(later_version)
        await call.say(UPDATE)
        response = await stream.call.read()
        assert later_version == response.SerializeToString()
        assert UPDATE == await stream.frame()
        for number in range(50):
            await stream.command(GAME, f"c{number}", "d1", **ROLL)
        asked = [await call.request() for _ in range(50)]
        assert [f"c{number}" for number in range(50)] == [each.command.command_id for each in asked]
        assert engine.service.membership.me.replica_id == call.metadata["x-opolyx-hops"]
        assert owner.calls.empty()


@pytest.mark.parametrize("end", ["lost", "drained", "ended"])
async def test_a_lost_owner_detaches_and_leaves_no_command_unanswered(
    tmp_path: Path, end: str
) -> None:
    async with entered(tmp_path) as (engine, owners, owner):
        stream, call = await attached_stream(engine, owner)
        await stream.command(GAME, "c1", "d1", **ROLL)
        await stream.command(GAME, "c2", "d1", **ROLL)
        for _ in range(2):
            await call.request()
        result = pb.CommandResult(command_id="c1", accepted=pb.Accepted(seq=1))
        await call.say(UPDATE, pb.Frame(game_id=GAME, command_result=result))
        if end == "lost":
            await owner.stop()
        elif end == "drained":
            await call.say(pb.Frame(draining=pb.Draining(retry_after_ms=1)), UPDATE)
            call.end(failure(grpc.StatusCode.UNAVAILABLE, "DRAINING", 30))
        else:
            call.end()
        frames: list[pb.Frame] = []
        while not frames or frames[-1].command_result.command_id != "c2":
            frames.append(await stream.frame())
        kinds = [frame.WhichOneof("kind") for frame in frames if frame != UPDATE]
        assert ["command_result", "detached", "command_result"] == kinds
        assert pb.DETACH_REASON_UNAVAILABLE == frames[-2].detached.reason
        assert frames[-2].detached.retry_after_ms > 0
        assert error_pb2.ERROR_REASON_NOT_OWNER == frames[-1].command_result.retry.reason
        async with scripted_owner() as next_owner:
            owners.of[GAME] = next_owner.replica
            await stream.send(attach=pb.Attach(game_id=GAME, after_seq=1))
            again = await next_owner.call()
            assert 1 == (await again.request()).attach.after_seq
            await stream.call.done_writing()
            with pytest.raises(EOFError):
                await stream.frame()


async def test_a_client_that_has_said_all_gets_every_answer(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, _, owner):
        stream, call = await attached_stream(engine, owner)
        await stream.command(GAME, "c1", "d1", **ROLL)
        await stream.call.done_writing()
        await call.request()
        result = pb.CommandResult(command_id="c1", accepted=pb.Accepted(seq=1))
        await call.say(pb.Frame(game_id=GAME, command_result=result))
        assert 1 == (await stream.result("c1")).accepted.seq
        with pytest.raises(EOFError):
            await stream.frame()


async def test_what_the_owner_has_against_the_caller_ends_the_stream(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, _, owner):
        for status in (
            failure(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED"),
            failure(grpc.StatusCode.RESOURCE_EXHAUSTED, "SLOW_READER", 1_000),
        ):
            stream, call = await attached_stream(engine, owner)
            call.end(status)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stream.frame()
            assert status.code == caught.value.code().value[0]


async def test_a_game_that_the_owner_lets_go_is_looked_for_anew(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, owners, owner):
        stream, call = await attached_stream(engine, owner)
        gone = pb.Detached(reason=pb.DETACH_REASON_UNAVAILABLE, retry_after_ms=1)
        await call.say(pb.Frame(game_id=GAME, detached=gone))
        await stream.next("detached")
        async with scripted_owner() as next_owner:
            owners.of[GAME] = next_owner.replica
            await stream.send(attach=pb.Attach(game_id=GAME))
            again = await next_owner.call()
            assert GAME == (await again.request()).attach.game_id
            again.end()
            await stream.next("detached")


async def test_a_detach_that_crosses_the_games_frames_is_the_last_word(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, _, owner):
        stream, call = await attached_stream(engine, owner)
        await stream.send(detach=pb.Detach(game_id=GAME))
        await call.request()
        requested = pb.Detached(reason=pb.DETACH_REASON_REQUESTED)
        await call.say(ATTACHED, pb.Frame(game_id=GAME, detached=requested))
        await stream.next("detached")
        call.end()
        await until(lambda: not engine.service.metrics.forwarded_streams._value.get())
        assert [] == await stream.drained()


async def test_an_owner_that_takes_nothing_is_given_up_and_holds_nobody_up(tmp_path: Path) -> None:
    async with entered(tmp_path, most_queued_bytes=1 << 16) as (engine, _, owner):
        game_id = await engine.new_game(people(2))
        stream, _ = await attached_stream(engine, owner)
        lost = engine.service.metrics.forwards.labels("lost")
        long = {"propose_trade": action_pb2.ProposeTrade(give_squares=[1] * 50_000)}
        sent = 0
        while not lost._value.get():  # what the connection takes in is full sooner or later
            assert sent < 500
            sent += 1
            await stream.command(GAME, f"c{sent}", "d1", **long)
            await asyncio.sleep(0)
        assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason
        for number in (1, 2):
            assert (await stream.result(f"c{number}")).retry.retry_after_ms > 0
        await stream.send(attach=pb.Attach(game_id=game_id))
        assert 0 == (await stream.next("attached")).seq


async def test_a_watched_game_that_is_lost_can_be_watched_again(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, _, owner):
        caller = await engine.caller("p_0")
        request = pb.WatchGameRequest(game_id=GAME, after_seq=3)
        stream = Stream(caller.engine.WatchGame(request, metadata=caller.metadata))
        reading = asyncio.create_task(stream.next("update"))
        refused = await owner.call()
        refused.end(failure(grpc.StatusCode.UNAVAILABLE, "NOT_OWNER", 1))
        call = await owner.call()
        await call.say(UPDATE)
        assert UPDATE.update == await reading
        call.end(failure(grpc.StatusCode.UNAVAILABLE, "NOT_OWNER", 1))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stream.frame()
        assert grpc.StatusCode.UNAVAILABLE is caught.value.code()
        assert "CALL_LOST" == error_info(caught.value).reason
        assert owner.calls.empty()


async def test_no_more_streams_are_sent_on_than_may_be(tmp_path: Path) -> None:
    async with entered(tmp_path, most_forwarded_streams=1) as (engine, _, owner):
        await attached_stream(engine, owner)
        caller = await engine.caller("p_1")
        refused = await caller.play(GAME)
        detached = await refused.next("detached")
        assert pb.DETACH_REASON_UNAVAILABLE == detached.reason
        assert detached.retry_after_ms > 0
        watching = caller.engine.WatchGame(
            pb.WatchGameRequest(game_id=GAME), metadata=caller.metadata
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await Stream(watching).frame()
        assert "LIMIT" == error_info(caught.value).reason
        assert 2 == engine.service.metrics.forwards.labels("limit")._value.get()


async def test_a_draining_entry_sends_its_streams_elsewhere(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, _, owner):
        stream, call = await attached_stream(engine, owner)
        watching = (await engine.caller("p_1")).engine.WatchGame(
            pb.WatchGameRequest(game_id=GAME), metadata=stream_metadata(engine, "p_1")
        )
        watched = Stream(watching)
        watch_call = await owner.call()
        await watch_call.say(UPDATE)
        await watched.next("update")
        draining = asyncio.create_task(engine.server.drain())
        for each in (stream, watched):
            await each.next("draining")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await each.frame()
            assert "DRAINING" == error_info(caught.value).reason
        await asyncio.wait_for(draining, 5)
        for each_call in (call, watch_call):
            each_call.end()


def stream_metadata(engine: Engine, subject: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {engine.token(subject)}"),)


async def test_the_channel_of_a_dead_replica_is_closed_with_its_streams(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, _, owner):
        stream, _ = await attached_stream(engine, owner)
        channels = engine.service.channels
        channels.keep({owner.replica.replica_id})
        assert 1 == len(channels)
        channels.keep({"another"})
        assert 0 == len(channels)
        assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason


async def test_a_replica_without_an_address_is_sent_nothing(tmp_path: Path) -> None:
    async with entered(tmp_path) as (engine, owners, _):
        owners.of[GAME] = Replica("alone", "")
        caller = await engine.caller("p_0")
        began = time.monotonic()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await caller.game(GAME)
        assert "NOT_OWNER" == error_info(caught.value).reason
        assert time.monotonic() - began < 5
        stream = await caller.play(GAME)
        assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason
        assert replica_at(engine.port).address
