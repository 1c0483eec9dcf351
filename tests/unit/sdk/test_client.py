"""The clients themselves: loops, threads, tokens, errors."""

import asyncio
import inspect
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx.identity.v1 import identity_service_pb2
from opolyx_sdk import (
    AsyncClient,
    Client,
    ClientOptions,
    ConnectionLost,
    Game,
    LimitReached,
    Refused,
    RequestError,
    SyncGame,
)
from opolyx_sdk._backoff import Backoff
from opolyx_sdk._server_clock import ServerClock
from opolyx_sdk.actions import Roll
from support_sdk import ScriptedEngine, ScriptedIdentity, refused, scripted_server


class Served:
    """A scripted server in a thread of its own, for clients that bring their own loops."""

    def __init__(self) -> None:
        self.engine: ScriptedEngine
        self.address = ""
        self._ready = threading.Event()
        self._stop: asyncio.Event
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with scripted_server() as (self.engine, self.address):
            self.engine.game()
            self._ready.set()
            await self._stop.wait()

    def __enter__(self) -> "Served":
        self._thread.start()
        assert self._ready.wait(5)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)

    def advance(self, *, over: bool = False) -> None:
        self._loop.call_soon_threadsafe(lambda: self.engine.advance(over=over))


def test_one_client_works_in_two_loops_one_after_another() -> None:
    with Served() as served:
        client = AsyncClient(served.address)

        async def play_one() -> int:
            async with client.play("g1") as game:
                served.advance()
                return (await anext(game)).seq

        assert [1, 2] == [asyncio.run(play_one()), asyncio.run(play_one())]
        with ThreadPoolExecutor(1) as pool:
            assert 3 == pool.submit(asyncio.run, play_one()).result(10)


def test_the_blocking_client_plays_refuses_and_ends() -> None:
    with Served() as served, Client(served.address) as client:
        client.create_guest("Ada")
        with client.play("g1") as game:
            assert 0 == game.seq
            assert 1 == game.submit(Roll())
            served.engine.answer = refused
            with pytest.raises(Refused):
                game.submit(Roll())
            served.advance(over=True)
            assert [1, 2] == [update.seq for update in game]
            assert game.over
    assert not [one for one in threading.enumerate() if one.name == "opolyx-client"]


def test_closing_the_blocking_client_ends_the_calls_of_other_threads() -> None:
    client = Client("127.0.0.1:1")
    begun = threading.Event()

    async def wait() -> None:
        begun.set()
        await asyncio.sleep(30)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client._run, wait())
        assert begun.wait(5)
        client.close()
        with pytest.raises(ConnectionLost, match="closed"):
            waiting.result(10)


def test_a_closed_blocking_client_says_so() -> None:
    with Client("127.0.0.1:1") as client:
        pass
    with pytest.raises(ConnectionLost, match="closed"):
        client.who_am_i()


async def test_a_stream_of_a_dead_server_is_a_lost_connection() -> None:
    impatient = ClientOptions(patience_s=0.1)
    async with AsyncClient("127.0.0.1:1", options=impatient) as client:
        with pytest.raises(ConnectionLost):
            await anext(client.watch_room("r_1"))
        with pytest.raises(ConnectionLost):
            await anext(client.quick_match("classic@full", 4))
        with pytest.raises(ConnectionLost):
            await client.past_events("g1", up_to=1)


async def test_a_guests_token_travels_and_shows_nowhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    async with scripted_server() as (engine, address), AsyncClient(address) as client:
        engine.game()
        login = await client.create_guest("Ada")
        async with client.play("g1") as game:
            shown = f"{client!r} {login!r} {game!r} {game.info!r}"

    assert [f"Bearer {ScriptedIdentity.JWT}"] == engine.tokens
    assert ScriptedIdentity.JWT not in shown + caplog.text


async def test_a_dead_address_fails_within_the_connect_timeout() -> None:
    options = ClientOptions(connect_timeout_s=0.5, call_timeout_s=1)
    async with AsyncClient("127.0.0.1:9", options=options) as client:
        with pytest.raises(ConnectionLost):
            await client.connect(0.5)
        with pytest.raises(ConnectionLost):
            await client.create_guest("Ada")


