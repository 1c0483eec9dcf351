"""The program itself, killed with SIGKILL while it starts a game."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.identity.v1.identity_service_pb2_grpc import IdentityServiceStub
from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx.matchmaker.v1.matchmaker_service_pb2_grpc import MatchmakerServiceStub
from support_matchmaker import Guest, Peers, eventually

_PORT = re.compile(r'"port": ?(\d+)')


class Program:
    """A running matchmaker, and stubs to call it with."""

    def __init__(self, process: asyncio.subprocess.Process, channel: grpc.aio.Channel) -> None:
        self.process = process
        self.identity = IdentityServiceStub(channel)
        self.rooms = MatchmakerServiceStub(channel)

    async def guest(self, name: str) -> Guest:
        made = await self.identity.CreateGuest(identity_pb.CreateGuestRequest(name=name))
        return Guest(made.account.player_id, name, made.token.jwt)

    async def state(self, guest: Guest, room: pb.Room) -> pb.RoomState.ValueType:
        request = pb.GetRoomRequest(room_id=room.room_id)
        return (await self.rooms.GetRoom(request, metadata=guest.auth)).room.state

    async def current(self, guest: Guest) -> pb.GetCurrentGameResponse:
        return await self.rooms.GetCurrentGame(pb.GetCurrentGameRequest(), metadata=guest.auth)

    async def is_free(self, guest: Guest) -> bool:
        found = await self.current(guest)
        return not (found.room_id or found.game_id)


@asynccontextmanager
async def program(directory: Path, peers: Peers) -> AsyncIterator[Program]:
    environment = {
        **os.environ,
        "OPOLYX_MATCHMAKER_STORE_URL": f"sqlite:///{directory}/matchmaker.db",
        "OPOLYX_MATCHMAKER_SIGNING_KEYS_FILE": str(directory / "keys.json"),
        "OPOLYX_MATCHMAKER_ENGINE_ADDRESS": peers.address,
        "OPOLYX_MATCHMAKER_LISTEN_ADDRESS": "127.0.0.1:0",
        "OPOLYX_MATCHMAKER_LOG_FORMAT": "json",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "opolyx_matchmaker.main",
        env=environment,
        stderr=asyncio.subprocess.PIPE,
    )
    reading = None
    try:
        port = await _bound_port(process)
        assert process.stderr is not None
        reading = asyncio.create_task(process.stderr.read())
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield Program(process, channel)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if reading is not None:
            await reading


async def _bound_port(process: asyncio.subprocess.Process) -> int:
    assert process.stderr is not None
    while line := await process.stderr.readline():
        if b"server_started" in line and (found := _PORT.search(line.decode())):
            return int(found.group(1))
    raise AssertionError("the program ended")


@pytest.mark.timeout(180)
@pytest.mark.parametrize("created", [False, True], ids=["before", "after"])
async def test_kill_in_the_middle_of_a_start_leaves_one_started_game(
    tmp_path: Path, peers: Peers, created: bool
) -> None:
    """Killed at CreateGame, before or after it takes effect; nobody asks for the start again."""
    async with program(tmp_path, peers) as first:
        ada, bo = await first.guest("Ada"), await first.guest("Bo")
        wanted = pb.CreateRoomRequest(request_id="1", ruleset="classic@full", seats=2, public=True)
        room = (await first.rooms.CreateRoom(wanted, metadata=ada.auth)).room
        join = pb.JoinRoomRequest(room_id=room.room_id)
        await first.rooms.JoinRoom(join, metadata=bo.auth)
        if created:
            peers.engine.after_create = first.process.kill
        else:
            peers.engine.before_create = first.process.kill
        with pytest.raises(grpc.aio.AioRpcError):
            await first.rooms.StartGame(
                pb.StartGameRequest(room_id=room.room_id), metadata=ada.auth
            )
        assert -9 == await first.process.wait()

    async with program(tmp_path, peers) as second:
        peers.engine.before_create = peers.engine.after_create = lambda: None

        async def has_started() -> bool:
            return await second.state(ada, room) == pb.ROOM_STATE_STARTED

        await eventually(has_started, 60)
        assert 1 == peers.engine.created
        assert [room.game_id] == list(peers.engine.games)
        for guest in (ada, bo):
            assert room.game_id == (await second.current(guest)).game_id
        peers.engine.finish(room.game_id)
        await eventually(lambda: second.is_free(bo), 60)
        assert await second.is_free(ada)
