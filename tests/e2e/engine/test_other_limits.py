"""What no game counts has a budget of its own, and who uses it up can still play."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import refusal_pb2
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import ROLL, START_MS, Caller, Engine, Stream, awaited, people, running_engine
from support_matchmaker import metadata_of

BURST = 5


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    limits: dict[str, Any] = {"other_requests_per_second": 1, "other_request_burst": BURST}
    async with running_engine(tmp_path, clock=ManualClock(START_MS), **limits) as engine:
        yield engine


async def results(caller: Caller, game_id: str, count: int) -> list[Any]:
    """The refusals of so many commands on one stream."""
    stream = await caller.play()
    for number in range(count):
        await stream.command(game_id, f"c{number}", "d1", **ROLL)
    found = [(await stream.result(f"c{number}")).refusal for number in range(count)]
    stream.call.cancel()
    return found


async def read_all(stream: Stream) -> None:
    while await stream.call.read() is not grpc.aio.EOF:
        pass


async def limit_of(call: Any) -> str:
    """Which limit ends the call."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    return metadata_of(caught.value)["what"]


@pytest.mark.parametrize("game", ["a game", "no game"])
async def test_commands_that_no_game_counts_are_refused_as_too_fast(
    engine: Engine, game: str
) -> None:
    game_id = await engine.new_game(people(2)) if game == "a game" else "g_none"
    stranger = await engine.caller("p_stranger")
    counted = [refusal_pb2.REFUSAL_REASON_SPECTATOR, refusal_pb2.REFUSAL_REASON_GAME_NOT_FOUND]

    found = await results(stranger, game_id, BURST + 1)

    assert [counted[game == "no game"]] * BURST == [one.reason for one in found[:-1]]
    assert refusal_pb2.REFUSAL_REASON_TOO_FAST == found[-1].reason
    assert 1 == found[-1].numbers["other_requests_per_second"]
    assert 0 < found[-1].numbers["retry_after_ms"] <= 1_001


async def test_single_commands_for_no_game_are_limited(engine: Engine) -> None:
    stranger = await engine.caller("p_stranger")
    for _ in range(BURST):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stranger.submit("g_none", "c", "d1", **ROLL)
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND

    command = pb.SubmitCommandRequest(command=pb.Command(game_id="g_none", command_id="c"))
    submitted = stranger.engine.SubmitCommand(command, metadata=stranger.metadata)
    assert "other_requests_per_second" == await limit_of(submitted)


@pytest.mark.parametrize("kind", [{"ping": pb.Ping()}, {"detach": pb.Detach(game_id="g")}])
async def test_a_flood_of_pings_or_detaches_ends_its_own_stream(
    engine: Engine, kind: dict[str, Any]
) -> None:
    player = await engine.caller("p_0")
    stream = await player.play()
    for _ in range(BURST + 1):
        await stream.send(**kind)

    assert "other_requests_per_second" == await limit_of(read_all(stream))


async def test_who_used_it_up_can_still_play(engine: Engine) -> None:
    game_id = await engine.new_game(people(2))
    callers = [await engine.caller(f"p_{seat}") for seat in range(2)]
    decision = awaited((await callers[0].game(game_id)).decisions)
    player = callers[decision.seat]
    await results(player, "g_none", BURST + 1)

    assert (await player.submit(game_id, "c", decision.decision_id, **ROLL)).HasField("accepted")
