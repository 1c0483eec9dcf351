"""What becomes of tokens that were stolen, and of those that were made with them."""

from pathlib import Path

import grpc
import pytest

from opolyx.identity.v1 import identity_service_pb2 as pb
from support_matchmaker import Guest, Peers, Running, metadata_of, running_matchmaker


async def is_good(mm: Running, guest: Guest) -> bool:
    try:
        await mm.identity.WhoAmI(pb.WhoAmIRequest(), metadata=guest.auth)
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.UNAUTHENTICATED:
            return False
        raise
    return True


async def renewed(mm: Running, guest: Guest) -> Guest:
    made = await mm.identity.RefreshToken(pb.RefreshTokenRequest(), metadata=guest.auth)
    return Guest(guest.player_id, guest.name, made.token.jwt, made.token.token_id)


async def revoke(mm: Running, by: Guest, **fields: str) -> None:
    await mm.identity.RevokeToken(pb.RevokeTokenRequest(**fields), metadata=by.auth)


async def revoke_often(mm: Running, by: Guest, whom: Guest) -> None:
    for _ in range(4):  # a minute may end meanwhile
        await revoke(mm, by, token_id=whom.token_id)


@pytest.mark.parametrize("revoked", [0, 1, 2])
async def test_a_renewed_token_ends_with_any_of_its_family(mm: Running, revoked: int) -> None:
    owner = await mm.guest()
    first = await mm.bot(owner)
    second = await renewed(mm, first)
    family = [first, second, await renewed(mm, second)]
    stranger = await mm.bot(owner, "Other")

    await revoke(mm, owner, token_id=family[revoked].token_id)

    assert [False] * 3 == [await is_good(mm, one) for one in family]
    assert await is_good(mm, stranger)
    assert await is_good(mm, owner)


async def test_a_login_of_its_own_outlives_the_others(mm: Running) -> None:
    owner = await mm.guest()
    robo, again = await mm.bot(owner), await mm.bot(owner)

    await revoke(mm, owner, token_id=robo.token_id)

    assert not await is_good(mm, robo)
    assert await is_good(mm, again)


async def test_an_account_is_revoked_with_its_bots(mm: Running) -> None:
    owner, other = await mm.guest(), await mm.guest()
    robo, foreign = await mm.bot(owner), await mm.bot(other)
    later = await renewed(mm, robo)

    await revoke(mm, owner, player_id=owner.player_id)

    assert [False] * 3 == [await is_good(mm, one) for one in (owner, robo, later)]
    assert await is_good(mm, foreign)


async def test_the_same_revocation_again_keeps_nothing_more(mm: Running) -> None:
    owner = await mm.guest()
    robo = await mm.bot(owner)
    for _ in range(5):
        await revoke(mm, owner, token_id=robo.token_id)

    watch = mm.identity.WatchRevocations(
        pb.WatchRevocationsRequest(), metadata=mm.signed("s_engine", "service").auth
    )
    assert 1 == len((await anext(aiter(watch))).revocations)
    watch.cancel()


async def test_revocations_have_a_limit_that_is_named(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, revocations_per_minute=1) as mm:
        owner = await mm.guest()
        robo = await mm.bot(owner)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await revoke_often(mm, owner, robo)

    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert {"limit": "revocations_per_minute", "value": "1"} == metadata_of(caught.value)
