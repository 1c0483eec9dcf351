"""Rooms over loopback: joining, leaving, races, and the one game a player may be in."""

import asyncio
from pathlib import Path

import grpc
import pytest

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from support_matchmaker import (
    Peers,
    Running,
    bad_fields,
    eventually,
    metadata_of,
    reason_of,
    running_matchmaker,
)


async def refusal(awaitable: object) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await awaitable  # type: ignore[misc]
    return caught.value


@pytest.mark.statement("R006")
async def test_room_has_its_game_and_commitment_before_anybody_joins(mm: Running) -> None:
    room = await mm.create(await mm.guest(), seats=4)

    assert room.game_id
    assert len(room.commitment) == 32
    assert pb.ROOM_STATE_OPEN == room.state
    assert [1, 0, 0, 0] == [seat.occupant for seat in room.seats]


async def test_same_request_opens_one_room(mm: Running, peers: Peers) -> None:
    guest = await mm.guest()

    rooms = await asyncio.gather(*(mm.create(guest, request_id="once") for _ in range(10)))

    assert 1 == len({room.room_id for room in rooms})
    assert rooms[0].room_id == (await mm.current(guest)).room_id


@pytest.mark.parametrize(
    ("fields", "reason", "field"),
    [
        ({"ruleset": "chess@full"}, "UNKNOWN_RULESET", "ruleset"),
        ({"seats": 1}, "INVALID_FIELD", "seats"),
        ({"seats": 7}, "INVALID_FIELD", "seats"),
        ({"nonce": b"x" * 65}, "INVALID_FIELD", "nonce"),
        ({"request_id": ""}, "INVALID_FIELD", "request_id"),
        ({"request_id": "x" * 65}, "INVALID_FIELD", "request_id"),
    ],
)
async def test_bad_rooms_are_refused(
    mm: Running, fields: dict[str, object], reason: str, field: str
) -> None:
    error = await refusal(mm.create(await mm.guest(), **fields))  # type: ignore[arg-type]

    assert grpc.StatusCode.INVALID_ARGUMENT is error.code()
    assert (reason, [field]) == (reason_of(error), bad_fields(error))


@pytest.mark.rule("TABLE-6")
async def test_hundred_parallel_joins_of_one_player_give_one_seat(mm: Running) -> None:
    """A-28: many open games, one double-clicking player."""
    hosts = [await mm.guest(f"Host {number}") for number in range(10)]
    rooms = [await mm.create(host, seats=3) for host in hosts]
    eve = await mm.guest("Eve")

    outcomes = await asyncio.gather(
        *(mm.join(eve, rooms[number % 10]) for number in range(100)), return_exceptions=True
    )

    joined = {one.room.room_id for one in outcomes if isinstance(one, pb.JoinRoomResponse)}
    errors = [one for one in outcomes if isinstance(one, grpc.aio.AioRpcError)]
    assert 1 == len(joined)
    assert 90 == len(errors)
    assert {"ALREADY_PLAYING"} == {reason_of(error) for error in errors}
    assert joined == {metadata_of(error)["room_id"] for error in errors}
    seats = [await mm.get(eve, room) for room in rooms]
    assert 1 == sum(seat.player_id == eve.player_id for room in seats for seat in room.seats)


async def test_last_seat_has_one_winner(mm: Running) -> None:
    room = await mm.create(await mm.guest(), seats=2)
    guests = [await mm.guest(f"Guest {number}") for number in range(20)]

    outcomes = await asyncio.gather(
        *(mm.join(guest, room) for guest in guests), return_exceptions=True
    )

    assert 1 == sum(isinstance(one, pb.JoinRoomResponse) for one in outcomes)
    reasons = {reason_of(one) for one in outcomes if isinstance(one, grpc.aio.AioRpcError)}
    assert {"ROOM_FULL"} == reasons


async def test_joining_again_gets_the_same_seat(mm: Running) -> None:
    room = await mm.create(await mm.guest(), seats=4)
    eve = await mm.guest()

    first, again = await mm.join(eve, room), await mm.join(eve, room)

    assert (1, 1) == (first.seat, again.seat)
    assert first.room == again.room


