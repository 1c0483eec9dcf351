"""Bots that harm nobody, many games at once, and a bot that offers itself."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest

from opolyx_sdk import (
    Action,
    AsyncClient,
    Bot,
    BotError,
    BotHost,
    BotOffer,
    BotRunner,
    BotSeated,
    ClientOptions,
    Decision,
    GameClosed,
    GameInfo,
    GameReport,
    GameView,
    NotAuthenticated,
    RandomBot,
    Update,
)
from opolyx_sdk.actions import Mortgage, Roll
from opolyx_sdk.enums import Phase, RefusalReason
from opolyx_sdk.errors import Failure
from opolyx_sdk.testing import (
    Accept,
    Refuse,
    RetryAfter,
    ScriptedGame,
    ScriptedServer,
    Silence,
    awaited,
)

FAST = ClientOptions(patience_s=5)


@pytest.fixture
async def served() -> AsyncIterator[tuple[ScriptedServer, AsyncClient]]:
    with ScriptedServer() as server:
        async with AsyncClient(server.address, options=FAST) as client:
            yield server, client


def short(server: ScriptedServer, game_id: str = "g1", rolls: int = 3) -> ScriptedGame:
    """A game that ends after some rolls."""
    game = server.game(game_id)
    game.answer_next(*[Accept()] * (rolls - 1), Accept(ends=True))
    return game


class Roller(Bot):
    def decide(self, view: GameView, decision: Decision) -> Action:
        return decision.legal_actions[0]


# --- The runner -----------------------------------------------------------------------------------


async def test_a_bot_instead_of_its_class_is_a_friendly_error(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    _, client = served
    for make in (BotRunner, BotHost):
        with pytest.raises(TypeError, match="give its class Roller, or `lambda: Roller"):
            make(client, Roller())  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="must be a class of bots or a function, not 'my_bot'"):
            make(client, "my_bot")  # type: ignore[arg-type]


class AsyncHook(Roller):
    async def on_update(self, update: Update) -> None:  # type: ignore[override]
        """What a bot's author may well try."""


class AsyncDecision(Roller):
    async def decide(self, view: GameView, decision: Decision) -> Action:  # type: ignore[override]
        return Roll()


def no_model() -> Bot:
    raise OSError("no model")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: 7, "make_bot made 7, which is no opolyx_sdk"),
        (no_model, "make_bot failed: OSError: no model"),
        (AsyncHook, "AsyncHook.on_update is async: write it without"),
        (AsyncDecision, "AsyncDecision.decide is async: write it without"),
    ],
)
async def test_a_bot_that_cannot_be_made_is_a_friendly_error_of_its_game_alone(
    served: tuple[ScriptedServer, AsyncClient], make: Callable[[], Bot], why: str
) -> None:
    server, client = served
    short(server)
    with pytest.raises(BotError, match=why):
        await BotRunner(client, make).play("g1")
    makers = iter([make, Roller])

    def make_next() -> Bot:
        return next(makers)()

    lost, played = await BotRunner(client, make_next).play_all(["g2", "g1"])
    assert isinstance(lost.error, BotError)
    assert played.result is not None