class Failing(ScriptedIdentity):
    def __init__(self, times: int) -> None:
        self.left = times
        self.calls = 0

    async def WhoAmI(self, request: Any, context: Any) -> Any:
        self.calls += 1
        if self.left == 0:
            return identity_service_pb2.WhoAmIResponse(
                account=identity_service_pb2.Account(player_id="p_1")
            )
        self.left -= 1
        details = [AnyMessage(), AnyMessage(), AnyMessage()]
        details[0].Pack(
            error_details_pb2.ErrorInfo(
                reason="ERROR_REASON_LIMIT", domain="opolyx.identity", metadata={"limit": "calls"}
            )
        )
        delay = Duration(nanos=20_000_000)
        details[1].Pack(error_details_pb2.RetryInfo(retry_delay=delay))
        details[2].Pack(
            error_details_pb2.BadRequest(
                field_violations=[
                    error_details_pb2.BadRequest.FieldViolation(
                        field="name", description="too long"
                    )
                ]
            )
        )
        status = status_pb2.Status(code=8, message="too many", details=details)
        rich = rpc_status.to_status(status)
        return await context.abort(rich.code, rich.details, rich.trailing_metadata)


async def served_identity(servicer: ScriptedIdentity) -> tuple[grpc.aio.Server, str]:
    from opolyx.identity.v1 import identity_service_pb2_grpc

    server = grpc.aio.server()
    identity_service_pb2_grpc.add_IdentityServiceServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, f"127.0.0.1:{port}"


async def test_a_limit_with_a_hint_is_waited_for() -> None:
    servicer = Failing(2)  # type: ignore[abstract]
    server, address = await served_identity(servicer)
    async with AsyncClient(address) as client:
        assert "p_1" == (await client.who_am_i()).player_id
    assert 3 == servicer.calls
    await server.stop(0)


async def test_a_failure_tells_everything_the_server_said() -> None:
    server, address = await served_identity(Failing(99))  # type: ignore[abstract]
    async with AsyncClient(address) as client:
        with pytest.raises(LimitReached, match="LIMIT: too many; name: too long") as caught:
            await client.who_am_i()
    await server.stop(0)
    failure = caught.value.failure

    assert isinstance(caught.value, RequestError)
    assert ("LIMIT", "opolyx.identity") == (failure.reason, failure.domain)
    assert {"limit": "calls"} == failure.metadata
    assert 0.02 == caught.value.retry_after_s


def test_waits_grow_jitter_and_obey_the_hint() -> None:
    backoff = Backoff(first_s=0.1, most_s=1.0)
    waits = [backoff.next_wait() for _ in range(50)]
    hinted = [backoff.next_wait(3.0) for _ in range(50)]

    assert waits[0] <= 0.1
    assert max(waits) <= 1.0
    assert len(set(waits)) == 50
    assert 3.0 <= min(hinted)
    assert 0.5 < max(hinted) - min(hinted) <= 1.0, "all would come back at the same moment"
    backoff.reset()
    assert backoff.next_wait() <= 0.1


def test_the_servers_clock_is_read_from_the_least_delayed_time() -> None:
    now = 1000.0
    clock = ServerClock(lambda: now)
    clock.saw(5900)
    clock.saw(5950)
    clock.saw(5000)
    assert 4950 == clock.ahead_ms

    now = 1100.0
    clock.saw_round_trip(1000.0, 6050)
    assert 5000 == clock.ahead_ms
    clock.saw(9999)
    assert 5000 == clock.ahead_ms


def test_the_blocking_client_has_every_call_with_the_same_arguments() -> None:
    for name, method in inspect.getmembers(AsyncClient, inspect.isfunction):
        if name.startswith("_"):
            continue
        wanted, found = (inspect.signature(one) for one in (method, getattr(Client, name)))
        assert list(wanted.parameters.values()) == list(found.parameters.values()), name


def test_the_blocking_game_has_what_a_game_has() -> None:
    public = {name for name in vars(Game) if not name.startswith("_")}

    assert set() == public - set(vars(SyncGame))
