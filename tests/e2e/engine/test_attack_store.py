"""A store that fails, or a caller that goes away, at the worst moment of a call."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import action_pb2, refusal_pb2
from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import operations_service_pb2 as operations_pb
from opolyx_servicekit.wall_clock import ManualClock
from support_bad_store import BadStore, BadStores
from support_engine import Caller, Engine, awaited, people, running_engine

START_MS = 1_700_000_000_000
ROLL: dict[str, Any] = {"roll": action_pb2.Roll()}


async def create_request(service: Caller) -> allocation_pb.CreateGameRequest:
    reserved = await service.allocation.ReserveGame(
        allocation_pb.ReserveGameRequest(request_id="r"), metadata=service.metadata
    )
    return allocation_pb.CreateGameRequest(
        game_id=reserved.game_id, ruleset="classic@full", seats=people(2)
    )


async def until(condition: Callable[[], Awaitable[object]]) -> None:
    """Wait until something is so; the store and gRPC work in real time."""
    for _ in range(1_000):
        if await condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not get so")


async def seq_reaches(store: BadStore, game_id: str, seq: int) -> None:
    async def reached() -> bool:
        stored = await store.game(game_id)
        return stored is not None and stored.seq >= seq

    await until(reached)


@pytest.mark.parametrize("why", ["late", "cancelled"])
async def test_a_game_that_was_stored_moves_though_its_creator_never_heard(
    tmp_path: Path, why: str
) -> None:
    clock, wrapped = ManualClock(START_MS), BadStores()
    async with running_engine(tmp_path, clock=clock, wrap=wrapped, store_retry_ms=10) as engine:
        service, store = await engine.caller("s_matchmaker", "service"), wrapped.store
        request = await create_request(service)
        call = service.allocation.CreateGame(request, metadata=service.metadata)
        if why == "late":
            store.creates = ["late"]
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call
            assert grpc.StatusCode.UNAVAILABLE is caught.value.code()
        else:
            store.writable.clear()
            creating = asyncio.ensure_future(call)
            await seq_reaches(store, request.game_id, 0)
            creating.cancel()
            await asyncio.gather(creating, return_exceptions=True)
            await cancelled_everywhere(engine)
            store.writable.set()
        await in_memory(engine, request.game_id)
        await clock.advance(90_000)  # a turn, with the grace that the way back may give
        await seq_reaches(store, request.game_id, 1)
        again = await service.allocation.CreateGame(request, metadata=service.metadata)
        assert request.game_id == again.game_id


async def in_memory(engine: Engine, game_id: str) -> None:
    async def there() -> bool:
        return engine.service.registry.find_running(game_id) is not None

    await until(there)


async def cancelled_everywhere(engine: Engine) -> None:
    """Until the server knows that the caller has gone away."""

    async def counted() -> bool:
        name, labels = "grpc_server_handled_total", {"grpc_method": "CreateGame"}
        samples = engine.service.metrics.registry.collect()
        return any(
            sample.name == name and sample.value and labels.items() <= sample.labels.items()
            for metric in samples
            for sample in metric.samples
        )

    await until(counted)


async def test_a_game_that_was_not_stored_can_be_created_after_that(tmp_path: Path) -> None:
    wrapped = BadStores()
    async with running_engine(tmp_path, wrap=wrapped, store_retry_ms=10) as engine:
        service, wrapped.store.creates = await engine.caller("s_m", "service"), ["lost"]
        request = await create_request(service)
        with pytest.raises(grpc.aio.AioRpcError):
            await service.allocation.CreateGame(request, metadata=service.metadata)
        await service.allocation.CreateGame(request, metadata=service.metadata)
        player = await engine.caller("p_0")
        assert 0 == (await player.game(request.game_id)).seq


async def test_an_operator_is_told_that_a_store_is_away_whose_last_write_is_uncertain(
    tmp_path: Path,
) -> None:
    wrapped = BadStores()
    async with running_engine(tmp_path, wrap=wrapped, store_retry_ms=10) as engine:
        game_id = await engine.new_game(people(2))
        player = await engine.caller("p_0")
        decision = awaited((await player.game(game_id)).decisions)
        mover = await engine.caller(f"p_{decision.seat}")
        operator = await engine.caller("o", "operator")
        wrapped.store.faults, wrapped.store.failing_records = ["late"], 1_000_000
        assert (await mover.submit(game_id, "c", decision.decision_id, **ROLL)).HasField("retry")
        request = allocation_pb.EndGameRequest(game_id=game_id)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await operator.allocation.EndGame(request, metadata=operator.metadata, timeout=5)
        assert grpc.StatusCode.UNAVAILABLE is caught.value.code()
        wrapped.store.failing_records = 0
        ended = await operator.allocation.EndGame(request, metadata=operator.metadata)
        assert pb.GAME_STATE_VOID == ended.state
        snapshot = await player.game(game_id)
        assert (1, pb.GAME_STATE_VOID) == (snapshot.seq, snapshot.state)


async def test_a_game_whose_fault_cannot_be_stored_is_held_for_the_operators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped = BadStores()
    async with running_engine(tmp_path, wrap=wrapped, store_retry_ms=10) as engine:
        game_id = await engine.new_game(people(2))
        player = await engine.caller("p_0")
        stream = await player.play(game_id)
        await stream.next("attached")
        decision = awaited((await player.game(game_id)).decisions)
        mover = await engine.caller(f"p_{decision.seat}")

        def broken(*arguments: Any) -> None:
            raise RuntimeError("a bug")

        with monkeypatch.context() as patched:
            patched.setattr("opolyx_rules.engine.apply", broken)
            patched.setattr(wrapped.store, "append", broken)
            await mover.submit(game_id, "c", decision.decision_id, **ROLL)
            assert pb.DETACH_REASON_FAULT == (await stream.next("detached")).reason
        operator = await engine.caller("o", "operator")
        held = operations_pb.ListRunningGamesRequest(place=operations_pb.GAME_PLACE_HELD)
        listed = await operator.operations.ListRunningGames(held, metadata=operator.metadata)
        assert [game_id] == [game.game_id for game in listed.games]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await player.game(game_id)
        assert grpc.StatusCode.FAILED_PRECONDITION is caught.value.code()
        request = allocation_pb.EndGameRequest(game_id=game_id)
        ended = await operator.allocation.EndGame(request, metadata=operator.metadata)
        assert pb.GAME_STATE_VOID == ended.state
        assert [] == await engine.store.running()


async def test_a_trade_in_a_void_game_is_refused_when_it_is_asked_about(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        seat = awaited((await (await engine.caller("p_0")).game(game_id)).decisions).seat
        player = await engine.caller(f"p_{seat}")
        trade = action_pb2.ProposeTrade(recipient=1 - seat, give_cash=10, want_cash=10)
        request = pb.CheckTradeRequest(game_id=game_id, trade=trade)
        assert (await player.engine.CheckTrade(request, metadata=player.metadata)).allowed
        operator = await engine.caller("o", "operator")
        end = allocation_pb.EndGameRequest(game_id=game_id)
        await operator.allocation.EndGame(end, metadata=operator.metadata)
        verdict = await player.engine.CheckTrade(request, metadata=player.metadata)
        assert not verdict.allowed
        assert refusal_pb2.REFUSAL_REASON_GAME_VOID == verdict.refusal.reason
