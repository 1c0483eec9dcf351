"""Whatever anybody sends is answered with a kind of error that is theirs, and hurts nobody else."""

import asyncio
import base64
import json
import random
from collections.abc import Sequence
from typing import Any

import grpc
import jwt
import pytest

import support_hostile
from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx_matchmaker.access import ROLES_BY_METHOD
from support_hostile import BUGS, hostile_requests
from support_matchmaker import Guest, Running, bad_fields, eventually, reason_of

STREAMS = {"WatchRoom": "1n", "QuickMatch": "1n", "WatchRevocations": "1n", "OfferBot": "nn"}
HOSTILE_METHODS = sorted(method for method in ROLES_BY_METHOD if "Revoke" not in method)


async def code_of(
    mm: Running, method: str, request: bytes, caller: Guest | None
) -> grpc.StatusCode:
    metadata = caller.auth if caller else ()
    streams = STREAMS.get(method.rpartition("/")[2], "11")
    return await support_hostile.code_of(mm.channel, method, request, metadata, streams=streams)


async def one_of_each(mm: Running) -> dict[str, Guest]:
    """Somebody with each role."""
    player = await mm.guest()
    return {
        "player": player,
        "bot": await mm.bot(player),
        "service": mm.signed("s_x", "service"),
        "operator": mm.signed("o_x", "operator"),
    }


def allowed(callers: dict[str, Guest], method: str) -> Sequence[Guest]:
    roles = ROLES_BY_METHOD[method]
    return [callers[role] for role in sorted(roles) if role in callers] or [callers["player"]]


@pytest.mark.parametrize("method", HOSTILE_METHODS)
async def test_random_bytes_and_absurd_fields_are_no_bug_of_ours(mm: Running, method: str) -> None:
    chance = random.Random(method)
    callers = await one_of_each(mm)
    package, _, name = method.lstrip("/").rpartition("/")
    module: Any = identity_pb if "identity" in package else pb
    requests = hostile_requests(getattr(module, f"{name}Request"), chance)

    codes = [
        await code_of(mm, method, request, chance.choice(allowed(callers, method)))
        for request in requests
    ]

    assert not BUGS.intersection(codes), codes
    assert grpc.StatusCode.DEADLINE_EXCEEDED not in codes
    assert (await mm.guest("Still here")).player_id


async def test_page_token_beyond_all_time_is_a_bad_field(mm: Running) -> None:
    ada = await mm.guest()
    for text in (b"9" * 40 + b".r_x", b"-1.r_x", b"x", b"\xff\xfe"):
        request = pb.ListRoomsRequest(page_token=base64.urlsafe_b64encode(text).decode())
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await mm.rooms.ListRooms(request, metadata=ada.auth)

        assert grpc.StatusCode.INVALID_ARGUMENT is caught.value.code()
        assert ["page_token"] == bad_fields(caught.value)


@pytest.mark.parametrize(
    "name",
    ["\u3164", "\u2800\u2800", "\u115f\u1160", "\uffa0 \u3164", "\u200d", "\u0301", "\u00a0"],
    ids=ascii,
)
async def test_name_of_which_nothing_is_seen_is_refused(mm: Running, name: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.guest(name)

    assert ["name"] == bad_fields(caught.value)


async def test_forged_tokens_are_refused_in_the_words_of_the_contract(mm: Running) -> None:
    ada = await mm.guest()
    header, claims, signature = ada.token.split(".")
    kid = jwt.get_unverified_header(ada.token)["kid"]
    forged = [
        f"{_part({'alg': 'none', 'kid': kid})}.{claims}.",
        f"{_part({'alg': 'HS256', 'kid': kid})}.{claims}.{signature}",
        f"{header}.{_part({'sub': 'p_x', 'role': 'operator'})}.{signature}",
        mm.signer.sign(subject="p_x", role="player", ttl_seconds=-3600),
        mm.signer.sign(subject="p_x", role="emperor", ttl_seconds=60),
        "[" * 3000,
        _encoded(b"[" * 2900) + ".e30.AAAA",
        "x" * 5000,
        "..",
    ]
    for token in forged:
        auth = (("authorization", f"Bearer {token}"),)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await mm.rooms.GetCurrentGame(pb.GetCurrentGameRequest(), metadata=auth)

        assert grpc.StatusCode.UNAUTHENTICATED is caught.value.code(), token[:40]
        assert reason_of(caught.value) in ("TOKEN", "TOKEN_EXPIRED")
        assert token not in str(caught.value.details())


async def test_every_other_role_is_refused(mm: Running) -> None:
    callers = await one_of_each(mm)
    for method, roles in ROLES_BY_METHOD.items():
        if "*" in roles:
            continue
        for role in callers.keys() - roles:
            code = await code_of(mm, method, b"", callers[role])
            assert grpc.StatusCode.PERMISSION_DENIED is code, (method, role)
        assert grpc.StatusCode.UNAUTHENTICATED is await code_of(mm, method, b"", None), method


async def test_error_with_a_long_foreign_text_still_arrives(mm: Running) -> None:
    """Details travel in trailers, which are bounded in bytes and not in characters."""
    ada = await mm.guest()
    request = pb.CreateRoomRequest(request_id="1", ruleset="\U0001f600" * 20_000, seats=2)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.rooms.CreateRoom(request, metadata=ada.auth)

    assert "UNKNOWN_RULESET" == reason_of(caught.value)
    trailers = caught.value.trailing_metadata() or ()
    assert sum(len(key) + len(value) for key, value in trailers) < 4096


async def test_hundreds_of_cancelled_streams_leave_nothing_behind(mm: Running) -> None:
    ada = await mm.guest()
    room = await mm.create(ada)
    watched = pb.WatchRoomRequest(room_id=room.room_id)
    wanted = pb.QuickMatchRequest(ruleset="classic@full", seats=6)
    for _ in range(10):
        guests = await asyncio.gather(*(mm.guest() for _ in range(5)))
        calls: list[Any] = []
        for guest in guests:
            calls += [mm.rooms.WatchRoom(watched, metadata=guest.auth) for _ in range(4)]
            calls.append(mm.rooms.QuickMatch(wanted, metadata=guest.auth))
        await asyncio.gather(*(call.read() for call in calls[::2]))
        for call in calls:
            call.cancel()

    servicer = mm.service._matchmaker
    await eventually(lambda: not servicer._streams._open)
    assert not servicer._queue._searches
    assert not servicer._board._watchers
    assert room.room_id == (await mm.current(ada)).room_id


async def test_streams_past_the_limit_are_refused_and_others_go_on(mm: Running) -> None:
    ada, bo = await mm.guest(), await mm.guest()
    room = await mm.create(ada)
    watched = pb.WatchRoomRequest(room_id=room.room_id)
    calls = [mm.rooms.WatchRoom(watched, metadata=ada.auth) for _ in range(300)]
    outcomes = await asyncio.gather(*(call.read() for call in calls), return_exceptions=True)

    refused = [one for one in outcomes if isinstance(one, grpc.aio.AioRpcError)]
    assert 16 == len(outcomes) - len(refused)
    assert {"LIMIT"} == {reason_of(error) for error in refused}
    other: Any = mm.rooms.WatchRoom(watched, metadata=bo.auth)
    assert (await other.read()).room == await mm.get(bo, room)
    for call in calls:
        call.cancel()


def _part(content: dict[str, object]) -> str:
    return _encoded(json.dumps(content).encode())


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