@pytest.mark.rule("TABLE-6")
async def test_leaving_frees_for_another_room(mm: Running) -> None:
    ada, bo, eve = [await mm.guest(name) for name in ("Ada", "Bo", "Eve")]
    one, other = await mm.create(ada), await mm.create(bo)
    await mm.join(eve, one)
    assert "ALREADY_PLAYING" == reason_of(await refusal(mm.join(eve, other)))

    await mm.leave(eve, one)
    await mm.join(eve, other)

    assert other.room_id == (await mm.current(eve)).room_id
    assert "NOT_IN_ROOM" == reason_of(await refusal(mm.leave(eve, one)))


async def test_private_room_wants_its_code(mm: Running) -> None:
    ada, eve = await mm.guest("Ada"), await mm.guest("Eve")
    room = await mm.create(ada, public=False)

    for fields in ({}, {"code": "WRONG1"}):
        error = await refusal(mm.join(eve, room, **fields))
        assert (grpc.StatusCode.NOT_FOUND, "ROOM_NOT_FOUND") == (error.code(), reason_of(error))
    by_wrong_code = pb.JoinRoomRequest(code="WRONG1")
    error = await refusal(mm.rooms.JoinRoom(by_wrong_code, metadata=eve.auth))
    assert "ROOM_NOT_FOUND" == reason_of(error)
    assert "" == (await mm.get(eve, room)).code

    joined = await mm.rooms.JoinRoom(pb.JoinRoomRequest(code=room.code.lower()), metadata=eve.auth)
    assert (room.room_id, room.code) == (joined.room.room_id, joined.room.code)


async def test_private_rooms_are_not_listed_and_pages_hold_each_room_once(mm: Running) -> None:
    rooms = [await mm.create(await mm.guest()) for _ in range(5)]
    await mm.create(await mm.guest(), public=False)
    reader, token, seen = await mm.guest(), "", []
    while True:
        request = pb.ListRoomsRequest(page_size=2, page_token=token)
        page = await mm.rooms.ListRooms(request, metadata=reader.auth)
        seen += [room.room_id for room in page.rooms]
        token = page.next_page_token
        if not token:
            break

    assert [room.room_id for room in rooms] == seen
    bad = pb.ListRoomsRequest(page_token="nonsense")
    assert ["page_token"] == bad_fields(
        await refusal(mm.rooms.ListRooms(bad, metadata=reader.auth))
    )


async def test_creators_role_passes_on_and_kick_is_theirs(mm: Running) -> None:
    ada, bo, eve = [await mm.guest(name) for name in ("Ada", "Bo", "Eve")]
    room = await mm.create(ada, seats=3)
    await mm.join(bo, room)
    await mm.join(eve, room)
    await mm.leave(ada, room)
    assert bo.player_id == (await mm.get(eve, room)).creator_id

    kick = pb.KickRequest(room_id=room.room_id, player_id=bo.player_id)
    error = await refusal(mm.rooms.Kick(kick, metadata=eve.auth))
    assert (grpc.StatusCode.PERMISSION_DENIED, "NOT_CREATOR") == (error.code(), reason_of(error))
    kick.player_id = eve.player_id
    await mm.rooms.Kick(kick, metadata=bo.auth)
    assert "" == (await mm.current(eve)).room_id


async def test_built_in_bots_are_added_and_removed_by_the_creator(mm: Running) -> None:
    ada, eve = await mm.guest("Ada"), await mm.guest("Eve")
    room = await mm.create(ada, seats=3)

    seated = await mm.add_bot(ada, room, "trader")

    assert pb.OCCUPANT_BUILT_IN == seated.seats[1].occupant
    assert "trader" == seated.seats[1].policy
    assert "UNKNOWN_BOT" == reason_of(await refusal(mm.add_bot(ada, room, "genius")))
    assert "NOT_CREATOR" == reason_of(await refusal(mm.add_bot(eve, room)))
    remove = pb.RemoveBotRequest(room_id=room.room_id, seat=1)
    emptied = (await mm.rooms.RemoveBot(remove, metadata=ada.auth)).room
    assert pb.OCCUPANT_UNSPECIFIED == emptied.seats[1].occupant


