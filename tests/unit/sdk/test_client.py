"""The clients themselves: loops, threads, tokens, errors."""

import asyncio
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from opolyx_sdk import (
    AsyncClient,
    Client,
    ClientOptions,
    ConnectionLost,
    Game,
    LimitReached,
    Refused,
    SyncGame,
)
from opolyx_sdk._backoff import Backoff
from opolyx_sdk._server_clock import ServerClock
from opolyx_sdk.actions import Roll
from opolyx_sdk.enums import RefusalReason
from opolyx_sdk.errors import Failure
from opolyx_sdk.testing import Accept, Refuse, ScriptedServer


def test_the_blocking_client_plays_refuses_and_ends() -> None:
    with ScriptedServer() as server, Client(server.address) as client:
        script = server.game()
        script.answer_next(Accept(), Refuse(RefusalReason.NOT_ENOUGH_CASH))
        client.create_guest("Ada")
        with client.play("g1") as game:
            assert 0 == game.seq
            assert 1 == game.submit(Roll())
            with pytest.raises(Refused):
                game.submit(Roll())
            script.finish()
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


async def test_a_stream_of_a_dead_server_is_a_lost_connection() -> None:
    impatient = ClientOptions(patience_s=0.1)
    async with AsyncClient("127.0.0.1:1", options=impatient) as client:
        with pytest.raises(ConnectionLost):
            await anext(client.watch_room("r_1"))
        with pytest.raises(ConnectionLost):
            await anext(client.quick_match("classic@full", 4))
        with pytest.raises(ConnectionLost):
            await client.past_events("g1", up_to=1)


async def test_a_dead_address_fails_within_the_connect_timeout() -> None:
    options = ClientOptions(connect_timeout_s=0.5, call_timeout_s=1)
    async with AsyncClient("127.0.0.1:9", options=options) as client:
        with pytest.raises(ConnectionLost):
            await client.connect(0.5)
        with pytest.raises(ConnectionLost):
            await client.create_guest("Ada")


LIMIT = Failure(
    "RESOURCE_EXHAUSTED",
    "too many",
    reason="LIMIT",
    domain="opolyx.identity",
    metadata={"limit": "calls"},
    retry_after_s=0.02,
    fields={"name": "too long"},
)


async def test_a_limit_with_a_hint_is_waited_for() -> None:
    with ScriptedServer() as server:
        server.fail_next("WhoAmI", LIMIT, times=2)
        async with AsyncClient(server.address) as client:
            assert "p_scripted" == (await client.who_am_i()).player_id
        assert 3 == len(server.calls)


async def test_a_failure_tells_everything_the_server_said() -> None:
    with ScriptedServer() as server:
        server.fail_next("WhoAmI", LIMIT, times=99)
        async with AsyncClient(server.address) as client:
            with pytest.raises(LimitReached, match="LIMIT: too many; name: too long") as caught:
                await client.who_am_i()

    assert LIMIT == caught.value.failure
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
