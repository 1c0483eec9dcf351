"""Games made, ended and followed by somebody careless or hostile."""

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from support_engine import ROLL, Caller, Engine, awaited, built_in, people, person, running_engine


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with running_engine(tmp_path) as made:
        yield made


async def reason_of(call: Any) -> str:
    """The reason with which a unary call fails."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    error: Any = caught.value
    status = rpc_status.from_call(error)
    assert status is not None, error
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return str(info.reason)


async def reserved(service: Caller, request_id: str = "r") -> str:
    response = await service.allocation.ReserveGame(
        allocation_pb.ReserveGameRequest(request_id=request_id), metadata=service.metadata
    )
    return str(response.game_id)


def changed(**fields: Any) -> allocation_pb.SeatAssignment:
    """Seat 1 with something wrong."""
    seat = person(1)
    nonce = fields.pop("nonce", seat.nonce)
    for name, value in fields.items():
        if isinstance(value, list):
            del getattr(seat.seat, name)[:]
            getattr(seat.seat, name).extend(value)
        else:
            setattr(seat.seat, name, value)
    return allocation_pb.SeatAssignment(seat=seat.seat, nonce=nonce)


BAD_SEATS = {
    "none": [],
    "one": people(1),
    "seven": [person(seat) for seat in range(7)],
    "hole": [person(0), person(2)],
    "same seat twice": [person(0), person(0, "p_other")],
    "huge seat": [person(0), changed(seat=(1 << 32) - 1)],
    "same player twice": [person(0), person(1, "p_0")],
    "no seat set": [person(0), allocation_pb.SeatAssignment()],
    "no player": [person(0), changed(player_id="")],
    "long player": [person(0), changed(player_id="p" * 129)],
    "no kind": [person(0), changed(kind=0)],
    "unknown kind": [person(0), changed(kind=99)],
    "built-in player": [person(0), changed(kind=pb.SEAT_KIND_BUILT_IN)],
    "unknown policy": [person(0), built_in(1, "genius")],
    "no policy": [person(0), built_in(1, "")],
    "long name": [person(0), changed(name="x" * 65)],
    "long nonce": [person(0), changed(nonce=b"n" * 65)],
    "card on a corner": [person(0), changed(cards=[pb.SeatCard(square=0, bonus_bp=1)])],
    "card off the board": [person(0), changed(cards=[pb.SeatCard(square=40, bonus_bp=1)])],
    "bonus": [person(0), changed(cards=[pb.SeatCard(square=1, bonus_bp=10_001)])],
}


async def test_seats_that_cannot_be_are_refused_and_nothing_is_started(engine: Engine) -> None:
    service = await engine.caller("s_m", "service")
    game_id = await reserved(service)
    for name, seats in BAD_SEATS.items():
        request = allocation_pb.CreateGameRequest(
            game_id=game_id, ruleset="classic@full", seats=seats
        )
        call = service.allocation.CreateGame(request, metadata=service.metadata)
        assert "INVALID_FIELD" == await reason_of(call), name
    for options in (
        allocation_pb.HouseOptions(start_cash=-1),
        allocation_pb.HouseOptions(start_cash=(1 << 63) - 1),
        allocation_pb.HouseOptions(round_cap=(1 << 32) - 1),
        allocation_pb.HouseOptions(turn_seconds=0),
    ):
        request = allocation_pb.CreateGameRequest(
            game_id=game_id,
            ruleset="classic@full",
            seats=people(2),
            options=options,
        )
        call = service.allocation.CreateGame(request, metadata=service.metadata)
        assert "INVALID_FIELD" == await reason_of(call), options
    for ruleset in ("", "@", "classic", "classic@full@full", "x" * 10_000, "\x00"):
        request = allocation_pb.CreateGameRequest(game_id=game_id, ruleset=ruleset, seats=people(2))
        call = service.allocation.CreateGame(request, metadata=service.metadata)
        assert "UNKNOWN_RULESET" == await reason_of(call), ruleset
    assert [] == await engine.store.running()


async def test_the_same_game_created_fifty_times_at_once_is_one(engine: Engine) -> None:
    service = await engine.caller("s_m", "service")
    game_id = await reserved(service)
    watcher = await engine.caller("p_0")
    seats = [*people(2), built_in(2)]
    request = allocation_pb.CreateGameRequest(game_id=game_id, ruleset="classic@full", seats=seats)

    async def create() -> str:
        response = await service.allocation.CreateGame(request, metadata=service.metadata)
        return str(response.game_id)

    async def attach() -> None:
        while True:
            stream = await watcher.play(game_id)
            frame = await stream.frame()
            stream.call.cancel()
            if frame.WhichOneof("kind") == "snapshot":
                return

    attaching = [asyncio.create_task(attach()) for _ in range(5)]
    created = await asyncio.gather(*(create() for _ in range(50)))
    await asyncio.gather(*attaching)
    assert {game_id} == set(created)
    assert 1 == len(engine.service.registry.running())
    actors = [task for task in asyncio.all_tasks() if task.get_name() == f"game {game_id}"]
    assert 1 == len(actors)
    assert 1 == engine.service.metrics.active_games.labels("classic@full")._value.get()


async def test_many_games_are_reserved_at_once(engine: Engine) -> None:
    service = await engine.caller("s_m", "service")
    made = await asyncio.gather(*(reserved(service, f"many {number}") for number in range(60)))
    assert 60 == len(set(made))
    again = await asyncio.gather(*(reserved(service, f"many {number}") for number in range(60)))
    assert made == again


async def test_ending_a_game_races_with_its_commands(engine: Engine) -> None:
    operator = await engine.caller("o", "operator")
    for number in range(20):
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        decision = awaited((await caller.game(game_id)).decisions)
        mover = await engine.caller(f"p_{decision.seat}")
        request = allocation_pb.EndGameRequest(game_id=game_id, reason="é\x00" * 500)

        async def end(request: Any, delay: int) -> int:
            for _ in range(delay):
                await asyncio.sleep(0)
            ended = await operator.allocation.EndGame(request, metadata=operator.metadata)
            return int(ended.state)

        results = await asyncio.gather(
            mover.submit(game_id, "c", decision.decision_id, **ROLL),
            end(request, number),
            end(request, number // 2),
        )
        assert results[1] == results[2] == pb.GAME_STATE_VOID
        snapshot = await caller.game(game_id)
        stored = await engine.store.game(game_id)
        assert stored is not None
        assert (snapshot.seq, snapshot.state) == (stored.seq, stored.state)
        accepted = results[0].HasField("accepted")
        assert accepted or results[0].HasField("refusal")
        assert accepted == (snapshot.seq == 1)
        await caller.channel.close()
        await mover.channel.close()
    facts = await engine.store.facts(0, 100)
    assert ["game_voided"] * 20 == [fact.fact.kind for fact in facts]


async def test_who_comes_back_to_a_void_game_learns_it(engine: Engine) -> None:
    game_id = await engine.new_game(people(2))
    operator = await engine.caller("o", "operator")
    await operator.allocation.EndGame(
        allocation_pb.EndGameRequest(game_id=game_id), metadata=operator.metadata
    )
    stream = await (await engine.caller("p_0")).play(game_id, after_seq=0)
    assert pb.GAME_STATE_VOID == (await stream.next("snapshot")).state
    assert 0 == (await stream.next("attached")).seq


@pytest.mark.parametrize("after", [1, 1_000, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
async def test_facts_from_the_future_are_refused(engine: Engine, after: int) -> None:
    service = await engine.caller("s_m", "service")
    call = service.allocation.WatchFacts(
        allocation_pb.WatchFactsRequest(after=after, consumer="x" * 1_000),
        metadata=service.metadata,
    )
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call.read()
    assert grpc.StatusCode.INVALID_ARGUMENT is caught.value.code()


def coded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


async def test_forged_page_tokens_are_refused(engine: Engine) -> None:
    game_id = await engine.new_game(people(2))
    caller = await engine.caller("p_0")
    for token in ("0-1", "1-0", "-1-0", "0-999999999", "9999999999-0", "x", "\x00", "1" * 9_000):
        request = pb.GetReplayRequest(game_id=game_id, page_token=token)
        call = caller.engine.GetReplay(request, metadata=caller.metadata)
        assert "INVALID_FIELD" == await reason_of(call), token

    def listed(**fields: Any) -> Any:
        return caller.engine.ListGames(pb.ListGamesRequest(**fields), metadata=caller.metadata)

    huge = str(1 << 70)
    for token in (
        "x",
        "====",
        "é",
        coded("x:g"),
        coded(f"{huge}:g"),
        coded(f"-{huge}:g"),
    ):
        assert "INVALID_FIELD" == await reason_of(listed(page_token=token)), token
    assert "INVALID_FIELD" == await reason_of(listed(page_size=(1 << 32) - 1))


async def test_unknown_games_are_not_found_everywhere(engine: Engine) -> None:
    await reserved(await engine.caller("s_m", "service"))
    caller = await engine.caller("p_0")
    operator = await engine.caller("o", "operator")
    for game_id in ("", "g_unknown", "\x00", "x" * 5_000, await reserved(operator)):
        calls = [
            caller.engine.GetGame(pb.GetGameRequest(game_id=game_id), metadata=caller.metadata),
            caller.engine.CheckTrade(
                pb.CheckTradeRequest(game_id=game_id), metadata=caller.metadata
            ),
            caller.engine.GetReplay(pb.GetReplayRequest(game_id=game_id), metadata=caller.metadata),
            caller.submit(game_id, "c", "d1", **ROLL),
            operator.allocation.EndGame(
                allocation_pb.EndGameRequest(game_id=game_id), metadata=operator.metadata
            ),
        ]
        for call in calls:
            assert "GAME_NOT_FOUND" == await reason_of(call)
    assert not engine.service.registry._take_ups.arrivals._coming


async def test_a_game_created_while_the_server_drains_is_refused_or_kept(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        service = await engine.caller("s_m", "service")
        games = [await reserved(service, f"r{number}") for number in range(10)]

        async def create(game_id: str) -> str:
            request = allocation_pb.CreateGameRequest(
                game_id=game_id, ruleset="classic@full", seats=people(2)
            )
            call = service.allocation.CreateGame(request, metadata=service.metadata)
            code = await call.code()
            assert code in (grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE)
            return game_id if code is grpc.StatusCode.OK else ""

        creating = [asyncio.create_task(create(game_id)) for game_id in games]
        await asyncio.sleep(0.005)
        await engine.service.drain()
        kept = [game_id for game_id in await asyncio.gather(*creating) if game_id]
    async with running_engine(tmp_path) as engine:
        assert set(kept) <= {game.game_id for game in engine.service.registry.running()}
