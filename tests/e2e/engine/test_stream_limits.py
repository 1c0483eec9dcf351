"""Limits and refusals that must not cost a game: streams that flap, bots that err."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import action_pb2, decision_pb2, refusal_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import START_MS, Caller, Engine, awaited, people, running_engine
from support_phases import until_phase

WRONG: list[tuple[str, dict[str, Any]]] = [
    ("bid out of turn", {"bid": action_pb2.Bid()}),
    ("buy nothing", {"buy": action_pb2.Buy()}),
    ("build on what it does not own", {"build": action_pb2.Build(square=1)}),
    ("mortgage what it does not own", {"mortgage": action_pb2.Mortgage(square=39)}),
]


async def test_a_stream_that_flaps_in_an_auction_still_bids_and_never_fails_silently(
    tmp_path: Path,
) -> None:
    """Case A-40: thirty streams opened in one prompt, then a bid; another bot beside it."""
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock, command_burst=40) as engine:
        game_id = await engine.new_game(people(2))
        await until_phase(engine, game_id, decision_pb2.PHASE_AUCTION)
        before = await (await engine.caller("p_r")).game(game_id)
        decision = awaited(before.decisions)
        bidder = await engine.caller(f"p_{decision.seat}")
        await clock.advance(5_000)
        for _ in range(30):
            stream = await bidder.play(game_id, after_seq=before.seq)
            await stream.next("attached")
            stream.call.cancel()
        other = Caller(bidder.channel, engine.token(f"p_{1 - decision.seat}"))
        idle = await other.play(game_id, after_seq=before.seq)
        await idle.next("attached")
        stream = await bidder.play(game_id, after_seq=before.seq)
        await stream.command(game_id, "bid", decision.decision_id, bid=action_pb2.Bid())
        assert before.seq + 1 == (await stream.result("bid")).accepted.seq
        assert before.seq + 1 == (await idle.next("update")).seq


async def test_too_many_streams_say_which_limit_and_commands_have_a_budget_of_their_own(
    tmp_path: Path,
) -> None:
    """Case A-40: separate budgets, and the refusal names the limit and how long to wait."""
    limits: dict[str, Any] = {
        "most_account_streams": 2,
        "command_burst": 3,
        "commands_per_second": 4,
    }
    async with running_engine(tmp_path, **limits) as engine:
        game_id = await engine.new_game(people(2))
        decision = awaited((await (await engine.caller("p_r")).game(game_id)).decisions)
        caller = await engine.caller(f"p_{decision.seat}")
        kept = [await caller.play(game_id) for _ in range(2)]
        for stream in kept:
            await stream.next("attached")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await (await caller.play()).next("pong")
        assert grpc.StatusCode.RESOURCE_EXHAUSTED is caught.value.code()
        assert "streams" in str(caught.value.details())
        assert "grpc-status-details-bin" in dict(caught.value.trailing_metadata() or ())
        for number in range(6):
            await kept[0].command(game_id, f"w{number}", decision.decision_id, **WRONG[0][1])
        results = [await kept[0].result(f"w{number}") for number in range(6)]
        fast = [one.refusal for one in results if one.refusal.numbers.get("retry_after_ms")]
        assert fast
        await asyncio.sleep(max(one.numbers["retry_after_ms"] for one in fast) / 1_000)
        await kept[1].command(game_id, "c", decision.decision_id, roll=action_pb2.Roll())
        assert 1 == (await kept[1].result("c")).accepted.seq


async def err_until_the_clock_ends(
    engine: Engine, game_id: str, clock: ManualClock, turn: int
) -> pb.Snapshot:
    """A hundred illegal commands of the awaited seat, spread over its turn; the game after it."""
    reader = await engine.caller("p_r")
    before = await reader.game(game_id)
    decision = awaited(before.decisions)
    caller = Caller(reader.channel, engine.token(f"p_{decision.seat}"))
    stream = await caller.play(game_id, after_seq=before.seq)
    for number in range(100):
        if number % 10 == 9:
            await clock.advance(7_000)
        name, action = WRONG[number % len(WRONG)]
        await stream.command(game_id, f"t{turn}-{number}", decision.decision_id, **action)
        result = await stream.result(f"t{turn}-{number}")
        assert result.refusal.reason != refusal_pb2.REFUSAL_REASON_UNSPECIFIED, name
    now = await reader.game(game_id)
    assert before.seq == now.seq
    assert awaited(now.decisions).deadline_unix_ms == decision.deadline_unix_ms
    await clock.advance(decision.deadline_unix_ms - clock.now_ms())
    async with asyncio.timeout(10):
        while (now := await reader.game(game_id)).seq == before.seq:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    stream.call.cancel()
    return now


async def test_illegal_commands_count_for_nothing_and_do_not_forgive_missed_turns(
    tmp_path: Path,
) -> None:
    """Case A-39: refused ones neither move the clock nor reset the count; the next game is clean."""
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock) as engine:
        game_id = await engine.new_game(people(2))
        first = awaited((await (await engine.caller("p_r")).game(game_id)).decisions).seat
        for turn in range(2):
            after = await err_until_the_clock_ends(engine, game_id, clock, turn)
            assert 1 == after.view.players[turn % 2 ^ first].missed_turns
        after = await err_until_the_clock_ends(engine, game_id, clock, 2)
        assert pb.GAME_STATE_FINISHED == after.state, "two missed in a row are a surrender"
        assert not after.view.players[first].in_game
        again = await engine.new_game(people(2))
        snapshot = await (await engine.caller("p_r")).game(again)
        assert [0, 0] == [player.missed_turns for player in snapshot.view.players]
        decision = awaited(snapshot.decisions)
        mover = await engine.caller(f"p_{decision.seat}")
        result = await mover.submit(again, "c", decision.decision_id, roll=action_pb2.Roll())
        assert 1 == result.accepted.seq
