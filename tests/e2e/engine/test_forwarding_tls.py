"""Engines that believe each other by certificates, which name the service and not an address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_servicekit.peers import PeerSettings, open_channel
from support_certificates import write_certificate
from support_engine import Caller, Engine, new_game, people
from support_replicas import error_info, replica_at, running_engines

NAME = "opolyx-engine"


def proofs(directory: Path) -> dict[str, Any]:
    """Settings of engines that show a certificate of their name, and ask for one."""
    cert, key = write_certificate(directory, "engines", NAME)
    return {
        "tls_cert_file": cert,
        "tls_key_file": key,
        "tls_client_ca_file": cert,
        "peer_ca_file": cert,
        "peer_cert_file": cert,
        "peer_key_file": key,
    }


@asynccontextmanager
async def caller_of(
    engine: Engine, files: dict[str, Any], subject: str, role: str = "player"
) -> AsyncIterator[Caller]:
    peer = PeerSettings(**{name: path for name, path in files.items() if name.startswith("peer_")})
    async with open_channel(f"127.0.0.1:{engine.port}", peer, name=NAME) as channel:
        yield Caller(channel, engine.token(subject, role))


@pytest.mark.parametrize("named", [True, False])
async def test_a_call_is_sent_on_to_who_proves_the_name_and_to_nobody_else(
    tmp_path: Path, named: bool
) -> None:
    files = proofs(tmp_path)
    settings = {**files, "replica_name": NAME if named else ""}
    async with (
        running_engines(tmp_path, 2, **settings) as ((owner, other), owners),
        caller_of(owner, files, "s_matchmaker", "service") as service,
        caller_of(other, files, "p_0") as player,
    ):
        game_id = await new_game(service, "r1", people(2))
        owners.of[game_id] = replica_at(owner.port)
        if named:
            assert 0 == (await player.game(game_id)).your_seat
            stream = await player.play(game_id)
            assert 0 == (await stream.next("snapshot")).your_seat
        else:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await player.game(game_id)
            assert "NOT_OWNER" == error_info(caught.value).reason
            stream = await player.play(game_id)
            assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason
