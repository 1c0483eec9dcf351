"""Commands over real channels: exact, idempotent, refused without harm."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import action_pb2, refusal_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.table import Step, Table
from opolyx_rules.ids import PHASE_BUY, PHASE_ROLL
from opolyx_rules.queries import awaited_phase, awaited_seat
from opolyx_rules.views import state_digest
from support_engine import ROLL, Caller, Engine, awaited, people, running_engine, seed_with

SURRENDER: dict[str, Any] = {"surrender": action_pb2.Surrender()}


def rolls_again_at_once(table: Table, step: Step) -> bool:
    same = awaited_seat(step.state) == awaited_seat(table.state)
    return same and awaited_phase(step.state) == PHASE_ROLL and bool(step.state.doubles)


def may_buy(table: Table, step: Step) -> bool:
    return awaited_phase(step.state) == PHASE_BUY


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with running_engine(tmp_path) as made:
        yield made


async def opened(engine: Engine, count: int = 2) -> tuple[str, list[Caller], pb.Snapshot]:
    """A game of people, their callers, and its first snapshot."""
    game_id = await engine.new_game(people(count))
    callers = [await engine.caller(f"p_{seat}") for seat in range(count)]
    return game_id, callers, await callers[0].game(game_id)


async def test_the_same_id_twice_on_a_double_rolls_once(tmp_path: Path) -> None:
    """Case A-22: one roll, the same answer twice, and the bonus roll is still to be made."""
    seed = seed_with(rolls_again_at_once)
    async with running_engine(tmp_path, development_seed=seed) as engine:
        game_id, callers, before = await opened(engine)
        decision = awaited(before.decisions)
        roller = callers[decision.seat]
        first = await roller.submit(game_id, "c1", decision.decision_id, **ROLL)
        assert 1 == first.accepted.seq
        stream = await roller.play(game_id, after_seq=1)
        await stream.command(game_id, "c1", decision.decision_id, **ROLL)
        assert first == await stream.result("c1")
        after = await roller.game(game_id)
        assert (1, 1) == (after.seq, after.view.turn.doubles)
        bonus = awaited(after.decisions)
        assert decision.seat == bonus.seat
        assert "roll" in [action.WhichOneof("kind") for action in bonus.legal_actions]
        stale = await roller.submit(game_id, "c2", decision.decision_id, **ROLL)
        assert refusal_pb2.REFUSAL_REASON_STALE_DECISION == stale.refusal.reason
        again = await roller.submit(game_id, "c3", bonus.decision_id, **ROLL)
        assert 2 == again.accepted.seq


async def test_money_moves_once_for_two_clicks(tmp_path: Path) -> None:
    """Case A-22: of two ids for one decision the second is stale."""
    async with running_engine(tmp_path, development_seed=seed_with(may_buy)) as engine:
        game_id, callers, before = await opened(engine)
        decision = awaited(before.decisions)
        buyer = callers[decision.seat]
        await buyer.submit(game_id, "roll", decision.decision_id, **ROLL)
        decision = awaited((await buyer.game(game_id)).decisions)
        clicks = [
            buyer.submit(game_id, command_id, decision.decision_id, buy=action_pb2.Buy())
            for command_id in ("b1", "b1", "b2", "b3")
        ]
        results = await asyncio.gather(*clicks)
        seqs = [result.accepted.seq for result in results if result.HasField("accepted")]
        assert {2} == set(seqs)
        reasons = [result.refusal.reason for result in results if result.HasField("refusal")]
        assert {refusal_pb2.REFUSAL_REASON_STALE_DECISION} == set(reasons)
        assert 2 == (await buyer.game(game_id)).seq


async def test_an_id_used_for_another_action_is_refused(engine: Engine) -> None:
    game_id, callers, before = await opened(engine)
    decision = awaited(before.decisions)
    roller = callers[decision.seat]
    await roller.submit(game_id, "c1", decision.decision_id, **ROLL)
    result = await roller.submit(game_id, "c1", "", **SURRENDER)
    assert refusal_pb2.REFUSAL_REASON_COMMAND_ID_REUSED == result.refusal.reason


@pytest.mark.parametrize("snapshot_every", [1, 1_000])
async def test_no_seat_can_use_up_the_ids_of_another(tmp_path: Path, snapshot_every: int) -> None:
    async with running_engine(tmp_path, snapshot_every=snapshot_every) as engine:
        game_id, callers, before = await opened(engine, 3)
        decision = awaited(before.decisions)
        mine, other = callers[decision.seat], callers[(decision.seat + 1) % 3]
        taken = await other.submit(game_id, "c1", decision.decision_id, **ROLL)
        assert refusal_pb2.REFUSAL_REASON_NOT_AWAITED == taken.refusal.reason
        first = await mine.submit(game_id, "c1", decision.decision_id, **ROLL)
        assert 1 == first.accepted.seq
        again = await other.submit(game_id, "c1", decision.decision_id, **ROLL)
        assert taken == again, "it learns nothing of what another did under its id"
        left = await other.submit(game_id, "c2", "", **SURRENDER)
        assert 2 == left.accepted.seq
    async with running_engine(tmp_path, snapshot_every=snapshot_every) as engine:
        mine = await engine.caller(f"p_{decision.seat}")
        other = await engine.caller(f"p_{(decision.seat + 1) % 3}")
        third = await engine.caller(f"p_{(decision.seat + 2) % 3}")
        assert first == await mine.submit(game_id, "c1", decision.decision_id, **ROLL)
        assert left == await other.submit(game_id, "c2", "", **SURRENDER)
        foreign = await third.submit(game_id, "c2", decision.decision_id, **ROLL)
        assert foreign.HasField("refusal")
        assert refusal_pb2.REFUSAL_REASON_COMMAND_ID_REUSED != foreign.refusal.reason
        mixed = await mine.submit(game_id, "c2", "", **SURRENDER)
        assert 3 == mixed.accepted.seq


async def test_ids_are_known_after_a_restart(tmp_path: Path) -> None:
    async with running_engine(tmp_path, snapshot_every=1) as engine:
        game_id, callers, before = await opened(engine)
        decision = awaited(before.decisions)
        first = await callers[decision.seat].submit(game_id, "c1", decision.decision_id, **ROLL)
    async with running_engine(tmp_path, snapshot_every=1) as engine:
        caller = await engine.caller(f"p_{decision.seat}")
        assert first == await caller.submit(game_id, "c1", decision.decision_id, **ROLL)
        other = await caller.submit(game_id, "c1", decision.decision_id, **SURRENDER)
        assert refusal_pb2.REFUSAL_REASON_COMMAND_ID_REUSED == other.refusal.reason
        assert 1 == (await caller.game(game_id)).seq


async def test_watchers_and_wrong_seats_change_nothing(engine: Engine) -> None:
    """Case A-20."""
    game_id, callers, before = await opened(engine, 3)
    decision = awaited(before.decisions)
    wrong = callers[(decision.seat + 1) % 3]
    watcher = await engine.caller("p_watcher")
    stream = await watcher.play(game_id, spectator=True)
    for number, action in enumerate((ROLL, SURRENDER, {"bid": action_pb2.Bid()})):
        await stream.command(game_id, f"w{number}", decision.decision_id, **action)
        result = await stream.result(f"w{number}")
        assert refusal_pb2.REFUSAL_REASON_SPECTATOR == result.refusal.reason
    result = await wrong.submit(game_id, "c1", decision.decision_id, **ROLL)
    assert refusal_pb2.REFUSAL_REASON_NOT_AWAITED == result.refusal.reason
    after = await watcher.game(game_id)
    assert (0, before.decisions) == (after.seq, after.decisions)


async def test_a_seat_that_is_out_can_only_watch(engine: Engine) -> None:
    """Case A-20, the seat that is out and still there."""
    game_id, callers, _ = await opened(engine, 3)
    out = await callers[2].submit(game_id, "s", "", **SURRENDER)
    assert 1 == out.accepted.seq
    snapshot = await callers[2].game(game_id)
    decision = awaited(snapshot.decisions)
    assert 2 != decision.seat
    result = await callers[2].submit(game_id, "c", decision.decision_id, **ROLL)
    assert refusal_pb2.REFUSAL_REASON_OUT_OF_GAME == result.refusal.reason
    assert 2 == snapshot.your_seat


async def test_refusals_are_frames_and_the_stream_goes_on(engine: Engine) -> None:
    game_id, callers, before = await opened(engine)
    decision = awaited(before.decisions)
    stream = await callers[decision.seat].play(game_id)
    bad: list[tuple[str, str, dict[str, Any]]] = [
        ("", decision.decision_id, ROLL),
        ("x" * 65, decision.decision_id, ROLL),
        ("no decision", "", ROLL),
        ("old decision", "d0", ROLL),
        ("no action", decision.decision_id, {}),
        ("wrong phase", decision.decision_id, {"bid": action_pb2.Bid()}),
        ("no square", decision.decision_id, {"build": action_pb2.Build(square=4_000_000_000)}),
        ("no offer", "o7", {"accept_trade": action_pb2.AcceptTrade(offer_id=7)}),
    ]
    for command_id, decision_id, action in bad:
        await stream.command(game_id, command_id, decision_id, **action)
        result = await stream.result(command_id)
        assert result.refusal.reason
        assert result.refusal.message
    await stream.command("g_unknown", "c", decision.decision_id, **ROLL)
    assert (await stream.result("c")).HasField("refusal")
    await stream.command(game_id, "good", decision.decision_id, **ROLL)
    assert 1 == (await stream.result("good")).accepted.seq


async def test_commands_of_a_seat_take_effect_in_the_order_sent(engine: Engine) -> None:
    game_id, callers, before = await opened(engine, 3)
    seat = (awaited(before.decisions).seat + 1) % 3
    stream = await callers[seat].play(game_id)
    for number in range(20):
        await stream.command(game_id, f"c{number}", "d1", **ROLL)
    await stream.command(game_id, "end", "", **SURRENDER)
    answered = [(await stream.next("command_result")).command_id for _ in range(21)]
    assert [*(f"c{number}" for number in range(20)), "end"] == answered


async def test_two_tabs_see_everything_and_one_answer_counts(engine: Engine) -> None:
    """Case A-23."""
    game_id, callers, before = await opened(engine)
    decision = awaited(before.decisions)
    caller = callers[decision.seat]
    tabs = [await caller.play(game_id) for _ in range(2)]
    for tab in tabs:
        await tab.next("attached")
    await tabs[0].command(game_id, "a", decision.decision_id, **ROLL)
    await tabs[0].result("a")
    await tabs[1].command(game_id, "b", decision.decision_id, **ROLL)
    update = await tabs[1].next("update")
    assert 1 == update.seq
    refused = await tabs[1].result("b")
    assert refusal_pb2.REFUSAL_REASON_STALE_DECISION == refused.refusal.reason
    tabs[0].call.cancel()
    await asyncio.sleep(0.1)
    assert [decision.seat] == list((await caller.game(game_id)).connected_seats)
    await tabs[1].call.done_writing()
    with pytest.raises(EOFError):
        await tabs[1].next("snapshot")
    assert [] == list((await caller.game(game_id)).connected_seats)


async def test_a_seat_that_floods_is_told_when_to_go_on(tmp_path: Path) -> None:
    async with running_engine(tmp_path, commands_per_second=5, command_burst=3) as engine:
        game_id, callers, before = await opened(engine)
        seat = awaited(before.decisions).seat
        stream = await callers[seat].play(game_id)
        for number in range(6):
            await stream.command(game_id, f"c{number}", "d0", **ROLL)
        refusals = [(await stream.result(f"c{number}")).refusal for number in range(6)]
        assert refusal_pb2.REFUSAL_REASON_STALE_DECISION == refusals[0].reason
        assert refusal_pb2.REFUSAL_REASON_TOO_FAST == refusals[-1].reason
        assert 0 < refusals[-1].numbers["retry_after_ms"] <= 1_000


async def test_a_unary_command_without_id_is_a_callers_error(engine: Engine) -> None:
    game_id, callers, _before = await opened(engine)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await callers[0].submit(game_id, "", "d1", **ROLL)
    assert grpc.StatusCode.INVALID_ARGUMENT is caught.value.code()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await callers[0].submit("g_unknown", "c", "d1", **ROLL)
    assert grpc.StatusCode.NOT_FOUND is caught.value.code()


async def test_a_trade_can_be_checked_without_being_made(engine: Engine) -> None:
    game_id, callers, before = await opened(engine)
    seat = awaited(before.decisions).seat
    caller = callers[seat]
    trade = action_pb2.ProposeTrade(recipient=1 - seat, give_cash=1_000, want_cash=900)
    request = pb.CheckTradeRequest(game_id=game_id, trade=trade)
    verdict = await caller.engine.CheckTrade(request, metadata=caller.metadata)
    assert (True, 1_000, 900) == (verdict.allowed, verdict.give_value, verdict.want_value)
    trade.want_cash = 499
    verdict = await caller.engine.CheckTrade(
        pb.CheckTradeRequest(game_id=game_id, trade=trade), metadata=caller.metadata
    )
    assert not verdict.allowed
    assert refusal_pb2.REFUSAL_REASON_UNFAIR == verdict.refusal.reason
    assert 0 == (await caller.game(game_id)).seq


async def test_an_offer_is_answered_by_its_recipient_alone(engine: Engine) -> None:
    game_id, callers, before = await opened(engine, 3)
    decision = awaited(before.decisions)
    proposer, recipient = decision.seat, (decision.seat + 1) % 3
    trade = action_pb2.ProposeTrade(recipient=recipient, give_cash=1_000, want_cash=600)
    made = await callers[proposer].submit(
        game_id, "offer", decision.decision_id, propose_trade=trade
    )
    assert made.HasField("accepted")
    snapshot = await callers[0].game(game_id)
    offer = next(d for d in snapshot.decisions if d.decision_id.startswith("o"))
    assert recipient == offer.seat
    assert offer.deadline_unix_ms == snapshot.view.offers[0].deadline_unix_ms > 0
    accept = {"accept_trade": action_pb2.AcceptTrade(offer_id=offer.offer_id)}
    other = (proposer + 2) % 3
    result = await callers[other].submit(game_id, "o", offer.decision_id, **accept)
    assert refusal_pb2.REFUSAL_REASON_NOT_RECIPIENT == result.refusal.reason
    stale = await callers[recipient].submit(game_id, "s", decision.decision_id, **accept)
    assert refusal_pb2.REFUSAL_REASON_STALE_DECISION == stale.refusal.reason
    done = await callers[recipient].submit(game_id, "y", offer.decision_id, **accept)
    assert done.HasField("accepted")
    after = await callers[0].game(game_id)
    assert 15_000 - 400 == after.view.players[proposer].cash
    late = await callers[recipient].submit(game_id, "y2", offer.decision_id, **accept)
    assert refusal_pb2.REFUSAL_REASON_OFFER_CLOSED == late.refusal.reason


async def test_checking_trades_leaves_no_trace(engine: Engine) -> None:
    game_id, callers, before = await opened(engine)
    seat = awaited(before.decisions).seat
    stream = await callers[seat].play(game_id)
    await stream.next("attached")
    await stream.drained()
    actor = engine.service.registry.find_running(game_id)
    assert actor is not None
    table, digest = actor.table, state_digest(actor.table.state)
    for want_cash in (900, 499, 10_000_000, 0):
        trade = action_pb2.ProposeTrade(
            recipient=1 - seat, give_cash=1_000, want_cash=want_cash, give_squares=[1, 1]
        )
        for caller in callers:
            for squares in ([], [1], [1, 1]):
                trade.ClearField("give_squares")
                trade.give_squares.extend(squares)
                request = pb.CheckTradeRequest(game_id=game_id, trade=trade)
                await caller.engine.CheckTrade(request, metadata=caller.metadata)
    assert actor.table is table
    assert digest == state_digest(table.state)
    assert [] == await stream.drained(), "nobody is told of it"
    assert 1 == len(await engine.store.records(game_id, -1, 10))
    assert [] == await engine.store.facts(0, 10)
    after = await callers[seat].game(game_id)
    before.now_unix_ms = after.now_unix_ms
    before.ClearField("connected_seats")
    after.ClearField("connected_seats")
    before.your_seat = after.your_seat
    assert before == after
    rolled = await callers[seat].submit(game_id, "c", awaited(after.decisions).decision_id, **ROLL)
    assert 1 == rolled.accepted.seq
