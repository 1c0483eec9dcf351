"""Told to stop with hundreds of streams open and games being saved: nothing is lost or left over."""

import asyncio
import random
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.rpc.service_handlers import ENGINE
from opolyx_engine.store.base import Append, GameStore
from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.tokens import TokenSigner
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import ROLL, Caller, Engine, awaited, built_in, new_game, people, running_engine

STREAMS = 500
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
_ENGINE_NAME = ENGINE.full_name
_SENT_ELSEWHERE = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,  # gRPC's own word for calls that no handler has seen when it stops
)


class SlowStore:
    """A store whose appends take their time, once it is told so."""

    def __init__(self, inner: GameStore) -> None:
        self._inner = inner
        self._rng = random.Random(29)
        self.slowest_s = 0.0
        self.under_way = 0
        self.held_until = 0
        self._enough = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def append(self, append: Append) -> None:
        self.under_way += 1
        try:
            if self.under_way >= self.held_until:
                self._enough.set()
            await self._enough.wait()
            await asyncio.sleep(self._rng.uniform(self.slowest_s / 10, self.slowest_s))
            await self._inner.append(append)
        finally:
            self.under_way -= 1


async def check(channel: grpc.aio.Channel, name: str) -> int | grpc.StatusCode:
    """What health says of a name, or how the question failed."""
    stub: Any = health_pb2_grpc.HealthStub(channel)
    try:
        response = await stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=5)
    except grpc.aio.AioRpcError as error:
        return error.code()
    return int(response.status)


async def watch_to_the_end(caller: Caller, game_id: str, began: asyncio.Event) -> tuple[bool, Any]:
    """Whether the stream was told of the drain, and how it ended."""
    call: Any = caller.engine.WatchGame(
        pb.WatchGameRequest(game_id=game_id), metadata=caller.metadata
    )
    told = False
    try:
        async for response in call:
            began.set()
            told = told or any(frame.HasField("draining") for frame in response.frames)
    except grpc.aio.AioRpcError as error:
        return told, error
    return told, None


@asynccontextmanager
async def watching(callers: list[Caller], game_id: str) -> AsyncIterator[list[asyncio.Task[Any]]]:
    """Hundreds of streams on one game, each of which has begun."""
    began = [asyncio.Event() for _ in range(STREAMS)]
    tasks = [
        asyncio.create_task(watch_to_the_end(callers[index % len(callers)], game_id, event))
        for index, event in enumerate(began)
    ]
    try:
        async with asyncio.timeout(60):
            for event in began:
                await event.wait()
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.timeout(120)
async def test_not_serving_first_then_the_unary_call_completes_and_streams_end_as_retryable(
    tmp_path: Path,
) -> None:
    """Case A-34: 500 streams, one call under way, probes that answer all the time."""
    stores: list[SlowStore] = []

    def wrap(inner: GameStore) -> GameStore:
        stores.append(SlowStore(inner))
        return stores[0]

    async with running_engine(
        tmp_path, wrap=wrap, grace_seconds=10.0, probe_address="127.0.0.1:0"
    ) as engine:
        game_id = await engine.new_game(people(2))
        callers = [await engine.caller("p_w") for _ in range(4)]
        probe = await engine.channel()
        beside = grpc.aio.insecure_channel(f"127.0.0.1:{engine.server.probe_port}")
        async with beside, watching(callers, game_id) as streams:
            assert [SERVING, SERVING, grpc.StatusCode.NOT_FOUND] == [
                await check(probe, name) for name in ("", _ENGINE_NAME, "no.such.Service")
            ]
            decision = awaited((await callers[0].game(game_id)).decisions)
            mover = await engine.caller(f"p_{decision.seat}")
            stores[0].slowest_s = 1.0
            asked = asyncio.create_task(mover.submit(game_id, "c", decision.decision_id, **ROLL))
            while not stores[0].under_way:  # noqa: ASYNC110 - a test's wait
                await asyncio.sleep(0.01)
            seen_at_goodbye: list[Any] = []
            say_goodbye = engine.server._on_drain
            assert say_goodbye is not None

            async def goodbye() -> None:
                seen_at_goodbye.extend([await check(probe, one) for one in (_ENGINE_NAME, "")])
                seen_at_goodbye.append(sum(stream.done() for stream in streams))
                await say_goodbye()

            engine.server._on_drain = goodbye
            draining = asyncio.create_task(engine.server.drain())
            assert 1 == (await asyncio.wait_for(asked, 10)).accepted.seq
            ended = await asyncio.wait_for(asyncio.gather(*streams), 10)
            await asyncio.wait_for(draining, 15)
            assert [NOT_SERVING, SERVING, 0] == seen_at_goodbye
            for told, error in ended:
                assert told
                assert grpc.StatusCode.UNAVAILABLE is error.code()
                assert "RetryInfo" in str(rpc_status.from_call(error))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.mark.timeout(120)
