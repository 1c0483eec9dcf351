"""The edge and the services prove themselves to each other, as the whole configuration has it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx_sdk import AsyncClient, ClientOptions
from opolyx_servicekit.peers import PeerSettings, open_channel
from support_certificates import write_certificate
from support_engine import Caller, Engine, new_game, people, running_engine
from support_envoy import Edge, running_edge

NAMES = ("opolyx-engine", "opolyx-matchmaker", "opolyx-progression", "opolyx-edge-services")


@dataclass
class Proven:
    """An engine that wants certificates, the edge in front, and the certificate of all services."""

    engine: Engine
    edge: Edge
    proof: tuple[Path, Path]

    @asynccontextmanager
    async def service(self, *, shown: bool = True) -> AsyncIterator[Caller]:
        """Who comes to the listener for services."""
        cert, key = self.proof
        settings = PeerSettings(
            peer_ca_file=cert,
            peer_cert_file=cert if shown else None,
            peer_key_file=key if shown else None,
        )
        address = f"127.0.0.1:{self.edge.port('services')}"
        async with open_channel(address, settings, name=NAMES[3]) as channel:
            yield Caller(channel, self.engine.token("s_matchmaker", "service"))


@asynccontextmanager
async def proven(directory: Path) -> AsyncIterator[Proven]:
    cert, key = write_certificate(directory, "services", *NAMES)
    async with (
        running_engine(
            directory, tls_cert_file=cert, tls_key_file=key, tls_client_ca_file=cert
        ) as engine,
        running_edge(directory, [engine.port], proof=(cert, key)) as edge,
    ):
        yield Proven(engine, edge, (cert, key))


async def test_a_service_makes_a_game_and_a_player_plays_it(tmp_path: Path) -> None:
    async with proven(tmp_path) as all_of_it, all_of_it.service() as service:
        edge, engine = all_of_it.edge, all_of_it.engine
        game_id = await new_game(service, "r1", people(2))
        options = ClientOptions(tls=edge.tls)
        async with (
            AsyncClient(edge.address, token=engine.token("p_0"), options=options) as client,
            client.play(game_id) as game,
        ):
            assert 0 == game.seat


async def test_who_shows_no_certificate_is_no_service(tmp_path: Path) -> None:
    async with proven(tmp_path) as all_of_it, all_of_it.service(shown=False) as nobody:
        request = allocation_pb.ReserveGameRequest(request_id="r1")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await nobody.allocation.ReserveGame(request, metadata=nobody.metadata, timeout=5)
        assert grpc.StatusCode.UNAVAILABLE is caught.value.code()


async def test_a_services_token_alone_makes_no_game_at_the_edge(tmp_path: Path) -> None:
    async with proven(tmp_path) as all_of_it:
        authority = grpc.ssl_channel_credentials(all_of_it.edge.authority)
        async with grpc.aio.secure_channel(all_of_it.edge.address, authority) as channel:
            thief = Caller(channel, all_of_it.engine.token("s_matchmaker", "service"))
            request = allocation_pb.ReserveGameRequest(request_id="r1")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await thief.allocation.ReserveGame(request, metadata=thief.metadata)
            assert grpc.StatusCode.UNIMPLEMENTED is caught.value.code()
