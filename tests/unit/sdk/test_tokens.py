"""Tokens: renewed in time, given up when revoked, shown nowhere. Case A-41."""

import asyncio
import logging
import subprocess
import sys
import traceback
from collections.abc import Awaitable, Callable

import pytest

from opolyx_sdk import (
    AsyncClient,
    BotRunner,
    Client,
    ClientOptions,
    ConnectionLost,
    NotAuthenticated,
    OpolyxError,
    RandomBot,
)
from opolyx_sdk._transport.token_keeper import TokenKeeper
from opolyx_sdk.actions import Roll
from opolyx_sdk.errors import Failure, request_error
from opolyx_sdk.testing import ScriptedServer
from opolyx_sdk.testing.token_book import TokenBook, bad_token
from opolyx_servicekit.access import bad_token as services_bad_token

FAST = ClientOptions(patience_s=5)
CANARY = "canary.eyJub25lIjoxfQ.of-the-coal-mine"
DAY_S = 86_400


class Clock:
    """A time that moves when told, and counts what was renewed."""

    def __init__(self, life_s: float = 10 * DAY_S) -> None:
        self.now = 1_000_000.0
        self.renewed = 0
        self.fails: OpolyxError | None = None
        self.book = TokenBook(life_s)

    def made(self) -> str:
        return self.book.make(round(self.now * 1000)).jwt

    async def renew(self) -> str:
        self.renewed += 1
        if self.fails is not None:
            raise self.fails
        return self.made()

    def keeper(self, jwt: str | None = None) -> TokenKeeper:
        return TokenKeeper(jwt or self.made(), self.renew, now=lambda: self.now)


async def test_a_token_is_renewed_when_a_tenth_of_its_life_is_left() -> None:
    clock = Clock()
    keeper = clock.keeper()
    first = keeper.jwt
    clock.now += 8.9 * DAY_S
    await keeper.ready()
    assert (first, 0) == (keeper.jwt, clock.renewed)

    clock.now += 0.2 * DAY_S
    await asyncio.gather(*[keeper.ready() for _ in range(20)])
    assert 1 == clock.renewed, "twenty calls at once renew it once"
    assert keeper.jwt != first
    await keeper.ready()
    assert 1 == clock.renewed
    await keeper.stop()


async def test_a_token_of_a_server_whose_clock_is_behind_is_not_renewed_for_ever() -> None:
    clock = Clock()
    clock.now -= 20 * DAY_S
    old = clock.made()
    clock.now += 20 * DAY_S
    keeper = TokenKeeper(old, lambda: clock_behind(clock), now=lambda: clock.now)
    for _ in range(10):
        await keeper.ready()
    await keeper.stop()

    assert 1 == clock.renewed


async def clock_behind(clock: Clock) -> str:
    clock.renewed += 1
    return TokenBook(10 * DAY_S).make(round((clock.now - 20 * DAY_S) * 1000)).jwt


async def test_a_renewal_that_fails_leaves_the_token_and_waits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    clock.fails = ConnectionLost("nobody there")
    keeper = clock.keeper()
    first = keeper.jwt
    clock.now += 9.5 * DAY_S
    for _ in range(5):
        await keeper.ready()
    assert (first, 1) == (keeper.jwt, clock.renewed)
    assert "could not be renewed: nobody there" in caplog.text

    clock.now += 31
    clock.fails = None
    await keeper.ready()
    assert 2 == clock.renewed
    await keeper.stop()


