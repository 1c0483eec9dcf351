"""Bots and the runner that plays them."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from opolyx_sdk import (
    Action,
    AsyncClient,
    Bot,
    BotError,
    BotRunner,
    Decision,
    GameInfo,
    GameView,
    RandomBot,
    Update,
    actions,
    fallback_action,
)
from opolyx_sdk.actions import DeclinePurchase, Mortgage, PayDebt, Roll
from opolyx_sdk.enums import Phase, RefusalReason
from opolyx_sdk.testing import (
    Accept,
    Awaited,
    Refuse,
    ScriptedGame,
    ScriptedServer,
    Silence,
    awaited,
)


@pytest.fixture
async def served() -> AsyncIterator[tuple[ScriptedServer, AsyncClient]]:
    with ScriptedServer() as server:
        server.game()
        async with AsyncClient(server.address) as client:
            yield server, client


class Counting(Bot):
    def __init__(self) -> None:
        self.started: GameInfo | None = None
        self.seen: list[int] = []
        self.ended: list[int] = []

    def on_start(self, info: GameInfo) -> None:
        self.started = info

    def on_update(self, update: Update) -> None:
        self.seen.append(update.seq)

    def on_end(self, update: Update) -> None:
        self.ended.append(update.seq)

    def decide(self, view: GameView, decision: Decision) -> Action:
        return decision.legal_actions[0]


def end_after(game: ScriptedGame, updates: int) -> None:
    game.on_command = lambda command: Accept(ends=game.seq + 1 >= updates)


async def test_the_runner_answers_each_decision_once_and_calls_every_hook(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    end_after(server.games["g1"], 10)
    bot = Counting()
    report = await BotRunner(client, lambda: bot).play("g1")

    assert list(range(1, 11)) == bot.seen
    assert [10] == bot.ended
    assert bot.started is not None
    assert (10, 10, 0, 0) == (
        report.updates,
        report.decisions,
        report.fallbacks,
        report.missed,
    )
    assert report.result is not None


async def test_many_games_are_played_on_one_stream(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    names = [f"m{number}" for number in range(8)]
    for name in names:
        end_after(server.game(name), 5)
    reports = await BotRunner(client, RandomBot).play_all(names)

    assert names == [report.game_id for report in reports]
    assert 1 == [one.method for one in server.calls].count("Play")


class Slow(Bot):
    def decide(self, view: GameView, decision: Decision) -> Action:
        time.sleep(0.5)
        return Roll()


class Raising(Bot):
    def decide(self, view: GameView, decision: Decision) -> Action:
        raise KeyError("oops")


@pytest.mark.parametrize("bot", [Slow, Raising])
async def test_the_runner_answers_for_a_bot_that_fails(
    served: tuple[ScriptedServer, AsyncClient], bot: type[Bot]
) -> None:
    server, client = served
    end_after(server.games["g1"], 2)
    started = time.perf_counter()
    report = await BotRunner(client, bot, budget_s=0.05).play("g1")

    assert 2 == report.fallbacks == report.decisions
    assert time.perf_counter() - started < 0.9


@pytest.mark.parametrize("bot", [Slow, Raising])
async def test_a_strict_runner_stops_at_a_failure(
    served: tuple[ScriptedServer, AsyncClient], bot: type[Bot]
) -> None:
    _, client = served
    with pytest.raises(BotError):
        await BotRunner(client, bot, budget_s=0.05, strict=True).play("g1")


async def test_a_refused_action_is_replaced_or_stops_a_strict_runner(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    game = server.games["g1"]
    refusal = Refuse(RefusalReason.NOT_ENOUGH_CASH, "BUY-2")
    game.answer_next(refusal)
    with pytest.raises(BotError, match="BUY-2"):
        await BotRunner(client, Counting, strict=True).play("g1")

    game.answer_next(refusal, Accept(ends=True))
    report = await BotRunner(client, Counting).play("g1")
    assert 1 == len(report.refusals) == report.fallbacks


async def test_a_bot_is_asked_only_what_is_open_and_by_its_newest_state(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    """The roll that was answered first closes one offer and leaves the other but one answer."""
    server, client = served
    asked: list[tuple[str, tuple[Action, ...]]] = []

    class Noting(Counting):
        def decide(self, view: GameView, decision: Decision) -> Action:
            asked.append((decision.decision_id, decision.legal_actions))
            return decision.legal_actions[0]

    def offer(number: int, *legal: Action) -> Awaited:
        return awaited(0, Phase.OFFER, *legal, offer_id=number)

    accept, decline = actions.AcceptTrade(2), actions.DeclineTrade(2)
    roll = awaited(0, Phase.ROLL, Roll())
    game = server.games["g1"]
    game.update(awaits=[roll, offer(1, actions.DeclineTrade(1)), offer(2, accept, decline)])
    game.answer_next(Accept(awaits=[offer(2, decline)]), Accept(ends=True))
    await BotRunner(client, Noting, strict=True).play("g1")

    assert [("d1", (Roll(),)), ("o2", (decline,))] == asked


async def test_cancelling_the_runner_leaves_nothing(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    game = server.games["g1"]
    game.answer_next(Silence())
    playing = asyncio.create_task(BotRunner(client, Counting).play("g1"))
    await asyncio.to_thread(server.wait_until, lambda: bool(game.commands))
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    await asyncio.to_thread(server.wait_until, lambda: server.open_streams == 0)


def decision(*legal: Action, phase: Phase = Phase.ROLL) -> Decision:
    return Decision("d1", 0, phase, 0, legal, None, 0, 0)


def test_the_fallback_commits_to_nothing() -> None:
    assert DeclinePurchase() == fallback_action(decision(actions.Buy(), DeclinePurchase()))
    assert Roll() == fallback_action(decision(Mortgage(square=1), Roll()))
    assert PayDebt() == fallback_action(decision(Mortgage(square=1), PayDebt()))
    assert Mortgage(square=1) == fallback_action(
        decision(Mortgage(square=1), actions.DeclareBankruptcy())
    )
    assert actions.Buy() == fallback_action(decision(actions.Buy()))
