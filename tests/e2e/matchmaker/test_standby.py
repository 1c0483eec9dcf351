"""Two matchmakers on one Redis: one serves, the other takes over when that is killed or stands still."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.identity.v1.identity_service_pb2_grpc import IdentityServiceStub
from opolyx_sdk import AsyncClient, Found, Room
from opolyx_servicekit.access import Principal
from opolyx_servicekit.peers import PeerSettings, open_channel
from opolyx_servicekit.revocation_watch import RevocationWatch
from opolyx_servicekit.revocations import RevokedTokens
from support_matchmaker import Peers, eventually, reason_of, running_matchmaker
from support_proxy import FlakyProxy
from support_redis import RedisServer, redis_server

SERVING = health_pb2.HealthCheckResponse.SERVING
READINESS = "opolyx.matchmaker.v1.MatchmakerService"
PLAYERS = ("Ada", "Bo", "Cy", "Dee")


class Matchmaker:
    """The program in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, channel: Any) -> None:
        self.process = process
        self.port = port
        self.channel = channel
        assert process.stderr is not None
        self._log = asyncio.create_task(process.stderr.read())

    async def health(self, name: str) -> int:
        """What it says of itself; 0 if it says nothing."""
        try:
            request = health_pb2.HealthCheckRequest(service=name)
            stub: Any = health_pb2_grpc.HealthStub(self.channel)
            answer = await stub.Check(request, timeout=1)
        except grpc.aio.AioRpcError:
            return 0
        return int(answer.status)

    async def is_ready(self) -> bool:
        return await self.health(READINESS) == SERVING

    async def ended(self) -> tuple[int, str]:
        """Its exit code and its log, once it has ended."""
        async with asyncio.timeout(30):
            return await self.process.wait(), (await self._log).decode()


class House:
    """Redis, an engine, and a proxy that sends new connections to whom is ready, as Kubernetes does."""

    def __init__(self, directory: Path, peers: Peers, redis: RedisServer) -> None:
        self._directory = directory
        self._peers = peers
        self._redis = redis
        self.proxy = FlakyProxy(1)
        self.matchmakers: list[Matchmaker] = []

    async def start(self, stack: AsyncExitStack) -> Matchmaker:
        """Another matchmaker."""
        environment = {
            **os.environ,
            "OPOLYX_MATCHMAKER_STORE_URL": self._redis.url,
            "OPOLYX_MATCHMAKER_LEASE_SECONDS": "3",
            "OPOLYX_MATCHMAKER_SIGNING_KEYS_FILE": str(self._directory / "keys.json"),
            "OPOLYX_MATCHMAKER_ENGINE_ADDRESS": self._peers.address,
            "OPOLYX_MATCHMAKER_LOG_FORMAT": "json",
            "OPOLYX_MATCHMAKER_SWEEP_SECONDS": "0.2",
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "opolyx_matchmaker.main"),
            env=environment,
            stderr=asyncio.subprocess.PIPE,
        )
        stack.push_async_callback(_end, process)
        port = await _bound_port(process)
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(f"127.0.0.1:{port}"))
        started = Matchmaker(process, port, channel)
        self.matchmakers.append(started)
        return started

    async def route(self) -> None:
        """Lead to whom is ready, for ever."""
        while True:
            for one in self.matchmakers:
                if await one.is_ready():
                    self.proxy.port = one.port
            await asyncio.sleep(0.05)


@asynccontextmanager
async def house(directory: Path, peers: Peers) -> AsyncIterator[tuple[House, AsyncExitStack]]:
    with redis_server(directory / "redis") as redis:
        async with AsyncExitStack() as stack:
            built = House(directory, peers, redis)
            await stack.enter_async_context(built.proxy)
            routing = asyncio.create_task(built.route())
            stack.push_async_callback(_cancelled, routing)
            yield built, stack


async def search(client: AsyncClient) -> Found:
    async for progress in client.quick_match("classic@full", 2):
        if isinstance(progress, Found):
            return progress
    raise AssertionError("the search ended without a game")


async def watched(client: AsyncClient, room_id: str) -> Room:
    """The room as the watcher saw it last."""
    last = None
    async for room in client.watch_room(room_id):
        last = room
    assert last is not None
    return last


