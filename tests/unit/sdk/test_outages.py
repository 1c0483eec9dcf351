"""Outages as a client sees them: what is bridged, for how long, and what is said at the end."""

import asyncio
import logging
import os
import random
import signal
import socket
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial

import pytest

from opolyx_sdk import (
    AsyncClient,
    BotOffer,
    Client,
    ClientOptions,
    ConnectionLost,
    Found,
    GameClosed,
    LimitReached,
    MatchProgress,
    NotFound,
    OutcomeUnknown,
    Room,
    ServiceUnavailable,
    Waiting,
    WrongLoop,
    WrongState,
)
from opolyx_sdk._backoff import STABLE_S, Backoff, Outage
from opolyx_sdk.actions import Roll
from opolyx_sdk.enums import DetachReason, Occupant
from opolyx_sdk.errors import Failure
from opolyx_sdk.testing import RetryAfter, ScriptedGame, ScriptedServer, Silence

FAST = ClientOptions(patience_s=5)
HOURS_S = 6 * 3600.0
PLAYING = Failure("FAILED_PRECONDITION", "already", reason="ALREADY_PLAYING")


@pytest.fixture
async def served() -> AsyncIterator[tuple[ScriptedServer, AsyncClient]]:
    with ScriptedServer() as server:
        async with AsyncClient(server.address, options=FAST) as client:
            yield server, client


# --- Rooms and searches ---------------------------------------------------------------------------