@pytest.mark.parametrize("broken", ["", "  ", "two words", "line\nend"])
async def test_a_renewal_that_brings_no_token_costs_not_the_old_one(
    broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    keeper = TokenKeeper(clock.made(), lambda: given(broken), now=lambda: clock.now)
    first = keeper.jwt
    clock.now += 9.5 * DAY_S
    await keeper.ready()
    assert first == keeper.jwt
    assert "made no token that can be sent" in caplog.text
    await keeper.stop()


async def given(jwt: str) -> str:
    return jwt


async def test_a_stream_without_calls_renews_by_a_timer() -> None:
    life_s = 0.4
    with ScriptedServer(token_life_s=life_s) as server:
        server.game()
        async with AsyncClient(server.address, options=FAST) as client:
            await client.create_guest("Ada")
            async with client.play("g1"):
                await asyncio.to_thread(
                    server.wait_until, lambda: "RefreshToken" in methods(server)
                )
    assert 1 == methods(server).count("Play")


@pytest.mark.parametrize(
    "token",
    ["opaque", "a.b.c", "a.!!.c", "a.bnVsbA.c", "a.eyJleHAiOiAxZTMwOX0.c", "a.eyJleHAiOiJ4In0.c"],
)
async def test_a_token_that_does_not_say_when_it_expires_stays(token: str) -> None:
    clock = Clock()
    keeper = clock.keeper(token)
    await keeper.ready()

    assert (token, 0) == (keeper.jwt, clock.renewed)


def test_a_token_read_from_a_file_may_end_in_a_line_end() -> None:
    with ScriptedServer() as server, Client(server.address, token=f"{CANARY}\n") as client:
        client.who_am_i()
    assert [CANARY] == [one.token for one in server.calls]


@pytest.mark.parametrize(
    "token", [f"{CANARY} x", f"{CANARY}\x00", f"{CANARY}é", f"{CANARY}\n{CANARY}"]
)
def test_a_token_that_cannot_be_sent_is_refused_without_being_shown(token: str) -> None:
    for make in (AsyncClient, Client):
        with pytest.raises(ValueError, match="token holds a character") as caught:
            make("localhost:1", token=token)
        said = traceback.format_exception(caught.value)
        assert "canary" not in "".join(said) + repr(caught.value)


async def test_an_expired_token_is_renewed_once_and_the_game_goes_on() -> None:
    with ScriptedServer() as server:
        script = server.game()
        async with AsyncClient(server.address, options=FAST) as client:
            await client.create_guest("Ada")
            async with client.play("g1") as game:
                server.expire_tokens()
                script.update()

                assert 1 == (await anext(game)).seq
            server.expire_tokens()
            assert "Ada" == (await client.who_am_i()).name
    assert 2 == methods(server).count("RefreshToken")


async def test_a_token_that_stays_expired_is_an_error_at_once() -> None:
    with ScriptedServer() as server:
        server.game()
        server.fail_next("RefreshToken", bad_token("expired"), times=9)
        async with AsyncClient(server.address, token=CANARY, options=FAST) as client:
            server.fail_next("WhoAmI", bad_token("expired"), times=9)
            with pytest.raises(NotAuthenticated, match="TOKEN: token is expired"):
                await client.who_am_i()
            for method in ("Play", "GetGame"):
                server.fail_next(method, bad_token("expired"), times=9)
            with pytest.raises(NotAuthenticated, match="expired"):
                await client.play("g1").__aenter__()
    assert 1 == methods(server).count("WhoAmI")
    assert methods(server).count("Play") <= 2


async def watch(client: AsyncClient) -> None:
    async for _ in client.watch_room("r1"):
        pass


async def search(client: AsyncClient) -> None:
    async for _ in client.quick_match("classic@full", 4):
        pass


async def play(client: AsyncClient) -> None:
    async with client.play("g1") as game:
        async for _ in game:
            pass


async def run_bot(client: AsyncClient) -> None:
    await BotRunner(client, RandomBot).play("g1")


@pytest.mark.parametrize(
    ("use", "method"),
    [(watch, "WatchRoom"), (search, "QuickMatch"), (play, "Play"), (run_bot, "Play")],
)
async def test_a_revoked_token_ends_what_runs_and_nothing_is_tried_again(
    use: Callable[[AsyncClient], Awaitable[None]], method: str
) -> None:
    with ScriptedServer() as server:
        server.game()
        async with AsyncClient(server.address, options=FAST) as client:
            await client.create_guest("Ada")
            await client.create_room("classic@full", 4)
            using = asyncio.ensure_future(use(client))
            await asyncio.to_thread(server.wait_until, lambda: server.open_streams == 1)
            server.revoke_tokens()
            with pytest.raises(NotAuthenticated, match="TOKEN: token is revoked") as caught:
                await asyncio.wait_for(using, 5)
            opened = methods(server).count(method)
    assert "revoked" == caught.value.problem
    assert 1 == opened
    assert "RefreshToken" not in methods(server)


async def test_the_token_shows_nowhere_whatever_fails(caplog: pytest.LogCaptureFixture) -> None:
    """Case A-41: logs at debug level, exceptions with their locals, reprs, of calls and streams."""
    caplog.set_level(logging.DEBUG)
    seen = Seen()
    with ScriptedServer() as server:
        script = server.game()
        options = ClientOptions(patience_s=0.3, command_timeout_s=0.1, longest_hint_s=0.1)
        async with AsyncClient(server.address, token=CANARY, options=options) as client:
            async with client.play("g1") as game:
                seen.append(f"{client!r} {game!r} {client._transport!r} {client._stream!r}")
                seen.append(f"{client._transport.tokens!r} {vars(client)}")
                script.on_command = None
                await game.submit(Roll())
            for status in ("UNAUTHENTICATED", "PERMISSION_DENIED", "UNAVAILABLE", "INTERNAL"):
                failure = Failure(status, "no", reason="TOKEN", metadata={"problem": "revoked"})
                for method in ("WhoAmI", "Play", "WatchRoom", "QuickMatch"):
                    server.fail_next(method, failure, times=50)
                for use in (AsyncClient.who_am_i, watch, search, play):
                    try:
                        await use(client)
                    except OpolyxError as error:
                        seen.append(shown(error))
        server.cut()
    with pytest.raises(ConnectionLost) as lost:
        await AsyncClient(server.address, token=CANARY).create_guest("Ada")
    seen.append(shown(lost.value))

    assert {f"{CANARY}"} == {one.token for one in server.calls}, "or the test looks for nothing"
    assert "of-the-coal-mine" not in seen.text + caplog.text
    assert CANARY not in repr(server.calls)


def test_grpcs_own_debug_log_does_not_show_the_token() -> None:
    """Only GRPC_TRACE=api, which prints all that is sent, would; see docs/tutorials/trading-bot.md."""
    code = (
        "from opolyx_sdk import Client\n"
        "from opolyx_sdk.testing import ScriptedServer\n"
        "import logging; logging.basicConfig(level=logging.DEBUG)\n"
        f"with ScriptedServer() as s, Client(s.address, token={CANARY!r}) as c:\n"
        "    print('called as', c.who_am_i().name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code],
        env={"GRPC_VERBOSITY": "debug", "GRPC_TRACE": "http,call,channel"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "called as Ada" in done.stdout
    assert len(done.stderr) > 1000
    assert "canary" not in done.stdout + done.stderr


@pytest.mark.parametrize("problem", ["missing", "malformed", "invalid", "expired", "revoked"])
def test_what_the_services_say_of_a_token_is_understood(problem: str) -> None:
    said = services_bad_token(problem, "no")
    error = request_error(Failure("UNAUTHENTICATED", said.message, metadata=said.metadata))

    assert isinstance(error, NotAuthenticated)
    assert (problem, problem == "expired") == (error.problem, error.expired)


class Seen:
    """What was shown; not by its own repr, or each traceback would hold all before it."""

    def __init__(self) -> None:
        self.text = ""

    def append(self, text: str) -> None:
        self.text += text


def shown(error: BaseException) -> str:
    """Everything that an error handler could print of it, locals of its frames included."""
    whole = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(whole.format()) + repr(error) + str(error) + repr(vars(error))


def methods(server: ScriptedServer) -> list[str]:
    return [one.method for one in server.calls]
