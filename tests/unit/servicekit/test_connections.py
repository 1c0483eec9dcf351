"""Connections of a server are closed from within its process, those of the peers that are named."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator

import pytest

from opolyx_servicekit.connections import Connections, host_of


@pytest.fixture(params=["127.0.0.1", "::"])
async def port(request: pytest.FixtureRequest) -> AsyncIterator[int]:
    """A port of this process that echoes; gRPC listens as the second does, for IPv4 too."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)
        writer.close()

    held = socket.socket(socket.AF_INET6 if request.param == "::" else socket.AF_INET)
    if held.family == socket.AF_INET6:
        held.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    held.bind((request.param, 0))
    async with await asyncio.start_server(echo, sock=held) as server:
        yield server.sockets[0].getsockname()[1]


async def connected(port: int) -> tuple[str, asyncio.StreamReader, asyncio.StreamWriter]:
    """The name that gRPC would give the peer, and its ends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"x")
    assert b"x" == await reader.readexactly(1)
    return f"ipv4:127.0.0.1:{writer.get_extra_info('sockname')[1]}", reader, writer


async def test_only_those_that_are_named_are_closed(port: int) -> None:
    named, reader, writer = await connected(port)
    _, other_reader, other_writer = await connected(port)

    assert 1 == Connections().close({named, "ipv4:127.0.0.1:1", "unix:/tmp/x"}, {port})

    assert b"" == await reader.read()
    other_writer.write(b"y")
    assert b"y" == await other_reader.readexactly(1)
    assert 0 == Connections().close({named}, {port})
    for one in (writer, other_writer):
        one.close()


async def test_what_is_no_connection_to_the_ports_stays_open(port: int) -> None:
    named, reader, writer = await connected(port)

    assert 0 == Connections().close({named}, {port + 1})

    writer.write(b"y")
    assert b"y" == await reader.readexactly(1)
    writer.close()


async def test_who_took_the_number_of_another_is_somebody_else(port: int) -> None:
    connections = Connections()
    for _ in range(3):
        named, reader, writer = await connected(port)
        assert 0 == connections.close({"ipv4:127.0.0.1:1"}, {port})
        assert 1 == connections.close({named}, {port})
        assert b"" == await reader.read()
        writer.close()
        await writer.wait_closed()


async def test_no_file_is_left_open(port: int) -> None:
    named, _, writer = await connected(port)
    connections = Connections()
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        connections.close({named}, {port})
    assert before == len(os.listdir("/dev/fd"))
    writer.close()


async def test_own_calls_to_others_are_no_clients(port: int) -> None:
    """The other end of a connection is in this process, too: its peer is the server."""
    named, reader, writer = await connected(port)

    assert 0 == Connections().close({f"ipv4:127.0.0.1:{port}"}, {port})

    writer.write(b"y")
    assert b"y" == await reader.readexactly(1)
    assert named
    writer.close()


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("ipv4:192.0.2.7:5", "192.0.2.7"),
        ("ipv6:%5B2001:db8::1%5D:5", "2001:db8::1"),
        ("ipv6:[2001:db8::1]:5", "2001:db8::1"),
        ("ipv6:%5Bfe80::1%25eth0%5D:5", "fe80::1"),
        ("ipv6:%5B::ffff:192.0.2.7%5D:5", "192.0.2.7"),
        ("unix:/tmp/socket", ""),
        ("unix:", ""),
        ("ipv4:nobody:5", ""),
        ("", ""),
    ],
)
def test_addresses_are_read_out_of_grpcs_names(peer: str, host: str) -> None:
    assert host == host_of(peer)
