"""The keepalive of the SDK and of the server as a pair: quiet links live, dead ones are noticed."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx_sdk import AsyncClient, ClientOptions, ConnectionLost, Game, NotAllowed
from opolyx_sdk._transport.channel import GAME_HEADER
from opolyx_servicekit import peers
from opolyx_servicekit.settings import ServiceSettings
from support_engine import Engine, people, running_engine
from support_proxy import FlakyProxy

# The default pair, fifty times as fast.
QUICK = ClientOptions(keepalive_s=0.4, keepalive_timeout_s=0.2, connect_timeout_s=1)
QUICK_SERVER: dict[str, Any] = {
    "keepalive_seconds": 0.6,
    "keepalive_timeout_seconds": 0.2,
    "least_ping_seconds": 0.2,
}


@asynccontextmanager
async def client_of(engine: Engine, seat: int, address: str = "") -> AsyncIterator[AsyncClient]:
    async with AsyncClient(
        address or f"127.0.0.1:{engine.port}", token=engine.token(f"p_{seat}"), options=QUICK
    ) as client:
        yield client


@contextmanager
def dead_address(kind: str) -> Iterator[str]:
    """An address where nobody answers: connected to but silent, not even that, or closed."""
    with socket.socket() as listener, contextlib.ExitStack() as stack:
        listener.bind(("127.0.0.1", 0))
        if kind != "refuses":
            listener.listen(0 if kind == "swallows" else 64)
        if kind == "swallows":  # the system drops further attempts once nobody accepts these
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(listener.getsockname())
        yield f"127.0.0.1:{listener.getsockname()[1]}"


async def move(games: list[Game]) -> int:
    """Let the awaited seat do the first thing it may; the update's number."""
    game = next(one for one in games if one.decision)
    assert game.decision is not None
    return await game.submit(game.decision.legal_actions[0])


def test_the_default_intervals_belong_together() -> None:
    """Case A-33: nobody of ours pings more often than our server allows; dead links show in 60 s."""
    client, server = ClientOptions(), ServiceSettings()
    between_services = dict(peers._OPTIONS)["grpc.keepalive_time_ms"]
    assert client.keepalive_s >= server.least_ping_seconds
    assert between_services >= server.least_ping_seconds * 1000
    assert client.keepalive_s + client.keepalive_timeout_s < 60
    assert server.keepalive_seconds + server.keepalive_timeout_seconds < 60


async def test_a_quiet_stream_is_not_cut_off_for_its_pings(tmp_path: Path) -> None:
    """Case A-33: ten pings without a word, then the same stream carries a move."""
    async with running_engine(tmp_path, **QUICK_SERVER) as engine:
        game_id = await engine.new_game(people(2))
        async with (
            FlakyProxy(engine.port) as network,
            client_of(engine, 0, network.address) as first,
            client_of(engine, 1, network.address) as second,
            first.play(game_id) as one,
            second.play(game_id) as two,
        ):
            await asyncio.sleep(4)
            assert 2 == network.accepted
            seq = await move([one, two])
            assert [seq, seq] == [(await anext(game)).seq for game in (one, two)]
            assert 2 == network.accepted == len(network.links)


async def test_who_pings_more_often_than_the_server_allows_is_cut_off(tmp_path: Path) -> None:
    """Case A-33: what the test before would see, were the pair not one."""
    strict = {**QUICK_SERVER, "least_ping_seconds": 300.0}
    async with running_engine(tmp_path, **strict) as engine:
        game_id = await engine.new_game(people(2))
        async with (
            FlakyProxy(engine.port) as network,
            client_of(engine, 0, network.address) as client,
            client.play(game_id),
            asyncio.timeout(20),
        ):
            while network.accepted < 2:  # noqa: ASYNC110 - a test's wait
                await asyncio.sleep(0.05)


async def test_a_dead_link_is_noticed_by_both_ends_and_replaced(tmp_path: Path) -> None:
    """Case A-33: the network swallows everything and closes nothing."""
    async with running_engine(tmp_path, **QUICK_SERVER) as engine:
        game_id = await engine.new_game(people(2))
        async with (
            FlakyProxy(engine.port) as network,
            client_of(engine, 0, network.address) as first,
            client_of(engine, 1) as second,
            first.play(game_id) as one,
            second.play(game_id) as two,
        ):
            (dead,) = network.links
            dead.swallows_up = dead.swallows_down = True
            async with asyncio.timeout(10):
                while network.accepted < 2 or not one.connected_seats:  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
                while len(engine.service.streams) != 2:  # noqa: ASYNC110 - not the dead one
                    await asyncio.sleep(0.02)
                seq = await move([one, two])
                assert [seq, seq] == [(await anext(game)).seq for game in (one, two)]


class Refusing(grpc.GenericRpcHandler):
    """Notes how long each call may take and which game it names, and refuses it."""

    def __init__(self) -> None:
        self.seen: dict[str, tuple[float | None, str]] = {}

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        method = str(handler_call_details.method).rpartition("/")[2]
        metadata = handler_call_details.invocation_metadata or ()
        game = "".join(str(value) for key, value in metadata if key == GAME_HEADER)

        async def refuse(request: Any, context: Any) -> Any:
            self.seen.setdefault(method, (context.time_remaining(), game))
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "not for you")

        if method == "Play":
            return grpc.stream_stream_rpc_method_handler(refuse)
        return grpc.unary_unary_rpc_method_handler(refuse)


async def test_a_stream_has_no_deadline_and_a_call_has_one_and_both_name_the_game() -> None:
    """Case A-33: a default deadline would cut healthy streams."""
    refusing, server = Refusing(), grpc.aio.server()
    server.add_generic_rpc_handlers((refusing,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with AsyncClient(f"127.0.0.1:{port}", token="the-token") as client:
        with pytest.raises(NotAllowed):
            await client.get_game("g1")
        with pytest.raises(NotAllowed):
            await client.play("g2").__aenter__()
    await server.stop(0)

    left_s, game_id = refusing.seen["GetGame"]
    assert left_s is not None
    assert left_s < 2 * ClientOptions().call_timeout_s
    assert "g1" == game_id
    assert (None, "g2") == refusing.seen["Play"]


@pytest.mark.parametrize("game_id", ["萬", "g\n", "g 1", "g" * 20_000])
async def test_an_id_that_no_header_can_hold_is_the_servers_to_refuse(game_id: str) -> None:
    refusing, server = Refusing(), grpc.aio.server()
    server.add_generic_rpc_handlers((refusing,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with AsyncClient(f"127.0.0.1:{port}", token="the-token") as client:
        with pytest.raises(NotAllowed):
            await client.get_game(game_id)
        with pytest.raises(NotAllowed):
            await client.play(game_id).__aenter__()
    await server.stop(0)
    assert "" == refusing.seen["GetGame"][1] == refusing.seen["Play"][1]


@pytest.mark.parametrize("kind", ["silent", "swallows", "refuses"])
async def test_dialling_a_dead_address_fails_with_a_clear_error(kind: str) -> None:
    """Case A-33: within the connect timeout, not never."""
    options = ClientOptions(connect_timeout_s=0.2, patience_s=0.8)
    with dead_address(kind) as address:
        async with AsyncClient(address, token="the-token", options=options) as client:
            async with asyncio.timeout(10):
                with pytest.raises(ConnectionLost, match=f"no server answers at {address}"):
                    await client.connect(0.5)
                with pytest.raises(ConnectionLost, match=f"no answer from {address}"):
                    await client.list_games()
                with pytest.raises(ConnectionLost):
                    async with client.play("g1"):
                        pass