async def test_watch_shows_the_room_now_and_each_change_until_it_starts(mm: Running) -> None:
    ada, eve = await mm.guest("Ada"), await mm.guest("Eve")
    room = await mm.create(ada)
    watch = mm.rooms.WatchRoom(pb.WatchRoomRequest(room_id=room.room_id), metadata=eve.auth)
    shown = aiter(watch)
    assert room.revision == (await anext(shown)).room.revision

    await mm.join(eve, room)
    assert eve.player_id == (await anext(shown)).room.seats[1].player_id
    await mm.start(ada, room)
    rest = [response.room async for response in shown]

    assert pb.ROOM_STATE_STARTED == rest[-1].state
    revisions = [one.revision for one in rest]
    assert sorted(set(revisions)) == revisions


async def test_streams_of_an_account_are_bounded(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, streams_per_player=1) as mm:
        ada = await mm.guest()
        room = await mm.create(ada)
        request = pb.WatchRoomRequest(room_id=room.room_id)
        first = mm.rooms.WatchRoom(request, metadata=ada.auth)
        await first.read()

        error = await refusal(mm.rooms.WatchRoom(request, metadata=ada.auth).read())
        assert grpc.StatusCode.RESOURCE_EXHAUSTED is error.code()
        first.cancel()

        async def watches_again() -> bool:
            call = mm.rooms.WatchRoom(request, metadata=ada.auth)
            try:
                await call.read()
            except grpc.aio.AioRpcError:
                return False
            call.cancel()
            return True

        await eventually(watches_again)


async def test_idle_room_expires_and_frees(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, room_idle_seconds=0.05) as mm:
        ada = await mm.guest()
        room = await mm.create(ada)
        await asyncio.sleep(0.1)

        await mm.service.sweeper.sweep()

        assert pb.ROOM_STATE_CLOSED == (await mm.get(ada, room)).state
        await mm.create(ada)


async def test_room_needs_the_engine(mm: Running, peers: Peers) -> None:
    peers.engine.is_down = True

    error = await refusal(mm.create(await mm.guest()))

    assert grpc.StatusCode.UNAVAILABLE is error.code()
    assert "ENGINE_UNAVAILABLE" == reason_of(error)


async def test_draining_refuses_changes_as_retryable_and_ends_streams(mm: Running) -> None:
    """A-29: a join during shutdown leaves no half-made room."""
    ada, eve = await mm.guest("Ada"), await mm.guest("Eve")
    room = await mm.create(ada)
    watch = mm.rooms.WatchRoom(pb.WatchRoomRequest(room_id=room.room_id), metadata=ada.auth)
    await watch.read()

    await mm.service.drain()

    error = await refusal(mm.join(eve, room))
    assert (grpc.StatusCode.UNAVAILABLE, "DRAINING") == (error.code(), reason_of(error))
    assert grpc.StatusCode.UNAVAILABLE is await asyncio.wait_for(watch.code(), 5)
    assert room == await mm.get(ada, room)


async def test_bot_that_is_asked_for_again_is_seated_once(mm: Running) -> None:
    """Also many times at once, and after it was unseated; an id is its caller's and room's own."""
    ada = await mm.guest("Ada")
    room = await mm.create(ada, seats=6)
    request = pb.AddBotRequest(room_id=room.room_id, policy="steady", request_id="one")

    again = await asyncio.gather(
        *(mm.rooms.AddBot(request, metadata=ada.auth) for _ in range(10)),
        mm.rooms.AddBot(request, metadata=ada.auth),
    )

    assert {2} == {sum(bool(seat.name) for seat in one.room.seats) for one in again}
    other = pb.AddBotRequest(room_id=room.room_id, policy="steady", request_id="two")
    assert "Steady 2" == (await mm.rooms.AddBot(other, metadata=ada.auth)).room.seats[2].name
    remove = pb.RemoveBotRequest(room_id=room.room_id, seat=1)
    await mm.rooms.RemoveBot(remove, metadata=ada.auth)
    assert "" == (await mm.rooms.AddBot(request, metadata=ada.auth)).room.seats[1].name
    await mm.add_bot(ada, room)
    await mm.add_bot(ada, room)
    assert 4 == sum(bool(seat.name) for seat in (await mm.get(ada, room)).seats)
    request.request_id = "x" * 65
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.rooms.AddBot(request, metadata=ada.auth)
    assert ["request_id"] == bad_fields(caught.value)