async def test_the_process_stops_with_0_under_500_streams(tmp_path: Path) -> None:
    """Case A-34: the real program, with its default grace, in under 30 s."""
    port, keys = free_port(), tmp_path / "keys.json"
    public = ensure_keys(keys)
    signer = TokenSigner(keys)
    environment = {
        "OPOLYX_ENGINE_LISTEN_ADDRESS": f"127.0.0.1:{port}",
        "OPOLYX_ENGINE_STORE_URL": f"sqlite:///{tmp_path / 'engine.db'}",
        "OPOLYX_ENGINE_VERIFICATION_KEYS_FILE": str(public),
        "OPOLYX_ENGINE_LOG_LEVEL": "error",
        "OPOLYX_ENGINE_BOT_THINK_MS": "600",
    }
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "opolyx_engine.main", env=environment
    )
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            await asyncio.wait_for(channel.channel_ready(), 30)
            token = signer.sign(subject="s_m", role="service", ttl_seconds=600)
            seats = [built_in(seat, "random") for seat in range(4)]
            game_id = await new_game(Caller(channel, token), "r", seats, round_cap=500)
            watcher = Caller(channel, signer.sign(subject="p_w", role="player", ttl_seconds=600))
            async with watching([watcher], game_id) as streams:
                assert SERVING == await check(channel, "")
                child.send_signal(signal.SIGTERM)
                for told, error in await asyncio.wait_for(asyncio.gather(*streams), 30):
                    assert told
                    assert grpc.StatusCode.UNAVAILABLE is error.code()
            assert 0 == await asyncio.wait_for(child.wait(), 30)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def standing(engine: Engine, games: list[str]) -> dict[str, tuple[int, bytes, list[int]]]:
    """Where each game is: its update, the log's digest, the deadlines."""
    caller = await engine.caller("p_r")
    found = {}
    for game_id in games:
        snapshot = await caller.game(game_id)
        assert pb.GAME_STATE_RUNNING == snapshot.state
        deadlines = [decision.deadline_unix_ms for decision in snapshot.decisions]
        found[game_id] = (snapshot.seq, snapshot.log_digest, deadlines)
    return found


async def attach(caller: Caller, game_id: str) -> None:
    await (await caller.play(game_id)).next("attached")


async def test_fifty_games_with_slow_saves_are_whole_after_a_stop(tmp_path: Path) -> None:
    """Case A-29: a move under way in each, and who comes during the stop is sent elsewhere."""
    stores: list[SlowStore] = []

    def wrap(inner: GameStore) -> GameStore:
        stores.append(SlowStore(inner))
        return stores[0]

    clock = ManualClock()
    async with running_engine(tmp_path, wrap=wrap, clock=clock, grace_seconds=10.0) as engine:
        games = [await engine.new_game(people(2)) for _ in range(50)]
        reader, movers = await engine.caller("p_0"), []
        late = [await engine.caller("p_0"), await engine.caller("s_m", "service")]
        for each in late:
            await each.channel.channel_ready()
        stores[0].slowest_s = 2.0
        stores[0].held_until = 50
        stores[0]._enough.clear()
        for game_id in games:
            decision = awaited((await reader.game(game_id)).decisions)
            mover = Caller(reader.channel, engine.token(f"p_{decision.seat}"))
            movers.append(
                asyncio.create_task(mover.submit(game_id, "c", decision.decision_id, **ROLL))
            )
        while stores[0].under_way < 50:  # noqa: ASYNC110 - a test's wait
            await asyncio.sleep(0.01)
        draining = asyncio.create_task(engine.server.drain())
        await asyncio.sleep(0)
        for join in (attach(late[0], games[0]), new_game(late[1], "late", people(2))):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await join
            assert caught.value.code() in _SENT_ELSEWHERE
        assert [1] * 50 == [(await mover).accepted.seq for mover in movers]
        await asyncio.wait_for(draining, 15)
        running = engine.service.registry.running()
        assert 50 == len(running)
        before = {
            game.game_id: (game.table.seq, game.table.log_digest, game.next_due_ms)
            for game in running
        }
    async with running_engine(tmp_path, clock=ManualClock(clock.now_ms())) as engine:
        after = await standing(engine, games)
        assert {1} == {seq for seq, _, _ in before.values()}
        for game_id, (seq, digest, due_ms) in before.items():
            assert (seq, digest) == after[game_id][:2]
            assert due_ms in after[game_id][2]
        assert [] == await engine.store.facts(0, 10)