@pytest.mark.timeout(120)
async def test_one_takes_over_from_the_other_and_nobody_has_two_seats(
    tmp_path: Path, peers: Peers
) -> None:
    async with house(tmp_path, peers) as (built, stack):
        first, second = await built.start(stack), await built.start(stack)
        await eventually(first.is_ready)
        clients = {
            name: await stack.enter_async_context(AsyncClient(built.proxy.address))
            for name in PLAYERS
        }
        for name, client in clients.items():
            await client.create_guest(name)
        ada, bo, cy, dee = clients.values()

        # The second lives, takes no traffic, and says when to come back.
        assert SERVING == await second.health("")
        assert not await second.is_ready()
        guest = identity_pb.CreateGuestRequest(name="Eve")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await IdentityServiceStub(second.channel).CreateGuest(guest)
        assert (grpc.StatusCode.UNAVAILABLE, "STANDBY") == (
            caught.value.code(),
            reason_of(caught.value),
        )

        # Killed while somebody watches a room, somebody searches, and somebody joins.
        room = await ada.create_room("classic@full", 2, public=True)
        watching = asyncio.create_task(watched(ada, room.room_id))
        searching = asyncio.create_task(search(cy))
        await asyncio.sleep(0.2)
        first.process.kill()
        await bo.join_room(room.room_id)
        assert await second.is_ready()
        found = await asyncio.gather(searching, search(dee))
        assert 1 == len({one.game_id for one in found})
        assert {0, 1} == {one.seat for one in found}
        game_id = await ada.start_game(room.room_id)
        assert game_id == (await watching).game_id
        assert {game_id, found[0].game_id} == set(peers.engine.games)
        assert 2 == peers.engine.created

        # One that stands still is overtaken; when it wakes, it does nothing more and ends.
        second.process.send_signal(signal.SIGSTOP)
        third = await built.start(stack)
        late = asyncio.create_task(_guest(second.channel))
        await eventually(third.is_ready, 20)
        second.process.send_signal(signal.SIGCONT)
        code, log = await second.ended()
        assert (2, True) == (code, "lease_lost" in log)
        assert "made" != await late
        for client, game in ((ada, game_id), (bo, game_id), (cy, found[0].game_id)):
            assert game == (await client.current_game()).game_id

        # The game ends, and its players are free.
        peers.engine.finish(game_id)

        async def is_free() -> bool:
            return not (await bo.current_game()).game_id

        await eventually(is_free, 20)


async def test_one_that_is_told_to_end_lets_the_next_one_serve(
    tmp_path: Path, peers: Peers
) -> None:
    """Without a wait for the lease, which would last an hour here."""
    with redis_server(tmp_path / "redis") as redis:
        settings: dict[str, Any] = {"store_url": redis.url, "lease_seconds": 3600.0}
        async with AsyncExitStack() as first, AsyncExitStack() as second:
            one = await first.enter_async_context(running_matchmaker(tmp_path, peers, **settings))
            ada = await one.guest("Ada")
            room = await one.create(ada)
            other = await second.enter_async_context(
                running_matchmaker(tmp_path, peers, **settings)
            )
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await other.get(ada, room)
            assert "STANDBY" == reason_of(caught.value)

            await first.aclose()
            await other.service.duty.look()

            assert room.room_id == (await other.current(ada)).room_id
            await other.add_bot(ada, room)
            assert await other.start(ada, room) in peers.engine.games


async def test_who_follows_revocations_finds_the_one_that_serves(
    tmp_path: Path, peers: Peers
) -> None:
    """At an address with two processes, as the engine and progression have it in Kubernetes."""
    revoked, followed = RevokedTokens(), asyncio.Event()
    with redis_server(tmp_path / "redis") as redis:
        settings: dict[str, Any] = {"store_url": redis.url, "lease_seconds": 3600.0}
        async with AsyncExitStack() as first, AsyncExitStack() as second:
            one = await first.enter_async_context(running_matchmaker(tmp_path, peers, **settings))
            other = await second.enter_async_context(
                running_matchmaker(tmp_path, peers, **settings)
            )
            ada = await one.guest("Ada")
            ports = f"ipv4:127.0.0.1:{other.port},127.0.0.1:{one.port}"
            channel = await second.enter_async_context(
                open_channel(ports, PeerSettings(), one_serves=True)
            )
            watch = RevocationWatch(
                lambda: IdentityServiceStub(channel).WatchRevocations(
                    identity_pb.WatchRevocationsRequest(),
                    metadata=one.signed("s_engine", "service").auth,
                ),
                revoked,
                lambda is_up: followed.set() if is_up else followed.clear(),
            )
            watching = asyncio.create_task(watch.run())
            second.push_async_callback(_cancelled, watching)
            async with asyncio.timeout(10):
                await followed.wait()

            await first.aclose()
            await eventually(lambda: not followed.is_set())
            await other.service.duty.look()
            async with asyncio.timeout(10):
                await followed.wait()
            await other.identity.RevokeToken(identity_pb.RevokeTokenRequest(), metadata=ada.auth)
            principal = Principal(ada.player_id, "player", token_id=ada.token_id)
            await eventually(lambda: revoked.is_revoked(principal))


async def _guest(channel: grpc.aio.Channel) -> str:
    """Ask for an account; what became of it."""
    try:
        await IdentityServiceStub(channel).CreateGuest(identity_pb.CreateGuestRequest(name="Eve"))
    except grpc.aio.AioRpcError:
        return "refused, or lost with its connection"
    return "made"


async def _bound_port(process: asyncio.subprocess.Process) -> int:
    assert process.stderr is not None
    while line := await process.stderr.readline():
        found = re.search(r'"port": ?(\d+)', line.decode())
        if b"server_started" in line and found:
            return int(found.group(1))
    raise AssertionError("the program ended")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGCONT)
        process.kill()
    await process.wait()


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
