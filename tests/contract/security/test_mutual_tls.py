"""Services believe each other by certificates as well as tokens, where an authority is set."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue

from opolyx_servicekit.access import Principal
from opolyx_servicekit.peers import PeerSettings, open_channel
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.settings import ServiceSettings
from support_certificates import tls_channel, write_certificate

SERVICE = "shop.v1.Shop"
ECHO = f"/{SERVICE}/Echo"


class NamedVerifier:
    """A token is its role."""

    def verify(self, token: str) -> Principal:
        return Principal(subject=f"s_{token}", role=token)


async def echo_back(request: StringValue, context: Any) -> StringValue:
    return request


def add_shop(server: grpc.aio.Server) -> None:
    handler = grpc.unary_unary_rpc_method_handler(
        echo_back,
        request_deserializer=StringValue.FromString,
        response_serializer=StringValue.SerializeToString,
    )
    generic = grpc.method_handlers_generic_handler(SERVICE, {"Echo": handler})
    server.add_generic_rpc_handlers((generic,))


@dataclass
class Files:
    """Certificates with their keys."""

    server: tuple[Path, Path]
    service: tuple[Path, Path]
    stranger: tuple[Path, Path]

    @property
    def authority(self) -> bytes:
        return self.server[0].read_bytes()


@pytest.fixture
def files(tmp_path: Path) -> Files:
    names = ("server", "service", "stranger")
    return Files(*(write_certificate(tmp_path, name) for name in names))


@asynccontextmanager
async def serving(files: Files, **settings: Any) -> AsyncIterator[ServiceServer]:
    made = ServiceSettings(
        tls_cert_file=files.server[0],
        tls_key_file=files.server[1],
        tls_client_ca_file=files.service[0],
        grace_seconds=0,
        **settings,
    )
    server = ServiceServer(
        made,
        add_services=add_shop,
        service_names=[SERVICE],
        roles={ECHO: frozenset({"service", "player"})},
        verifier=NamedVerifier(),
    )
    async with server:
        yield server


async def code_of(channel: Any, role: str) -> grpc.StatusCode:
    call = channel.unary_unary(ECHO, StringValue.SerializeToString, StringValue.FromString)
    metadata = (("authorization", f"Bearer {role}"),)
    try:
        await call(StringValue(value="a"), metadata=metadata, timeout=10)
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def test_services_have_a_listener_of_their_own_and_players_need_no_certificate(
    files: Files,
) -> None:
    async with serving(files, service_address="127.0.0.1:0") as server:
        assert server.service_port not in (0, server.bound_port)
        async with tls_channel(server.bound_port, files.authority) as channel:
            assert await code_of(channel, "player") is grpc.StatusCode.OK
            # A stolen token of a service is worth nothing without a certificate.
            assert await code_of(channel, "service") is grpc.StatusCode.PERMISSION_DENIED
        async with tls_channel(server.service_port, files.authority, files.service) as channel:
            assert await code_of(channel, "service") is grpc.StatusCode.OK


@pytest.mark.parametrize("shown", ["none", "a stranger's"])
async def test_whoever_shows_no_certificate_or_a_strangers_gets_nowhere(
    files: Files, shown: str
) -> None:
    own = None if shown == "none" else files.stranger
    async with (
        serving(files, service_address="127.0.0.1:0") as server,
        tls_channel(server.service_port, files.authority, own) as channel,
    ):
        assert await code_of(channel, "service") is grpc.StatusCode.UNAVAILABLE


async def test_a_services_own_channel_shows_its_certificate(files: Files) -> None:
    settings = PeerSettings(
        peer_ca_file=files.server[0],
        peer_cert_file=files.service[0],
        peer_key_file=files.service[1],
    )
    async with (
        serving(files) as server,
        open_channel(f"127.0.0.1:{server.bound_port}", settings) as channel,
    ):
        assert await code_of(channel, "service") is grpc.StatusCode.OK


async def test_a_server_that_is_not_ours_is_not_called(files: Files) -> None:
    settings = PeerSettings(peer_ca_file=files.stranger[0])
    async with (
        serving(files) as server,
        open_channel(f"127.0.0.1:{server.bound_port}", settings) as channel,
    ):
        assert await code_of(channel, "service") is grpc.StatusCode.UNAVAILABLE


async def test_the_authority_of_services_is_replaced_while_the_server_runs(
    files: Files, tmp_path: Path
) -> None:
    async with serving(files, service_address="127.0.0.1:0") as server:
        async with tls_channel(server.service_port, files.authority, files.service) as channel:
            assert await code_of(channel, "service") is grpc.StatusCode.OK
        old = tmp_path / "old.pem", tmp_path / "old.key"
        for kept, file in zip(old, files.service, strict=True):
            kept.write_bytes(file.read_bytes())
        write_certificate(tmp_path, "service")

        async with tls_channel(server.service_port, files.authority, files.service) as channel:
            assert await code_of(channel, "service") is grpc.StatusCode.OK
        async with tls_channel(server.service_port, files.authority, old) as channel:
            assert await code_of(channel, "service") is grpc.StatusCode.UNAVAILABLE


async def test_a_broken_certificate_leaves_the_last_good_one(files: Files) -> None:
    async with serving(files, service_address="127.0.0.1:0") as server:
        authority = files.authority
        files.server[0].unlink()
        async with tls_channel(server.bound_port, authority) as channel:
            assert await code_of(channel, "player") is grpc.StatusCode.OK


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"tls_client_ca_file": Path("ca.pem")}, "need tls_cert_file"),
        ({"service_address": "127.0.0.1:0"}, "need tls_cert_file"),
        ({"tls_key_file": Path("a.key")}, "belong together"),
    ],
)
async def test_half_of_the_settings_is_refused(settings: dict[str, Any], problem: str) -> None:
    server = ServiceServer(
        ServiceSettings(**settings),
        add_services=add_shop,
        service_names=[SERVICE],
        roles={},
        verifier=None,
    )
    with pytest.raises(ValueError, match=problem):
        await server.__aenter__()


async def test_a_certificate_whose_key_is_still_the_old_one_waits_for_its_key(
    files: Files, tmp_path: Path
) -> None:
    """The two files are replaced one after the other, and clients come in between."""
    other = tmp_path / "other"
    other.mkdir()
    new_cert, new_key = write_certificate(other, "server")
    async with serving(files, service_address="127.0.0.1:0") as server:
        old = files.authority
        files.server[0].write_bytes(new_cert.read_bytes())
        async with tls_channel(server.bound_port, old) as channel:
            assert await code_of(channel, "player") is grpc.StatusCode.OK

        files.server[1].write_bytes(new_key.read_bytes())
        async with tls_channel(server.bound_port, files.authority) as channel:
            assert await code_of(channel, "player") is grpc.StatusCode.OK
