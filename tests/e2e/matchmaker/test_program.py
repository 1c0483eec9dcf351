"""The program itself, as a process."""

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

import grpc

from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.identity.v1.identity_service_pb2_grpc import IdentityServiceStub

_PORT = re.compile(r'"port": ?(\d+)')


async def test_program_makes_its_keys_serves_without_peers_and_stops_when_told(
    tmp_path: Path,
) -> None:
    environment = {
        **os.environ,
        "OPOLYX_MATCHMAKER_STORE_URL": f"sqlite:///{tmp_path}/matchmaker.db",
        "OPOLYX_MATCHMAKER_SIGNING_KEYS_FILE": str(tmp_path / "keys.json"),
        "OPOLYX_MATCHMAKER_ENGINE_ADDRESS": "127.0.0.1:1",
        "OPOLYX_MATCHMAKER_LOG_FORMAT": "json",
        "OPOLYX_MATCHMAKER_RULESETS": "classic@full, speed@full",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "opolyx_matchmaker.main",
        env=environment,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(20):
            port = await _bound_port(process)
            reading = asyncio.create_task(_rest(process))
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                request = identity_pb.CreateGuestRequest(name="Ada")
                made = await IdentityServiceStub(channel).CreateGuest(request)
            process.send_signal(signal.SIGTERM)
            log = await reading
            assert 0 == await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert made.account.player_id.startswith("p_")
    assert made.token.jwt not in log
    assert 0o600 == (tmp_path / "keys.json").stat().st_mode & 0o777


async def _bound_port(process: asyncio.subprocess.Process) -> int:
    assert process.stderr is not None
    while line := await process.stderr.readline():
        if b"server_started" in line and (found := _PORT.search(line.decode())):
            return int(found.group(1))
    raise AssertionError("the program ended")


async def _rest(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    return (await process.stderr.read()).decode()
