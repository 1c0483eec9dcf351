"""Bots and the runner that plays them."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from opolyx.engine.v1 import action_pb2, decision_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
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
from opolyx_sdk.enums import Phase
from support_sdk import ScriptedEngine, refused, scripted_server


@pytest.fixture
async def served() -> AsyncIterator[tuple[ScriptedEngine, AsyncClient]]:
    async with scripted_server() as (engine, address), AsyncClient(address) as client:
        engine.game().deadline_ms = round((time.time() + 3600) * 1000)
        yield engine, client


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


def end_after(engine: ScriptedEngine, updates: int) -> None:
    accept = engine.accept

    def answer(command: pb.Command) -> pb.CommandResult:
        result = accept(command)
        if engine.games[command.game_id].seq >= updates:
            engine.advance(command.game_id, over=True)
        return result

    engine.answer = answer


async def test_the_runner_answers_each_decision_once_and_calls_every_hook(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    end_after(engine, 10)
    bot = Counting()
    report = await BotRunner(client, lambda: bot).play("g1")

    assert list(range(1, 12)) == bot.seen
    assert [11] == bot.ended
    assert bot.started is not None
    assert (11, 10, 0, 0) == (
        report.updates,
        report.decisions,
        report.fallbacks,
        report.missed,
    )
    assert report.result is not None


async def test_many_games_are_played_on_one_stream(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    end_after(engine, 5)
    for number in range(8):
        engine.game(f"m{number}", seed=number).deadline_ms = engine.game().deadline_ms
    reports = await BotRunner(client, RandomBot).play_all([f"m{n}" for n in range(8)])

    assert [f"m{n}" for n in range(8)] == [report.game_id for report in reports]
    assert 1 == engine.streams_opened


class Slow(Bot):
    def decide(self, view: GameView, decision: Decision) -> Action:
        time.sleep(0.5)
        return Roll()


class Raising(Bot):
    def decide(self, view: GameView, decision: Decision) -> Action:
        raise KeyError("oops")


@pytest.mark.parametrize("bot", [Slow, Raising])
async def test_the_runner_answers_for_a_bot_that_fails(
    served: tuple[ScriptedEngine, AsyncClient], bot: type[Bot]
) -> None:
    engine, client = served
    end_after(engine, 2)
    started = time.perf_counter()
    report = await BotRunner(client, bot, budget_s=0.05).play("g1")

    assert 2 == report.fallbacks == report.decisions
    assert time.perf_counter() - started < 0.9


@pytest.mark.parametrize("bot", [Slow, Raising])
async def test_a_strict_runner_stops_at_a_failure(
    served: tuple[ScriptedEngine, AsyncClient], bot: type[Bot]
) -> None:
    _, client = served
    with pytest.raises(BotError):
        await BotRunner(client, bot, budget_s=0.05, strict=True).play("g1")


async def test_a_refused_action_is_replaced_or_stops_a_strict_runner(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    engine.answer = refused
    with pytest.raises(BotError, match="BUY-2"):
        await BotRunner(client, Counting, strict=True).play("g1")

    def once(command: pb.Command) -> pb.CommandResult:
        end_after(engine, 1)
        return refused(command)

    engine.answer = once
    report = await BotRunner(client, Counting).play("g1")
    assert 1 == len(report.refusals) == report.fallbacks


async def test_a_bot_is_asked_only_what_is_open_and_by_its_newest_state(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    """The roll that was answered first closes one offer and leaves the other but one answer."""
    engine, client = served
    game = engine.game()
    asked: list[tuple[str, tuple[Action, ...]]] = []

    class Noting(Counting):
        def decide(self, view: GameView, decision: Decision) -> Action:
            asked.append((decision.decision_id, decision.legal_actions))
            return decision.legal_actions[0]

    def offer(number: int, *legal: action_pb2.Action) -> decision_pb2.Decision:
        return decision_pb2.Decision(
            decision_id=f"o{number}",
            seat=0,
            phase=decision_pb2.PHASE_OFFER,
            deadline_unix_ms=game.deadline_ms,
            legal_actions=legal,
            offer_id=number,
        )

    accept = action_pb2.Action(accept_trade=action_pb2.AcceptTrade(offer_id=2))
    decline = action_pb2.Action(decline_trade=action_pb2.DeclineTrade(offer_id=2))
    roll = game.decisions()
    by_seq = {0: [*roll, offer(1, decline), offer(2, accept, decline)], 1: [offer(2, decline)]}
    game.decisions = lambda: by_seq.get(game.seq, [])  # type: ignore[method-assign]
    end_after(engine, 2)
    await BotRunner(client, Noting, strict=True).play("g1")

    assert [("d0", (Roll(),)), ("o2", (actions.DeclineTrade(2),))] == asked


async def test_cancelling_the_runner_leaves_nothing(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    engine.answer = lambda command: None
    playing = asyncio.create_task(BotRunner(client, Counting).play("g1"))
    await engine.until(lambda: bool(engine.commands))
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    await engine.until(lambda: not engine.streams)


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
