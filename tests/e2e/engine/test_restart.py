"""Killed in the middle of games, and started again on the same store."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.record import command_key
from opolyx_rules.verification import verify
from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.tokens import TokenSigner
from support_engine import Caller, Engine, awaited, built_in, person, running_engine
from support_redis import redis_cluster, redis_server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Process:
    """`opolyx-engine` as a process of its own."""

    def __init__(self, directory: Path, port: int, store_url: str) -> None:
        private = directory / "keys.json"
        environment = {
            **os.environ,
            "OPOLYX_ENGINE_LISTEN_ADDRESS": f"127.0.0.1:{port}",
            "OPOLYX_ENGINE_STORE_URL": store_url,
            "OPOLYX_ENGINE_VERIFICATION_KEYS_FILE": str(ensure_keys(private)),
            "OPOLYX_ENGINE_BOT_THINK_MS": "0",
            "OPOLYX_ENGINE_LOG_LEVEL": "error",
        }
        self.signer = TokenSigner(private)
        self.port = port
        self.child = subprocess.Popen([sys.executable, "-m", "opolyx_engine.main"], env=environment)

    def kill(self) -> None:
        self.child.kill()
        self.child.wait()

    def caller(self, channel: grpc.aio.Channel, subject: str, role: str = "player") -> Caller:
        return Caller(channel, self.signer.sign(subject=subject, role=role, ttl_seconds=600))

    @asynccontextmanager
    async def channel(self) -> AsyncIterator[grpc.aio.Channel]:
        options = [
            ("grpc.initial_reconnect_backoff_ms", 50),
            ("grpc.max_reconnect_backoff_ms", 100),
        ]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{self.port}", options=options) as channel:
            await asyncio.wait_for(channel.channel_ready(), 20)
            yield channel


@pytest.fixture(params=["sqlite", "redis", "redis+cluster"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A store of its own."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'engine.db'}"
    elif request.param == "redis":
        with redis_server(tmp_path / "redis") as server:
            yield server.url
    else:
        with redis_cluster(tmp_path / "redis") as cluster:
            yield cluster.url


async def start_game(service: Caller) -> str:
    reserved = await service.allocation.ReserveGame(
        allocation_pb.ReserveGameRequest(request_id="r"), metadata=service.metadata
    )
    seats = [person(0), built_in(1, "random"), built_in(2), built_in(3, "random")]
    request = allocation_pb.CreateGameRequest(
        game_id=reserved.game_id,
        ruleset="classic@full",
        seats=seats,
        options=allocation_pb.HouseOptions(round_cap=6),
    )
    await service.allocation.CreateGame(request, metadata=service.metadata)
    return reserved.game_id


async def play(caller: Caller, game_id: str, acknowledged: dict[str, int], most: int) -> bool:
    """Answer the seat's decisions until `most` were acknowledged; whether the game is over."""
    stream = await caller.play(game_id)
    decisions = (await stream.next("snapshot")).decisions
    while len(acknowledged) < most:
        mine = [d for d in decisions if d.seat == 0 and d.decision_id[0] == "d"]
        if mine:
            command_id = f"c-{mine[0].decision_id}"
            command = pb.Command(
                game_id=game_id,
                command_id=command_id,
                decision_id=mine[0].decision_id,
                action=mine[0].legal_actions[0],
            )
            await stream.send(command=command)
            result = await stream.result(command_id)
            if result.HasField("accepted"):
                acknowledged[command_id] = result.accepted.seq
            snapshot = await caller.game(game_id)
            if snapshot.state != pb.GAME_STATE_RUNNING:
                return True
            decisions = snapshot.decisions
        else:
            update = await stream.next("update")
            if update.state != pb.GAME_STATE_RUNNING:
                return True
            decisions = update.decisions
    return False


@pytest.mark.timeout(120)
async def test_killed_in_mid_game_it_goes_on_and_no_acknowledged_command_is_missing(
    tmp_path: Path, store_url: str
) -> None:
    process = Process(tmp_path, free_port(), store_url)
    acknowledged: dict[str, int] = {}
    game_id, over = "", False
    data, complete = b"", False
    try:
        for most in (3, 6, 1 << 30):
            async with process.channel() as channel:
                if not game_id:
                    game_id = await start_game(process.caller(channel, "s_m", "service"))
                caller = process.caller(channel, "p_0")
                for command_id, seq in acknowledged.items():
                    again = await caller.submit(game_id, command_id, "d0")
                    assert again.HasField("refusal"), "an id stays taken"
                    assert seq <= (await caller.game(game_id)).seq
                over = await play(caller, game_id, acknowledged, most)
                if most < 1 << 30:
                    process.kill()
                    process = Process(tmp_path, process.port, store_url)
                else:
                    data, complete = await caller.replay(game_id)
        assert over
        assert complete
        assert "" == verify(data).problem
    finally:
        process.kill()
    async with running_engine(tmp_path, store_url=store_url) as engine:
        for command_id, seq in acknowledged.items():
            stored = await engine.store.command(game_id, command_key(0, command_id))
            assert stored is not None
            assert seq == stored.seq


@pytest.mark.timeout(120)
async def test_a_stop_signal_ends_the_process_well(tmp_path: Path, store_url: str) -> None:
    process = Process(tmp_path, free_port(), store_url)
    try:
        async with process.channel() as channel:
            game_id = await start_game(process.caller(channel, "s_m", "service"))
            stream = await process.caller(channel, "p_w").play(game_id, spectator=True)
            await stream.next("attached")
            process.child.send_signal(signal.SIGTERM)
            await stream.next("draining")
        assert 0 == await asyncio.to_thread(process.child.wait, 20)
    finally:
        process.kill()


async def test_a_restart_in_process_continues_bots(tmp_path: Path) -> None:
    async def rounds(engine: Engine) -> int:
        caller = await engine.caller("p_w")
        snapshot = await caller.game(game_id)
        assert awaited(snapshot.decisions) if snapshot.state == pb.GAME_STATE_RUNNING else True
        return snapshot.seq

    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game([built_in(seat, "random") for seat in range(3)])
        await asyncio.sleep(0.1)
        before = await rounds(engine)
    async with running_engine(tmp_path) as engine:
        first = await rounds(engine)
        assert first >= before
        await asyncio.sleep(0.2)
        assert await rounds(engine) > first
