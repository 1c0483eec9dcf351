"""Guests, bots, their tokens and the end of those, over loopback."""

import asyncio
from collections.abc import AsyncIterable
from pathlib import Path

import grpc
import pytest
import structlog

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


async def who(mm: Running, guest: Guest) -> identity_pb.WhoAmIResponse:
    return await mm.identity.WhoAmI(identity_pb.WhoAmIRequest(), metadata=guest.auth)


async def revoke(mm: Running, guest: Guest, **fields: str) -> None:
    request = identity_pb.RevokeTokenRequest(**fields)
    await mm.identity.RevokeToken(request, metadata=guest.auth)


async def test_guest_is_who_the_token_says(mm: Running) -> None:
    guest = await mm.guest("Jose\u0301")

    account = (await who(mm, guest)).account

    assert account.player_id == guest.player_id
    assert account.player_id.startswith("p_")
    assert ("José", identity_pb.ROLE_PLAYER, "") == (account.name, account.role, account.owner_id)


@pytest.mark.parametrize("name", ["", " ", "x" * 25, "a\u202eb", "a\tb"])
async def test_bad_names_are_refused_with_the_field(mm: Running, name: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.guest(name)

    assert grpc.StatusCode.INVALID_ARGUMENT is caught.value.code()
    assert "INVALID_FIELD" == reason_of(caught.value)
    assert ["name"] == bad_fields(caught.value)


async def test_same_bot_name_gives_the_same_bot(mm: Running) -> None:
    owner, other = await mm.guest(), await mm.guest()

    first, again, foreign = await mm.bot(owner), await mm.bot(owner), await mm.bot(other)

    assert first.player_id == again.player_id != foreign.player_id
    assert first.token != again.token
    account = (await who(mm, first)).account
    assert (identity_pb.ROLE_BOT, owner.player_id) == (account.role, account.owner_id)


async def test_owner_has_a_bounded_number_of_bots(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, bots_per_owner=1) as mm:
        owner = await mm.guest()
        await mm.bot(owner)

        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await mm.bot(owner, "Second")

    assert grpc.StatusCode.RESOURCE_EXHAUSTED is caught.value.code()
    assert "bots_per_owner" == metadata_of(caught.value)["limit"]


async def test_refreshed_token_is_another_and_both_are_good(mm: Running) -> None:
    guest = await mm.guest()
    made = await mm.identity.RefreshToken(identity_pb.RefreshTokenRequest(), metadata=guest.auth)
    renewed = Guest(guest.player_id, guest.name, made.token.jwt, made.token.token_id)

    assert guest.token_id != renewed.token_id
    assert (await who(mm, guest)).account == (await who(mm, renewed)).account


async def test_own_token_is_revoked_and_no_other(mm: Running) -> None:
    guest, other = await mm.guest(), await mm.guest()

    await revoke(mm, guest)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await who(mm, guest)
    assert grpc.StatusCode.UNAUTHENTICATED is caught.value.code()
    await who(mm, other)


async def test_owner_revokes_a_bots_token_and_strangers_do_not(mm: Running) -> None:
    owner, stranger = await mm.guest(), await mm.guest()
    robo = await mm.bot(owner)

    for fields in ({"token_id": robo.token_id}, {"player_id": robo.player_id}):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await revoke(mm, stranger, **fields)
        assert "NOT_YOURS" == reason_of(caught.value)
    await who(mm, robo)

    await revoke(mm, owner, token_id=robo.token_id)
    with pytest.raises(grpc.aio.AioRpcError):
        await who(mm, robo)


async def test_operator_revokes_all_tokens_of_an_account(mm: Running) -> None:
    guest = await mm.guest()
    await revoke(mm, mm.signed("o_1", "operator"), player_id=guest.player_id)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await who(mm, guest)

    assert grpc.StatusCode.UNAUTHENTICATED is caught.value.code()


async def test_services_hear_of_old_and_new_revocations(mm: Running) -> None:
    first, second = await mm.guest(), await mm.guest()
    await revoke(mm, first)
    watch = mm.identity.WatchRevocations(
        identity_pb.WatchRevocationsRequest(), metadata=mm.signed("s_engine", "service").auth
    )

    assert [first.token_id] == [one.token_id for one in (await anext(aiter(watch))).revocations]
    await revoke(mm, second)
    assert second.token_id == await asyncio.wait_for(_next_token(watch), 5)
    watch.cancel()


async def _next_token(watch: AsyncIterable[identity_pb.WatchRevocationsResponse]) -> str:
    async for response in watch:
        if response.revocations:
            return response.revocations[0].token_id
    raise AssertionError("the stream ended")


async def test_revoked_token_ends_its_open_streams(mm: Running) -> None:
    guest = await mm.guest()
    room = await mm.create(guest)
    watch = mm.rooms.WatchRoom(pb.WatchRoomRequest(room_id=room.room_id), metadata=guest.auth)
    await watch.read()

    await revoke(mm, guest)

    assert grpc.StatusCode.UNAUTHENTICATED is await asyncio.wait_for(watch.code(), 5)


async def test_revocation_survives_a_restart(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers) as mm:
        guest = await mm.guest()
        await revoke(mm, guest)

    async with running_matchmaker(tmp_path, peers) as mm:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await who(mm, guest)

    assert grpc.StatusCode.UNAUTHENTICATED is caught.value.code()


async def test_guests_of_one_address_are_limited(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, guests_per_minute=2) as mm:
        outcomes = await asyncio.gather(*(mm.guest() for _ in range(6)), return_exceptions=True)

    errors = [one for one in outcomes if isinstance(one, grpc.aio.AioRpcError)]
    assert 2 <= len(errors) <= 4  # a minute may end meanwhile
    assert {"LIMIT"} == {reason_of(error) for error in errors}


async def test_no_token_is_logged(mm: Running) -> None:
    with structlog.testing.capture_logs() as lines:
        guest = await mm.guest()
        await revoke(mm, guest)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await who(mm, guest)

    assert guest.token not in repr(lines)
    assert guest.token not in str(caught.value)
