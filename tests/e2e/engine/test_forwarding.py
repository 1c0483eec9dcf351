"""Games that another engine runs: played through one that doesn't, over real channels."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import error_pb2
from opolyx.engine.v1 import operations_service_pb2 as operations_pb
from opolyx_servicekit.access import Principal, set_principal
from support_engine import ROLL, Engine, Stream, awaited, built_in, people, person
from support_replicas import error_info, replica_at, running_engines
from support_waiting import until


def forwards(engine: Engine, result: str) -> float:
    """How many calls and streams that an engine sent on have ended so."""
    return float(engine.service.metrics.forwards.labels(result)._value.get())


async def elsewhere(engine: Engine, owners: Any, **options: Any) -> str:
    """A game of two people on an engine, as the book has it."""
    game_id = await engine.new_game(people(2), **options)
    owners.of[game_id] = replica_at(engine.port)
    return game_id


async def test_four_seats_by_four_replicas_see_the_same_game(tmp_path: Path) -> None:
    async with running_engines(tmp_path, 4) as (engines, owners):
        game_id = await engines[2].new_game(people(4), round_cap=2)
        owners.of[game_id] = replica_at(engines[2].port)
        callers = [await engine.caller(f"p_{seat}") for seat, engine in enumerate(engines)]
        streams = [await caller.play(game_id) for caller in callers]
        snapshots = [await stream.next("snapshot") for stream in streams]
        assert [0, 1, 2, 3] == [snapshot.your_seat for snapshot in snapshots]
        decision, updates = awaited(snapshots[0].decisions), [pb.Update()] * 4
        digests = 0
        for sent in range(1, 1_000):
            await streams[decision.seat].send(
                command=pb.Command(
                    game_id=game_id,
                    command_id=f"c{sent}",
                    decision_id=decision.decision_id,
                    action=decision.legal_actions[-1],
                )
            )
            updates = [await stream.next("update") for stream in streams]
            result = await streams[decision.seat].result(f"c{sent}")
            assert sent == result.accepted.seq == updates[0].seq
            assert [updates[0]] * 4 == updates
            digests += bool(updates[0].state_digest)
            if updates[0].state != pb.GAME_STATE_RUNNING:
                break
            decision = awaited(updates[0].decisions)
        assert pb.GAME_STATE_FINISHED == updates[0].state
        assert digests > 4
        assert 4 == len(updates[0].delta.result.seats)
        open_streams = [engine.service.metrics.forwarded_streams._value.get() for engine in engines]
        assert [1, 1, 0, 1] == open_streams


async def test_single_calls_are_answered_by_the_owner_as_if_it_were_here(tmp_path: Path) -> None:
    async with running_engines(tmp_path, 2) as ((owner, other), owners):
        game_id = await elsewhere(owner, owners)
        here, there = await other.caller("p_0"), await owner.caller("p_0")
        snapshot = await here.game(game_id)
        assert 0 == snapshot.your_seat
        decision = awaited(snapshot.decisions)
        mover = await other.caller(f"p_{decision.seat}")
        result = await mover.submit(game_id, "c1", decision.decision_id, **ROLL)
        again = await mover.submit(game_id, "c1", decision.decision_id, **ROLL)
        assert 1 == result.accepted.seq == again.accepted.seq
        assert 1 == (await there.game(game_id)).seq
        trade = pb.CheckTradeRequest(game_id=game_id)
        assert not (await here.engine.CheckTrade(trade, metadata=here.metadata)).allowed
        assert await here.replay(game_id) == await there.replay(game_id)
        operator = await other.caller("s_op", "operator")
        inspected = await operator.operations.InspectGame(
            operations_pb.InspectGameRequest(game_id=game_id), metadata=operator.metadata
        )
        assert 1 == inspected.game.seq
        ended = await operator.allocation.EndGame(
            allocation_pb.EndGameRequest(game_id=game_id), metadata=operator.metadata
        )
        assert pb.GAME_STATE_VOID == ended.state == (await there.game(game_id)).state
        assert 7 == forwards(other, "answered")
        assert 0 == forwards(owner, "answered")


async def test_the_owners_refusals_come_back_word_for_word(tmp_path: Path) -> None:
    async with running_engines(tmp_path, 2) as ((owner, other), owners):
        game_id = await elsewhere(owner, owners, watchable=False)
        trade = pb.CheckTradeRequest(game_id=game_id)
        said = []
        for engine in (owner, other):
            stranger = await engine.caller("p_stranger")
            calls: tuple[Any, ...] = (
                stranger.engine.CheckTrade(trade, metadata=stranger.metadata),
                stranger.game(game_id),
                stranger.submit(game_id, "x" * 65, "d1", **ROLL),
            )
            for call in calls:
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await call
                error = caught.value
                said.append((error.code(), error.details(), error.trailing_metadata()))
        assert said[:3] == said[3:]


async def test_a_watched_game_is_passed_on_to_its_end(tmp_path: Path) -> None:
    async with running_engines(tmp_path, 2) as ((owner, other), owners):
        game_id = await owner.new_game([person(0), built_in(1)], round_cap=1)
        owners.of[game_id] = replica_at(owner.port)
        seen = []
        for engine in (owner, other):
            caller = await engine.caller("p_watcher")
            request = pb.WatchGameRequest(game_id=game_id)
            seen.append(Stream(caller.engine.WatchGame(request, metadata=caller.metadata)))
        first = [await stream.next("snapshot") for stream in seen]
        assert first[0].view == first[1].view
        operator = await other.caller("s_op", "operator")
        end = allocation_pb.EndGameRequest(game_id=game_id)
        await operator.allocation.EndGame(end, metadata=operator.metadata)
        for stream in seen:
            assert pb.GAME_STATE_VOID == (await stream.next("snapshot")).state


async def test_who_is_connected_is_known_through_other_replicas(tmp_path: Path) -> None:
    async with running_engines(tmp_path, 2) as ((owner, other), owners):
        game_id = await elsewhere(owner, owners)
        watcher = await (await owner.caller("p_0")).play(game_id)
        await watcher.next("attached")
        stream = await (await other.caller("p_1")).play(game_id)
        await stream.next("attached")
        while [0, 1] != list((await watcher.next("presence")).connected_seats):
            pass
        stream.call.cancel()
        while [0] != list((await watcher.next("presence")).connected_seats):
            pass


async def test_one_stream_plays_games_of_three_replicas(tmp_path: Path) -> None:
    async with running_engines(tmp_path, 3) as (engines, owners):
        games = [await elsewhere(engine, owners) for engine in engines]
        stream = await (await engines[0].caller("p_0")).play()
        for game_id in games:
            await stream.send(attach=pb.Attach(game_id=game_id))
        attached: set[str] = set()
        while len(attached) < 3:
            frame = await stream.frame()
            if frame.WhichOneof("kind") == "attached":
                attached.add(frame.game_id)
        assert set(games) == attached
        await stream.send(detach=pb.Detach(game_id=games[2]))
        assert pb.DETACH_REASON_REQUESTED == (await stream.next("detached")).reason
        moved = engines[2].service.registry.find_running(games[2])
        assert moved is not None
        assert 0 == len(moved.hub)
        assert 2 == engines[0].service.metrics.forwarded_streams._value.get()
        await stream.send(attach=pb.Attach(game_id=games[2]))
        assert 0 == (await stream.next("attached")).seq
        stream.call.cancel()
        await until(lambda: 0 == engines[0].service.metrics.forwarded_streams._value.get())
        for engine, game_id in zip(engines, games, strict=True):
            game = engine.service.registry.find_running(game_id)
            assert game is not None
            await until(lambda hub=game.hub: not len(hub))  # type: ignore[misc]


async def test_a_stream_cut_while_it_ends_leaves_none_at_other_replicas(tmp_path: Path) -> None:
    async with running_engines(tmp_path, 2) as (engines, owners):
        game_id = await elsewhere(engines[1], owners)
        forwarded = engines[0].service.metrics.forwarded_streams
        ending, may_end = asyncio.Event(), asyncio.Event()

        class Context:
            """A call without a wire."""

            def invocation_metadata(self) -> Any:
                return (("authorization", f"Bearer {engines[0].token('p_0')}"),)

            async def write(self, frames: bytes) -> None:
                pass

        async def requests() -> AsyncIterator[pb.PlayRequest]:
            yield pb.PlayRequest(attach=pb.Attach(game_id=game_id))
            try:
                await asyncio.Event().wait()
            finally:  # its reader takes its time
                ending.set()
                await may_end.wait()

        set_principal(Principal("p_0", "player"))
        play = engines[0].service._engine._play
        serving = asyncio.create_task(play.serve(requests(), Context()))
        await until(lambda: 1 == forwarded._value.get())
        serving.cancel()
        await ending.wait()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        may_end.set()
        await until(lambda: 0 == forwarded._value.get())
        await until(lambda: 0 == len(engines[1].service.streams))


async def test_owners_that_name_each_other_are_met_with_a_clear_error(tmp_path: Path) -> None:
    async with running_engines(tmp_path, 2) as ((one, two), owners):
        game_id = await one.new_game(people(2))
        for engine, named in ((one, two), (two, one)):
            owners_of_it = type(owners)()
            owners_of_it.of[game_id] = replica_at(named.port)
            owners_of_it.join(engine)
        caller = await one.caller("p_0")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await caller.game(game_id)
        assert grpc.StatusCode.UNAVAILABLE is caught.value.code()
        assert "NOT_OWNER" == error_info(caught.value).reason
        assert 3 == forwards(one, "not_owner")
        assert 0 == forwards(two, "not_owner")
        stream = await caller.play(game_id)
        detached = await stream.next("detached")
        assert pb.DETACH_REASON_UNAVAILABLE == detached.reason
        assert detached.retry_after_ms > 0
        await stream.command(game_id, "c1", "d1", **ROLL)
        retry = (await stream.result("c1")).retry
        assert error_pb2.ERROR_REASON_NOT_OWNER == retry.reason
        assert retry.retry_after_ms > 0
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await Stream(
                caller.engine.WatchGame(
                    pb.WatchGameRequest(game_id=game_id), metadata=caller.metadata
                )
            ).frame()
        assert "NOT_OWNER" == error_info(caught.value).reason


async def test_an_owner_that_dies_detaches_its_games_and_no_others(tmp_path: Path) -> None:
    async with running_engines(tmp_path, 2) as ((owner, other), owners):
        gone = await elsewhere(owner, owners)
        kept = await elsewhere(other, owners)
        stream = await (await other.caller("p_0")).play(gone)
        await stream.next("attached")
        await stream.send(attach=pb.Attach(game_id=kept))
        await stream.next("attached")
        await owner.server._server.stop(None)  # type: ignore[union-attr]
        frame = await stream.frame()
        assert (gone, pb.DETACH_REASON_UNAVAILABLE) == (frame.game_id, frame.detached.reason)
        await stream.send(attach=pb.Attach(game_id=gone))
        assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason
        await stream.send(attach=pb.Attach(game_id=kept))
        assert 0 == (await stream.next("attached")).seq
        caller = await other.caller("p_0")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await caller.game(gone)
        assert "NOT_OWNER" == error_info(caught.value).reason
        assert 4 < forwards(other, "lost")
