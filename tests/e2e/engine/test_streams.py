"""Streams that are slow, cut, many, or told to go elsewhere; and who may call what."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from opolyx.engine.v1 import action_pb2
from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.rpc.frames import detached_frame
from opolyx_engine.rpc.service_handlers import (
    ALLOCATION,
    ENGINE,
    OPERATIONS,
    REPLICA,
    ROLES,
    SERVICE_NAMES,
)
from opolyx_servicekit.access import methods_of
from support_engine import Caller, Engine, Stream, awaited, built_in, people, person, running_engine


def error_info(error: Any) -> Any:
    status = rpc_status.from_call(error)
    assert status is not None
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return info


async def read_to_end(stream: Stream) -> None:
    while await stream.call.read() is not grpc.aio.EOF:
        pass


async def quiet(engine: Engine) -> None:
    """Wait until no stream is open."""
    for _ in range(200):
        if not len(engine.service.streams):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{len(engine.service.streams)} streams are left")


async def test_a_reader_that_stops_reading_costs_nobody_else_anything(tmp_path: Path) -> None:
    limits: dict[str, Any] = {"most_queued_frames": 32, "most_queued_bytes": 1 << 18}
    async with running_engine(tmp_path, **limits) as engine:
        game_id = await engine.new_game(people(2))
        game = engine.service.registry.find_running(game_id)
        assert game is not None
        stalled = await (await engine.caller("p_slow")).play(game_id, spectator=True)
        reader = await (await engine.caller("p_reader")).play(game_id, spectator=True)
        await stalled.next("attached")
        await reader.next("attached")
        ended = engine.service.metrics.slow_readers.labels("ended")
        published = 0
        while not ended._value.get():
            assert published < 2_000, "the stalled stream was not ended"
            published += 1
            game.hub.publish(detached_frame(game_id, pb.DETACH_REASON_FAULT, "x" * 20_000))
            assert 20_000 == len((await reader.next("detached")).message)
            assert sum(outbox.waiting for outbox in engine.service.streams.outboxes()) <= 33
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await read_to_end(stalled)
        assert grpc.StatusCode.RESOURCE_EXHAUSTED is caught.value.code()
        assert "SLOW_READER" == error_info(caught.value).reason
        assert [] == await reader.drained()
        back = await (await engine.caller("p_slow")).play(game_id, spectator=True)
        assert 0 == (await back.next("snapshot")).seq


async def test_streams_that_end_in_any_way_leave_nothing_behind(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        for number in range(40):
            caller = await engine.caller("p_w")
            stream = await caller.play(game_id, spectator=True)
            await stream.next("attached")
            if number % 4 == 0:
                stream.call.cancel()
            elif number % 4 == 1:
                await stream.call.done_writing()
            elif number % 4 == 2:
                await caller.channel.close()
            else:
                reading = asyncio.create_task(stream.frame())
                await asyncio.sleep(0)
                reading.cancel()
                stream.call.cancel()
        await quiet(engine)
        game = engine.service.registry.find_running(game_id)
        assert game is not None
        assert 0 == len(game.hub)


async def test_draining_tells_every_stream_and_ends_it_as_retryable(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game([person(0), built_in(1)])
        caller = await engine.caller("p_0")
        play = await caller.play(game_id)
        await play.next("attached")
        watch = Stream(
            caller.engine.WatchGame(pb.WatchGameRequest(game_id=game_id), metadata=caller.metadata)
        )
        await watch.next("attached")
        draining = asyncio.create_task(engine.server.drain())
        for stream in (play, watch):
            assert 1_000 == (await stream.next("draining")).retry_after_ms
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stream.next("update")
            assert grpc.StatusCode.UNAVAILABLE is caught.value.code()
            assert "DRAINING" == error_info(caught.value).reason
        await asyncio.wait_for(draining, 5)


async def test_health_is_served_for_every_service(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        stub: Any = health_pb2_grpc.HealthStub(await engine.channel())
        for name in ("", *SERVICE_NAMES):
            response = await stub.Check(health_pb2.HealthCheckRequest(service=name))
            assert health_pb2.HealthCheckResponse.SERVING == response.status


async def test_a_ping_is_answered_with_the_servers_time(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        stream = await (await engine.caller("p_0")).play()
        await stream.send(ping=pb.Ping(nonce=7))
        pong = await stream.next("pong")
        assert 7 == pong.nonce
        assert pong.now_unix_ms > 1_700_000_000_000


async def test_malformed_bytes_end_their_stream_only(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        good = await caller.play(game_id)
        await good.next("attached")
        raw: Any = caller.channel.stream_stream("/opolyx.engine.v1.EngineService/Play")
        call = raw(metadata=caller.metadata)
        await call.write(b"\xff\xff\xff")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
        assert grpc.StatusCode.INVALID_ARGUMENT is caught.value.code()
        assert [] == await good.drained()


@pytest.mark.parametrize("role", ["player", "bot", "service", "operator", "unknown", ""])
async def test_every_method_is_for_its_roles_alone(tmp_path: Path, role: str) -> None:
    async with running_engine(tmp_path) as engine:
        caller = await engine.caller("x_1", role)
        metadata = caller.metadata if role else ()
        # Drain comes last: nothing is served as before after it.
        for method in (*ENGINE.methods, *ALLOCATION.methods, *OPERATIONS.methods):
            path = f"/{method.containing_service.full_name}/{method.name}"
            code = await outcome(caller.channel, path, method, metadata)
            denied = code in (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED)
            assert (role not in ROLES[path]) == denied, (path, role, code)


async def outcome(channel: Any, path: str, method: Any, metadata: Any) -> grpc.StatusCode:
    """How a call with an empty request ends; OK if it goes on."""
    try:
        async with asyncio.timeout(1.0):
            if not method.server_streaming:
                await channel.unary_unary(path)(b"", metadata=metadata)
                return grpc.StatusCode.OK
            if method.client_streaming:
                call = channel.stream_stream(path)(metadata=metadata)
                await call.done_writing()
            else:
                call = channel.unary_stream(path)(b"", metadata=metadata)
            await call.read()
            code: grpc.StatusCode = await call.code()
            return code
    except TimeoutError:
        return grpc.StatusCode.OK
    except grpc.aio.AioRpcError as error:
        return error.code()


def test_every_method_has_its_roles() -> None:
    services = (ENGINE, ALLOCATION, OPERATIONS, REPLICA)
    assert {method for service in services for method in methods_of(service)} == set(ROLES)


async def allocation_error(caller: Caller, request: allocation_pb.CreateGameRequest) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await caller.allocation.CreateGame(request, metadata=caller.metadata)
    return str(error_info(caught.value).reason)


async def test_games_that_cannot_be_played_are_not_started(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        service = await engine.caller("s_m", "service")
        reserved = await service.allocation.ReserveGame(
            allocation_pb.ReserveGameRequest(request_id="r"), metadata=service.metadata
        )
        again = await service.allocation.ReserveGame(
            allocation_pb.ReserveGameRequest(request_id="r"), metadata=service.metadata
        )
        assert reserved == again
        good = allocation_pb.CreateGameRequest(
            game_id=reserved.game_id, ruleset="classic@full", seats=people(2)
        )
        cases: list[tuple[str, dict[str, object]]] = [
            ("UNKNOWN_RULESET", {"ruleset": "chess@full"}),
            ("NO_RESERVATION", {"game_id": "g_unknown"}),
            ("INVALID_FIELD", {"seats": people(1)}),
            ("INVALID_FIELD", {"seats": people(7)}),
            ("INVALID_FIELD", {"seats": [person(0), person(1, "p_0")]}),
            ("INVALID_FIELD", {"seats": [person(1), person(0)]}),
            ("INVALID_FIELD", {"seats": [person(0), built_in(1, "unknown")]}),
            ("INVALID_FIELD", {"options": allocation_pb.HouseOptions(round_cap=0)}),
        ]
        for reason, change in cases:
            fields = {
                "game_id": good.game_id,
                "ruleset": good.ruleset,
                "seats": good.seats,
                **change,
            }
            request = allocation_pb.CreateGameRequest(**fields)  # type: ignore[arg-type]
            assert reason == await allocation_error(service, request), change
        await service.allocation.CreateGame(good, metadata=service.metadata)
        await service.allocation.CreateGame(good, metadata=service.metadata)
        good.options.round_cap = 9
        assert "GAME_CONFLICT" == await allocation_error(service, good)
        assert 1 == len(engine.service.registry.running())


async def test_new_games_can_be_paused(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        operator = await engine.caller("o", "operator")
        await operator.allocation.SetAdmission(
            allocation_pb.SetAdmissionRequest(open=False), metadata=operator.metadata
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await engine.new_game(people(2))
        assert "PAUSED" == error_info(caught.value).reason
        await operator.allocation.SetAdmission(
            allocation_pb.SetAdmissionRequest(open=True), metadata=operator.metadata
        )
        assert await engine.new_game(people(2))


async def test_an_operator_ends_a_game_as_void(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        stream = await caller.play(game_id)
        await stream.next("attached")
        operator = await engine.caller("o", "operator")
        request = allocation_pb.EndGameRequest(game_id=game_id, reason="asked for")
        for _ in range(2):
            ended = await operator.allocation.EndGame(request, metadata=operator.metadata)
            assert pb.GAME_STATE_VOID == ended.state
        snapshot = await stream.next("snapshot")
        assert (pb.GAME_STATE_VOID, []) == (snapshot.state, list(snapshot.decisions))
        result = await caller.submit(game_id, "c", "", surrender=action_pb2.Surrender())
        assert "GAME_VOID" in str(result.refusal)
        fact = (await engine.store.facts(0, 10))[-1]
        assert "game_voided" == fact.fact.kind
        data, complete = await caller.replay(game_id)
        assert not complete
        assert b'"secret":""' in data


async def test_running_games_are_listed_for_watchers_in_pages(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        made = [await engine.new_game(people(2)) for _ in range(5)]
        await engine.new_game(people(2), watchable=False)
        caller = await engine.caller("p_w")
        found: list[str] = []
        token = ""
        while True:
            page = await caller.engine.ListGames(
                pb.ListGamesRequest(page_size=2, page_token=token), metadata=caller.metadata
            )
            found += [game.game_id for game in page.games]
            token = page.next_page_token
            if not token:
                break
        assert sorted(made) == sorted(found)


async def test_a_running_games_replay_is_partial_and_holds_no_secret(tmp_path: Path) -> None:
    async with running_engine(tmp_path, replay_chunk_bytes=1 << 10) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        decision = awaited((await caller.game(game_id)).decisions)
        mover = await engine.caller(f"p_{decision.seat}")
        await mover.submit(game_id, "c", decision.decision_id, roll=action_pb2.Roll())
        data, complete = await caller.replay(game_id)
        stored = await engine.store.game(game_id)
        assert stored is not None
        assert not complete
        assert stored.secret.hex().encode() not in data
        assert b'"complete":false' in data