NO_ACTIONS: list[object] = [
    None,
    "roll",
    Roll,
    Mortgage(square=2**70),
    Mortgage(square=-1),
    Mortgage(square=1.5),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("given", NO_ACTIONS, ids=repr)
async def test_what_is_no_action_is_answered_for(
    served: tuple[ScriptedServer, AsyncClient], given: object
) -> None:
    class Confused(Bot):
        def decide(self, view: GameView, decision: Decision) -> Action:
            return given  # type: ignore[return-value]

    server, client = served
    short(server)
    report = await BotRunner(client, Confused).play("g1")
    assert (3, 3) == (report.decisions, report.fallbacks)
    assert report.result is not None

    server.game("g2")
    with pytest.raises(BotError, match=r"bot failed in ROLL: (Type|Value)Error"):
        await BotRunner(client, Confused, strict=True).play("g2")


@pytest.mark.parametrize("error", [StopIteration, asyncio.CancelledError, StopAsyncIteration])
async def test_no_error_of_a_bot_is_taken_for_something_else(
    served: tuple[ScriptedServer, AsyncClient], error: type[BaseException]
) -> None:
    """`next` without a default raises StopIteration, which no future can raise."""

    class Empty(Bot):
        def decide(self, view: GameView, decision: Decision) -> Action:
            raise error

    server, client = served
    server.game()
    with pytest.raises(BotError, match=error.__name__):
        await BotRunner(client, Empty, strict=True).play("g1")


async def test_a_decision_of_a_newer_kind_is_left_to_the_clock(
    served: tuple[ScriptedServer, AsyncClient], caplog: pytest.LogCaptureFixture
) -> None:
    server, client = served
    game = server.game()
    game.update(awaits=[awaited(0, Phase.UNSPECIFIED)])
    playing = asyncio.create_task(BotRunner(client, Roller).play("g1"))
    await asyncio.to_thread(server.wait_until, lambda: "nothing may be done that" in caplog.text)
    game.finish()
    report = await asyncio.wait_for(playing, 5)

    assert (0, 0) == (report.decisions, report.fallbacks)
    assert report.result is not None


class BadHooks(Roller):
    def on_start(self, info: GameInfo) -> None:
        raise KeyError(info.game_id)

    def on_update(self, update: Update) -> None:
        if update.seq == 2:
            time.sleep(0.5)

    def on_end(self, update: Update) -> None:
        raise ValueError("the end")


async def test_hooks_that_fail_or_hang_end_no_game(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    short(server)
    report = await BotRunner(client, BadHooks, budget_s=0.1).play("g1")

    assert report.result is not None
    assert [
        "on_start: KeyError: 'g1'",
        "on_update: no answer within 0.1 s",
        "on_end: ValueError: the end",
    ] == report.hook_failures
    assert 0 == report.fallbacks


async def test_a_strict_runner_stops_at_a_hook_that_fails(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    short(server)
    with pytest.raises(BotError, match="on_start failed: KeyError"):
        await BotRunner(client, BadHooks, strict=True).play("g1")


async def test_a_game_that_cannot_be_played_ends_no_other(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    for number in (1, 2, 3):
        short(server, f"g{number}")
    lost, *others = await BotRunner(client, Roller).play_all(["nowhere", "g1", "g2", "g3"])

    assert isinstance(lost.error, GameClosed)
    assert [None] * 3 == [one.error for one in others]
    assert all(one.result for one in others)
    assert 1 == [one.method for one in server.calls].count("Play")


async def test_a_strict_runner_of_many_games_raises_the_bots_error_itself(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    for number in (1, 2):
        server.game(f"g{number}").answer_next(Refuse(RefusalReason.UNEVEN, "BUILD-2"))
    with pytest.raises(BotError, match="BUILD-2"):
        await BotRunner(client, Roller, strict=True).play_all(["g1", "g2"])
    await asyncio.to_thread(server.wait_until, lambda: server.open_streams == 0)


@pytest.mark.parametrize("takes_effect", [True, False])
async def test_the_runner_asks_for_a_lost_answer_and_never_rolls_afresh(
    takes_effect: bool,
) -> None:
    """Case A-35: one roll, however many times it is sent."""
    options = ClientOptions(command_timeout_s=0.2)
    with ScriptedServer() as server:
        game = server.game()
        game.answer_next(Accept(), Silence(takes_effect=takes_effect), Accept(), Accept(ends=True))
        async with AsyncClient(server.address, options=options) as client:
            report = await asyncio.wait_for(BotRunner(client, Roller).play("g1"), 10)
    ids = [one.command_id for one in game.commands]

    assert report.result is not None
    assert len(set(ids)) == report.decisions
    assert ids[1] == ids[2]
    assert [] == report.refusals


# --- A bot that is offered ------------------------------------------------------------------------


class Hosted:
    """A host that runs, and what it told."""

    def __init__(self, client: AsyncClient, offer: BotOffer | None = None, **options: bool) -> None:
        self.seated: list[BotSeated] = []
        self.reports: list[GameReport] = []
        self.host = BotHost(
            client,
            Roller,
            offer,
            on_seated=self.seated.append,
            on_report=self.reports.append,
            **options,
        )


async def when(server: ScriptedServer, method: str, count: int = 1) -> None:
    """Wait until a stream of a method is open and the bot has said what it offers."""
    await asyncio.to_thread(server.wait_until, lambda: len(server.offers) >= count)
    assert method in [one.method for one in server.calls]


async def test_an_offered_bot_plays_what_it_is_seated_in_and_withdraws(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    offer = BotOffer(rulesets=("classic@full",), max_games=2, plays_people=False, max_rating=900)
    hosted = Hosted(client, offer)
    running = asyncio.create_task(hosted.host.run())
    await when(server, "OfferBot")
    short(server, "g1")
    slow = server.game("g2")
    slow.on_command = lambda command: RetryAfter(0.05)
    server.seat_bot("g1")
    server.seat_bot("g2", seat=3)
    await asyncio.to_thread(server.wait_until, lambda: len(hosted.reports) == 1)
    hosted.host.withdraw()
    await asyncio.to_thread(
        server.wait_until, lambda: server.open_streams == 1
    )  # the game's: the offer's is gone
    assert not running.done()
    slow.finish()
    await asyncio.wait_for(running, 5)

    assert [offer] == server.offers
    assert [("g1", 0), ("g2", 3)] == [(one.game_id, one.seat) for one in hosted.seated]
    assert ["g1", "g2"] == [one.game_id for one in hosted.reports]


async def test_an_offer_outlives_outages_and_plays_no_game_twice(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    hosted = Hosted(client, BotOffer(max_games=5))
    running = asyncio.create_task(hosted.host.run(games=2))
    await when(server, "OfferBot")
    slow = server.game("g1")
    slow.on_command = lambda command: RetryAfter(0.05)
    server.seat_bot("g1")
    await asyncio.to_thread(server.wait_until, lambda: bool(slow.commands))
    server.cut()
    await when(server, "OfferBot", count=2)
    server.seat_bot("g1")  # as a server does for the games that the bot is in
    short(server, "g2")
    server.seat_bot("g2")
    await asyncio.to_thread(server.wait_until, lambda: len(hosted.reports) == 1)
    slow.finish()
    await asyncio.wait_for(running, 5)

    assert ["g1", "g2"] == [one.game_id for one in hosted.seated]
    assert 1 == len({one.command_id for one in slow.commands})


async def test_a_game_beyond_what_was_offered_is_not_played(
    served: tuple[ScriptedServer, AsyncClient], caplog: pytest.LogCaptureFixture
) -> None:
    server, client = served
    hosted = Hosted(client)
    running = asyncio.create_task(hosted.host.run())
    await when(server, "OfferBot")
    slow = server.game("g1")
    slow.on_command = lambda command: RetryAfter(0.05)
    server.game("g2")
    server.seat_bot("g1")
    server.seat_bot("g2")
    await asyncio.to_thread(server.wait_until, lambda: "beyond what was offered" in caplog.text)
    hosted.host.withdraw()
    slow.finish()
    await asyncio.wait_for(running, 5)

    assert ["g1"] == [one.game_id for one in hosted.seated]


async def test_what_ends_an_offer_is_raised_itself(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    refusal = Failure("UNAUTHENTICATED", "no", reason="TOKEN", metadata={"problem": "revoked"})
    server.fail_next("OfferBot", refusal, times=50)  # its own writing may hide the first
    with pytest.raises(NotAuthenticated):
        await asyncio.wait_for(Hosted(client).host.run(), 10)


@pytest.mark.parametrize("hook", ["on_seated", "on_report"])
async def test_what_a_hosts_listener_raises_is_raised_itself(
    served: tuple[ScriptedServer, AsyncClient], hook: str
) -> None:
    def fail(news: object) -> None:
        raise OSError("disk full")

    server, client = served
    host = BotHost(client, Roller, **{hook: fail})  # type: ignore[arg-type]
    running = asyncio.create_task(host.run(games=1))
    await when(server, "OfferBot")
    short(server)
    server.seat_bot("g1")
    with pytest.raises(OSError, match="disk full"):
        await asyncio.wait_for(running, 5)


async def test_a_strict_host_ends_with_its_bots_first_failure(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    strict = Hosted(client, strict=True)
    running = asyncio.create_task(strict.host.run())
    await when(server, "OfferBot")
    server.game("g1").answer_next(Refuse(RefusalReason.UNEVEN))
    server.seat_bot("g1")
    with pytest.raises(BotError, match="was refused"):
        await asyncio.wait_for(running, 5)


async def test_a_host_that_has_withdrawn_offers_nothing(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    host = BotHost(client, partial(RandomBot, 7))
    host.withdraw()
    await host.run()

    assert [] == server.calls


def test_the_roller_rolls() -> None:
    assert Roll() == ScriptedServer().game().awaits[0].legal_actions[0]
