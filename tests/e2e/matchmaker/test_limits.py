"""What a caller may do, how often, and what a refusal says."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from support_matchmaker import (
    Guest,
    Peers,
    Running,
    bad_fields,
    metadata_of,
    reason_of,
    running_matchmaker,
)


async def open_and_leave(mm: Running, guest: Guest) -> None:
    await mm.leave(guest, await mm.create(guest))


async def search(mm: Running, guest: Guest, **fields: Any) -> None:
    wanted: dict[str, Any] = {"ruleset": "classic@full", "seats": 2, **fields}
    call = mm.rooms.QuickMatch(pb.QuickMatchRequest(**wanted), metadata=guest.auth)
    await call.read()
    call.cancel()


async def renew(mm: Running, guest: Guest) -> None:
    await mm.identity.RefreshToken(identity_pb.RefreshTokenRequest(), metadata=guest.auth)


async def make_bot(mm: Running, guest: Guest) -> None:
    await mm.bot(guest)


@pytest.mark.parametrize(
    ("setting", "act"),
    [
        ("rooms_per_minute", open_and_leave),
        ("searches_per_minute", search),
        ("tokens_per_minute", renew),
        ("tokens_per_minute", make_bot),
    ],
)
async def test_refusal_names_the_limit_and_when_to_come_again(
    tmp_path: Path,
    peers: Peers,
    setting: str,
    act: Callable[[Running, Guest], Awaitable[None]],
) -> None:
    """Limits are an account's own: whoever else comes from the same address has theirs."""
    limits: dict[str, Any] = {setting: 2}
    async with running_matchmaker(tmp_path, peers, **limits) as mm:
        ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await _often(act, mm, ada)
        await act(mm, bo)

    assert grpc.StatusCode.RESOURCE_EXHAUSTED is caught.value.code()
    assert "LIMIT" == reason_of(caught.value)
    assert {"limit": setting, "value": "2"} == metadata_of(caught.value)
    assert 0 < _retry_seconds(caught.value) <= 60


async def guess(mm: Running, guest: Guest, code: str = "AAAAAAAA", room_id: str = "") -> None:
    request = pb.JoinRoomRequest(code=code, room_id=room_id)
    await mm.rooms.JoinRoom(request, metadata=guest.auth)


async def test_codes_cannot_be_guessed_without_end(tmp_path: Path, peers: Peers) -> None:
    """Also not many at once, nor by the id; and at the limit, a right one tells nothing."""
    async with running_matchmaker(tmp_path, peers, wrong_codes_per_minute=3) as mm:
        ada, bo, cy = [await mm.guest(name) for name in ("Ada", "Bo", "Cy")]
        room = await mm.create(ada, public=False)
        guesses = [guess(mm, bo), *(guess(mm, bo, room_id=room.room_id) for _ in range(20))]
        outcomes = await asyncio.gather(*guesses, return_exceptions=True)
        errors = [one for one in outcomes if isinstance(one, grpc.aio.AioRpcError)]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await guess(mm, bo, room.code)
        await guess(mm, cy, room.code.lower())

    assert 21 == len(errors)
    reasons = [reason_of(error) for error in errors]
    assert reasons.count("ROOM_NOT_FOUND") in (3, 6), "twice, if a minute ended meanwhile"
    assert {"ROOM_NOT_FOUND", "LIMIT"} == set(reasons)
    assert grpc.StatusCode.RESOURCE_EXHAUSTED is caught.value.code()
    assert {"limit": "wrong_codes_per_minute", "value": "3"} == metadata_of(caught.value)
    assert 0 < _retry_seconds(caught.value) <= 60


async def test_right_codes_use_up_nothing(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, wrong_codes_per_minute=1) as mm:
        ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
        room = await mm.create(ada, public=False)
        for _ in range(5):
            await guess(mm, bo, room.code)
            await mm.leave(bo, room)
        await mm.join(bo, room, code=room.code)
        await mm.join(bo, room, code="who is in needs none")

        assert bo.player_id == (await mm.get(bo, room)).seats[1].player_id


async def test_room_that_is_asked_for_again_uses_up_nothing(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, rooms_per_minute=1) as mm:
        ada = await mm.guest()
        rooms = [await mm.create(ada, request_id="once") for _ in range(5)]

    assert 1 == len({room.room_id for room in rooms})


@pytest.mark.rule("TABLE-1", "TABLE-2")
@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"options": pb.RoomOptions(start_cash=999)}, "options.start_cash"),
        ({"options": pb.RoomOptions(start_cash=1_000_001)}, "options.start_cash"),
        ({"options": pb.RoomOptions(start_cash=-1)}, "options.start_cash"),
        ({"options": pb.RoomOptions(round_cap=0)}, "options.round_cap"),
        ({"options": pb.RoomOptions(round_cap=1001)}, "options.round_cap"),
        ({"options": pb.RoomOptions(turn_seconds=4)}, "options.turn_seconds"),
        ({"options": pb.RoomOptions(turn_seconds=601)}, "options.turn_seconds"),
        ({"ruleset": "team@full", "seats": 3}, "seats"),
        ({"ruleset": "team@teams", "seats": 5}, "seats"),
        ({"seats": 0}, "seats"),
        ({"seats": 1_000_000_000}, "seats"),
    ],
)
async def test_table_that_no_game_is_played_at_is_refused_when_it_is_opened(
    mm: Running, peers: Peers, fields: dict[str, Any], wrong: str
) -> None:
    ada = await mm.guest()

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.create(ada, **fields)

    assert grpc.StatusCode.INVALID_ARGUMENT is caught.value.code()
    assert ("INVALID_FIELD", [wrong]) == (reason_of(caught.value), bad_fields(caught.value))
    assert "" == (await mm.current(ada)).room_id
    assert not peers.engine.reservations


async def test_house_options_within_the_bounds_are_the_rooms(mm: Running) -> None:
    options = pb.RoomOptions(start_cash=1_000_000, round_cap=1, turn_seconds=5, watchable=False)

    room = await mm.create(await mm.guest(), seats=6, ruleset="team@full", options=options)

    assert options == room.options


@pytest.mark.rule("TABLE-2")
async def test_nobody_searches_for_a_table_that_cannot_be(mm: Running) -> None:
    for fields in ({"ruleset": "team@full", "seats": 3}, {"seats": 7}, {"seats": 0}):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await search(mm, await mm.guest(), **fields)
        assert ["seats"] == bad_fields(caught.value)


async def _often(
    act: Callable[[Running, Guest], Awaitable[None]], mm: Running, guest: Guest
) -> None:
    for _ in range(5):  # more than twice two, as a minute may end meanwhile
        await act(mm, guest)


def _retry_seconds(error: grpc.aio.AioRpcError) -> float:
    status: Any = rpc_status.from_call(error)  # type: ignore[arg-type]
    retry = error_details_pb2.RetryInfo()
    assert any(detail.Unpack(retry) for detail in status.details)
    return float(retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9)