async def test_a_watched_room_outlives_outages_and_shows_each_state_once(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    room = await client.create_room("classic@full", 4)
    seen: list[Room] = []
    async for shown in client.watch_room(room.room_id):
        seen.append(shown)
        server.cut(
            Failure(["UNAVAILABLE", "INTERNAL", "UNKNOWN", "CANCELLED"][len(seen) - 1], "cut")
        )
        if len(seen) < 4:
            await client.add_bot(room.room_id, policy="steady")
        else:
            await client.start_game(room.room_id)
            break
    seen += [shown async for shown in client.watch_room(room.room_id)]

    assert [1, 2, 3, 4, 5] == [one.revision for one in seen]
    assert 5 <= [one.method for one in server.calls].count("WatchRoom")


async def test_a_bot_whose_answer_was_lost_is_seated_once(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    room = await client.create_room("classic@full", 4)
    server.lose_answer("AddBot", times=2)

    room = await client.add_bot(room.room_id, policy="steady")

    assert ["Ada", "Steady 1", "", ""] == [seat.name for seat in room.seats]
    assert 3 == [one.method for one in server.calls].count("AddBot")
    again = await client.add_bot(room.room_id, policy="steady", request_id="mine")
    assert again == await client.add_bot(room.room_id, policy="steady", request_id="mine")
    assert 1 == sum(seat.occupant is Occupant.UNSPECIFIED for seat in again.seats)


async def test_a_server_that_was_heard_is_waited_for_as_long_as_patience_lasts(
    served: tuple[ScriptedServer, AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process takes over within seconds; a few tries could be over before."""
    server, client = served
    monkeypatch.setattr(Backoff, "next_wait", lambda self, hint_s=None: 0.001)
    away = Failure("UNAVAILABLE", "connection refused")
    for _ in range(9):
        server.fail_next("CreateRoom", away)
    with pytest.raises(ConnectionLost):  # it was never heard: perhaps nobody is there
        await client.create_room("classic@full", 4)
    room = await client.create_room("classic@full", 4)
    for _ in range(9):
        server.fail_next("JoinRoom", away)
    await client.join_room(room.room_id)
    assert 10 == [one.method for one in server.calls].count("JoinRoom")


async def test_who_stands_by_is_asked_again_whatever_the_call(
    served: tuple[ScriptedServer, AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It did nothing: also what must not be done twice may be asked again."""
    server, client = served
    monkeypatch.setattr(Backoff, "next_wait", lambda self, hint_s=None: 0.001)
    standby = Failure("UNAVAILABLE", "another one serves", reason="STANDBY", retry_after_s=0.001)
    for _ in range(3):
        server.fail_next("CreateGuest", standby)
    await client.create_guest("Ada")
    for _ in range(9):
        server.fail_next("CreateGuest", standby)
    await client.create_guest("Bo")
    server.fail_next("CreateGuest", Failure("UNAVAILABLE", "away"))
    with pytest.raises(ConnectionLost):
        await client.create_guest("Cy")


async def test_a_room_that_is_gone_ends_the_watching_with_its_reason(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    room = await client.create_room("classic@full", 4)
    watching = client.watch_room(room.room_id)
    await anext(watching)
    server.fail_next("WatchRoom", Failure("NOT_FOUND", "gone", reason="ROOM_NOT_FOUND"))
    server.cut()
    with pytest.raises(NotFound, match="ROOM_NOT_FOUND"):
        await anext(watching)


async def test_a_search_outlives_an_outage_and_finds(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    seen: list[MatchProgress] = []
    async for progress in client.quick_match("classic@full", 4):
        seen.append(progress)
        if len(seen) < 3:
            server.cut()
        elif len(seen) == 3:
            server.match("g7", seat=2)

    assert [Waiting(1, 0)] * 3 + [Found("g7", 2)] == seen


async def test_a_game_found_while_the_search_was_cut_off_is_found(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    seen: list[MatchProgress] = []
    async for progress in client.quick_match("classic@full", 4):
        seen.append(progress)
        if len(seen) == 1:
            server.fail_next("QuickMatch", PLAYING)
            server.cut()
            server.match("g7", seat=1)

    assert [Waiting(1, 0), Found("g7", 1)] == seen


async def test_a_search_by_someone_who_plays_already_is_refused(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    server.match("g7", seat=1)
    server.fail_next("QuickMatch", PLAYING)
    with pytest.raises(WrongState, match="ALREADY_PLAYING"):
        await anext(client.quick_match("classic@full", 4))


@pytest.mark.parametrize("use", ["watch_room", "quick_match", "play"])
async def test_patience_ends_and_leaves_no_call(use: str) -> None:
    options = ClientOptions(patience_s=0.2, connect_timeout_s=0.2)
    with ScriptedServer() as server:
        server.game()
        address = server.address
        async with AsyncClient(address, options=options) as client:
            room = await client.create_room("classic@full", 4)
            opened = asyncio.Event()
            task = asyncio.create_task(follow(client, use, room.room_id, opened))
            await asyncio.wait_for(opened.wait(), 5)
            await asyncio.to_thread(server.__exit__, None, None, None)
            with pytest.raises(ConnectionLost, match="no server"):
                await asyncio.wait_for(task, 10)
    assert not [one for one in asyncio.all_tasks() if one.get_name().startswith("opolyx")]


async def follow(client: AsyncClient, use: str, room_id: str, opened: asyncio.Event) -> None:
    if use == "play":
        async with client.play("g1") as game:
            opened.set()
            async for _ in game:
                pass
        return
    values = client.watch_room(room_id) if use == "watch_room" else client.quick_match("x@y", 4)
    async for _ in values:
        opened.set()


# --- Hints ----------------------------------------------------------------------------------------


async def test_a_call_is_told_at_once_of_a_hint_that_is_too_long_to_wait_for(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    """Case A-40: limits lasted hours with no hint; a hint of hours must not hang a client."""
    server, client = served
    for status, kind in (
        ("RESOURCE_EXHAUSTED", LimitReached),
        ("UNAVAILABLE", ServiceUnavailable),
    ):
        failure = Failure(status, "much", reason="LIMIT", retry_after_s=HOURS_S)
        server.fail_next("WhoAmI", failure, times=1)
        with pytest.raises(kind, match="try again in 21600 s"):
            await client.who_am_i()
    assert ["WhoAmI"] * 2 == [one.method for one in server.calls]


@pytest.mark.parametrize("hint_s", [2.0**60, -5.0])
async def test_an_impossible_hint_is_no_crash(
    served: tuple[ScriptedServer, AsyncClient], hint_s: float
) -> None:
    server, client = served
    failure = Failure("RESOURCE_EXHAUSTED", "much", reason="LIMIT", retry_after_s=hint_s)
    server.fail_next("WhoAmI", failure, times=9)
    with pytest.raises(LimitReached):
        await client.who_am_i()


async def test_streams_cut_a_hint_of_hours_short_and_say_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    options = ClientOptions(patience_s=5, longest_hint_s=0.05)
    with ScriptedServer() as server:
        script = server.game()
        async with (
            AsyncClient(server.address, options=options) as client,
            client.play("g1") as game,
        ):
            server.drain(HOURS_S)
            script.update()
            assert 1 == (await anext(game)).seq
            failure = Failure("UNAVAILABLE", "later", reason="X", retry_after_s=HOURS_S)
            server.fail_next("Play", failure)
            server.cut(failure)
            script.update()
            assert 2 == (await anext(game)).seq
            script.answer_next(RetryAfter(HOURS_S))
            assert 3 == await asyncio.wait_for(game.submit(Roll()), 5)
    warned = [one for one in caplog.messages if "asks to wait for 21600 s" in one]
    # The refusal of a stream can be hidden by the stream's own writing, and its hint with it.
    assert 3 <= len(warned) <= 4, caplog.text


async def test_a_command_told_to_wait_waits_as_long_and_is_then_sent_again() -> None:
    """Case A-40: the hint is obeyed to the letter, with the same id."""
    with ScriptedServer() as server:
        script = server.game()
        script.answer_next(RetryAfter(0.2))
        async with AsyncClient(server.address, options=FAST) as client, client.play("g1") as game:
            submitting = asyncio.create_task(game.submit(Roll()))
            await asyncio.to_thread(server.wait_until, lambda: len(script.commands) == 1)
            loop = asyncio.get_running_loop()
            began = loop.time()
            await submitting

    assert loop.time() - began > 0.1
    first, second = script.commands
    assert first == second


def outage(now: list[float], patience_s: float = 120) -> Outage:
    backoff = Backoff(rng=random.Random(1))
    return Outage(ClientOptions(patience_s=patience_s), backoff=backoff, monotonic=lambda: now[0])


def test_only_a_stable_stream_makes_the_waits_short_again() -> None:
    """Case A-30: who flaps goes on to wait longer."""
    now = [0.0]
    row = outage(now)
    waits = []
    for _ in range(50):
        row.connecting()
        now[0] += STABLE_S - 1
        waits.append(row.lost(heard=True, hint_s=None))
    assert waits[0] <= 0.25 < min(waits[5:])
    assert max(waits) <= 3.0

    row.connecting()
    now[0] += STABLE_S
    assert row.lost(heard=True, hint_s=None) <= 0.25


def test_clients_that_lose_the_same_server_come_back_spread() -> None:
    """Case A-30: 2000 clients, with and without the server's hint."""
    for hint_s, window_s in ((None, 0.2), (1.0, 0.8)):
        waits = [Backoff(rng=random.Random(n)).next_wait(hint_s) for n in range(2000)]
        assert max(waits) - min(waits) > window_s
        at_once = max(sum(low <= one < low + window_s / 10 for one in waits) for low in waits[:99])
        assert at_once < 0.2 * len(waits)


def test_patience_counts_from_the_last_word_of_the_server() -> None:
    now = [0.0]
    row = outage(now, patience_s=10)
    now[0] = 100
    row.lost(heard=True, hint_s=None)
    now[0] = 109
    row.lost(heard=False, hint_s=None)
    now[0] = 111
    with pytest.raises(ConnectionLost, match="no server for 11 s"):
        row.lost(heard=False, hint_s=None)


# --- Times ----------------------------------------------------------------------------------------


def test_the_times_of_the_defaults_fit_into_each_other() -> None:
    options = ClientOptions()

    assert options.connect_timeout_s < options.call_timeout_s < options.patience_s
    assert options.longest_hint_s < options.patience_s == options.answer_within_s
    assert 7 == ClientOptions(command_timeout_s=7).answer_within_s


@pytest.mark.parametrize("name", ["connect_timeout_s", "patience_s", "updates_kept"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_no_time_is_no_time(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be above 0"):
        replace(ClientOptions(), **{name: value})  # type: ignore[arg-type]


async def test_a_server_that_takes_the_connection_and_says_nothing_fails_within_the_dial_time() -> (
    None
):
    """Case A-33: dialling fails within its own time, far below the call's."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        options = ClientOptions(connect_timeout_s=0.3, call_timeout_s=60, patience_s=1)
        async with asyncio.timeout(20), AsyncClient(address, options=options) as client:
            with pytest.raises(ConnectionLost):
                await client.create_guest("Ada")
            with pytest.raises(ConnectionLost):
                await client.connect(0.3)
            with pytest.raises(ConnectionLost):
                await client.play("g1").__aenter__()


async def test_a_server_that_never_sends_the_game_is_waited_for_no_longer_than_patience() -> None:
    with ScriptedServer() as server:
        server.game().attach = lambda attach: []  # type: ignore[method-assign]
        options = ClientOptions(patience_s=0.2)
        async with AsyncClient(server.address, options=options) as client:
            with pytest.raises(ConnectionLost, match="has not sent game g1"):
                await asyncio.wait_for(client.play("g1").__aenter__(), 5)
        server.wait_until(lambda: server.open_streams == 0)


# --- Unknown outcomes -----------------------------------------------------------------------------


async def test_a_lost_reply_costs_no_second_effect(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    """Case A-35: the same command id, so the first answer comes again."""
    server, client = served
    script = server.game()
    async with client.play("g1") as game:
        for _ in range(3):
            script.answer_next(Silence(takes_effect=True))
            rolled = script.seq + 1
            submitting = asyncio.create_task(game.submit(Roll()))
            await asyncio.to_thread(server.wait_until, partial(has_reached, script, rolled))
            server.cut()
            assert rolled == await submitting
    ids = [one.command_id for one in script.commands]
    assert 3 == len(set(ids)) == script.seq
    assert len(ids) >= 6


def has_reached(script: ScriptedGame, seq: int) -> bool:
    return script.seq == seq


async def test_a_command_that_stays_unanswered_is_reported_and_never_sent_afresh() -> None:
    """Case A-35: after an unknown outcome the client is in sync, and has sent no second roll."""
    options = ClientOptions(command_timeout_s=0.1)
    with ScriptedServer() as server:
        script = server.game()
        script.answer_next(Silence(takes_effect=True))
        async with (
            AsyncClient(server.address, options=options) as client,
            client.play("g1") as game,
        ):
            with pytest.raises(OutcomeUnknown) as caught:
                await game.submit(Roll())
            script.update()
            assert [1, 2] == [(await anext(game)).seq for _ in range(2)]
            assert script.view == game.view
            assert 1 == await game.submit(Roll(), command_id=caught.value.command_id)
    assert [caught.value.command_id] * 2 == [one.command_id for one in script.commands]


async def test_cancelling_anywhere_leaves_nothing_behind() -> None:
    rng = random.Random(5)
    before = asyncio.all_tasks()
    with ScriptedServer() as server:
        server.game()
        for _ in range(30):
            async with AsyncClient(server.address, options=FAST) as client:
                using = asyncio.create_task(use_everything(client))
                await asyncio.sleep(rng.uniform(0, 0.05))
                if rng.random() < 0.3:
                    server.cut()
                using.cancel()
                with suppress(asyncio.CancelledError):
                    await using
        await asyncio.to_thread(server.wait_until, lambda: server.open_streams == 0)
    assert asyncio.all_tasks() == before


async def use_everything(client: AsyncClient) -> None:
    room = await client.create_room("classic@full", 4)
    async with client.play("g1") as game:
        await game.submit(Roll())
        for news in (
            client.watch_room(room.room_id),
            client.quick_match("classic@full", 4),
            client.offer_bot(BotOffer()),
        ):
            async with aclosing(news):
                await anext(news)
        await client.past_events("g1", up_to=1)
        await anext(game)


# --- Loops and threads ----------------------------------------------------------------------------


def test_a_game_may_be_named_before_any_loop_runs() -> None:
    """Case A-37: everything made at import, then two loops one after another, then a thread."""
    with ScriptedServer() as server:
        script = server.game()
        client = AsyncClient(server.address)
        games = [client.play("g1") for _ in range(3)]

        async def next_seq(number: int) -> int:
            async with games[number] as game:
                script.update()
                return (await anext(game)).seq

        assert [1, 2] == [asyncio.run(next_seq(0)), asyncio.run(next_seq(1))]
        with ThreadPoolExecutor(1) as pool:
            assert 3 == pool.submit(asyncio.run, next_seq(2)).result(10)


async def test_a_second_loop_at_the_same_time_is_one_clear_error(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    """Case A-37: never a raw error of a loop from deep inside."""
    server, client = served
    server.game()
    await client.who_am_i()
    with ThreadPoolExecutor(1) as pool:
        for work in (client.who_am_i, client.play("g1").__aenter__):
            with pytest.raises(WrongLoop, match="in use by another loop"):
                await asyncio.wrap_future(pool.submit(lambda work=work: asyncio.run(work())))  # type: ignore[misc]
        await client.close()
        name = await asyncio.wrap_future(pool.submit(lambda: asyncio.run(call_once(client))))
    assert "Ada" == name


async def call_once(client: AsyncClient) -> str:
    try:
        return (await client.who_am_i()).name
    finally:
        await client.close()


async def test_closing_a_client_is_no_cancellation_of_who_waits_for_a_call() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = AsyncClient(f"127.0.0.1:{silent.getsockname()[1]}", options=FAST)
        waiting = asyncio.create_task(client.who_am_i())
        taken, _ = await asyncio.to_thread(silent.accept)
        with taken:
            await client.close()
            with pytest.raises(ConnectionLost, match="the client was closed"):
                await asyncio.wait_for(waiting, 5)


@pytest.mark.parametrize("use", ["watch_room", "submit", "iterate"])
async def test_closing_a_client_ends_what_is_under_way_and_starts_nothing(use: str) -> None:
    with ScriptedServer() as server:
        script = server.game()
        script.answer_next(Silence())
        client = AsyncClient(server.address, options=FAST)
        room = await client.create_room("classic@full", 4)
        begun = asyncio.Event()
        waiting = asyncio.create_task(wait_for_it(client, use, room.room_id, begun))
        await asyncio.wait_for(begun.wait(), 5)
        if use == "submit":
            await asyncio.to_thread(server.wait_until, lambda: bool(script.commands))
        await client.close()
        with pytest.raises(OutcomeUnknown if use == "submit" else ConnectionLost):
            await asyncio.wait_for(waiting, 5)
        calls = list(server.calls)
        await asyncio.to_thread(server.wait_until, lambda: server.open_streams == 0)
    assert calls == server.calls


async def wait_for_it(client: AsyncClient, use: str, room_id: str, begun: asyncio.Event) -> None:
    if use == "watch_room":
        async for _ in client.watch_room(room_id):
            begun.set()
    else:
        async with client.play("g1") as game:
            begun.set()
            if use == "submit":
                await game.submit(Roll())
            async for _ in game:
                pass


async def test_a_game_of_a_closed_client_opens_no_stream(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    server.game()
    async with client.play("g1") as game:
        await client.close()
        with pytest.raises(ConnectionLost, match="the client was closed"):
            await game.submit(Roll())
        await asyncio.to_thread(server.wait_until, lambda: server.open_streams == 0)
        assert not game.over, "what is known stays known"


async def test_a_game_that_was_closed_is_not_acted_in_on_another_stream(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script = server.game()
    async with client.play("g1") as game:
        script.close(DetachReason.NOT_SEATED)
        with pytest.raises(GameClosed):
            await anext(game)
        with pytest.raises(GameClosed):
            await asyncio.wait_for(game.submit(Roll()), 2)
    assert [] == script.commands


async def test_what_cannot_be_sent_fails_at_once(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    """It must not fail in the task that writes, where nobody sees it."""
    server, client = served
    server.game()
    with pytest.raises(TypeError):
        await asyncio.wait_for(client.play(7).__aenter__(), 2)  # type: ignore[arg-type]
    async with client.play("g1") as game:
        for given in (None, "roll", Roll):
            with pytest.raises(TypeError, match="is no action"):
                await game.submit(given)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            await game.submit(Roll(), command_id=7)  # type: ignore[arg-type]
        assert 1 == await game.submit(Roll())


def test_a_blocking_call_that_a_signal_ends_is_given_up() -> None:
    """A signal's handler may raise anything, not only KeyboardInterrupt."""
    with ScriptedServer() as server:
        script = server.game()
        script.answer_next(Silence())
        with Client(server.address, options=FAST) as client, client.play("g1") as game:
            old = signal.signal(signal.SIGALRM, rung)
            try:
                ringing = threading.Thread(target=lambda: ring_after(server, script))
                ringing.start()
                with pytest.raises(Rung):
                    game.submit(Roll())
                ringing.join(5)
            finally:
                signal.signal(signal.SIGALRM, old)
            server.cut()
            assert 1 == game.submit(Roll())
    assert 2 == len(script.commands), "what was given up is not sent again"


class Rung(Exception):
    """The alarm."""


def rung(number: int, frame: object) -> None:
    raise Rung


def ring_after(server: ScriptedServer, script: ScriptedGame) -> None:
    server.wait_until(lambda: bool(script.commands))
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)


def test_a_blocking_client_in_a_forked_process_is_one_clear_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its thread stayed behind: nothing would ever answer."""
    client = Client("127.0.0.1:1", options=ClientOptions(patience_s=0.1))
    with pytest.raises(ConnectionLost):
        client.who_am_i()
    parent = os.getpid()
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: parent + 1)
        with pytest.raises(WrongLoop, match="used before the process forked"):
            client.who_am_i()
    client.close()


def test_a_blocking_client_begins_its_thread_with_the_first_call() -> None:
    before = threading.active_count()
    client = Client("127.0.0.1:1")
    assert before == threading.active_count()
    client.close()
    with pytest.raises(ConnectionLost, match="closed"):
        client.who_am_i()
    client.close()


def test_the_log_of_the_sdk_is_quiet_by_itself() -> None:
    assert logging.getLogger("opolyx_sdk").level == logging.NOTSET
