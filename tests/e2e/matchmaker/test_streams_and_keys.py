"""Streams end with their token, tokens with their keys, and an operator may bring keys of its own."""

import asyncio
import json
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from pydantic import ValidationError

from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.identity.v1.identity_service_pb2_grpc import IdentityServiceStub
from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx.matchmaker.v1.matchmaker_service_pb2_grpc import MatchmakerServiceStub
from opolyx_matchmaker.main import _server
from opolyx_matchmaker.service import MatchmakerService
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.sqlite import SqliteStore
from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.sqlite_file import SqliteFile
from opolyx_servicekit.tokens import TokenSigner
from support_matchmaker import Guest, Peers, Running, eventually, matchmaker_settings

ISSUER = "id.example.org"


async def revoke(mm: Running, guest: Guest) -> None:
    await mm.identity.RevokeToken(identity_pb.RevokeTokenRequest(), metadata=guest.auth)


async def open_stream(mm: Running, kind: str, guest: Guest) -> Any:
    """A stream of the guest's that has had its first answer."""
    call: Any
    if kind == "WatchRoom":
        room = await mm.create(await mm.guest("Host"))
        call = mm.rooms.WatchRoom(pb.WatchRoomRequest(room_id=room.room_id), metadata=guest.auth)
    elif kind == "QuickMatch":
        wanted = pb.QuickMatchRequest(ruleset="classic@full", seats=6)
        call = mm.rooms.QuickMatch(wanted, metadata=guest.auth)
    else:
        call = mm.rooms.OfferBot(metadata=guest.auth)
        offer = pb.BotOffer(max_games=1, plays_people=True)
        await call.write(pb.OfferBotRequest(offer=offer))
    await call.read()
    return call


async def read_to_the_end(call: Any) -> grpc.StatusCode:
    async with asyncio.timeout(30):
        try:
            while await call.read() is not grpc.aio.EOF:
                pass
        except grpc.aio.AioRpcError as error:
            return error.code()
        return grpc.StatusCode(await call.code())


@pytest.mark.parametrize("kind", ["WatchRoom", "QuickMatch", "OfferBot"])
async def test_revoked_token_ends_each_kind_of_stream_and_no_other(mm: Running, kind: str) -> None:
    """Case A-41."""
    owner, other_owner = await mm.guest(), await mm.guest()
    is_bot = kind == "OfferBot"
    guest = await mm.bot(owner) if is_bot else owner
    other = await mm.bot(other_owner) if is_bot else other_owner
    mine, others = await open_stream(mm, kind, guest), await open_stream(mm, kind, other)

    await revoke(mm, guest)

    assert grpc.StatusCode.UNAUTHENTICATED is await read_to_the_end(mine)
    assert not others.done()
    others.cancel()
    queue = mm.service._queue
    await eventually(lambda: guest.player_id not in queue._searches)


def test_streams_look_at_their_token_often_enough_whatever_is_set() -> None:
    """Every stream ends within a minute of the revocation."""
    assert MatchmakerSettings().stream_check_seconds <= 30
    with pytest.raises(ValidationError):
        MatchmakerSettings(stream_check_seconds=31)


async def test_new_device_finds_the_seat_again(mm: Running) -> None:
    """The first device is lost; the second has only a renewed token."""
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    room = await mm.create(ada)
    await mm.join(bo, room)
    renewed = await mm.identity.RefreshToken(identity_pb.RefreshTokenRequest(), metadata=bo.auth)
    device = Guest(bo.player_id, bo.name, renewed.token.jwt, renewed.token.token_id)
    assert (room.room_id, 1) == ((at := await mm.current(device)).room_id, at.seat)

    game_id = await mm.start(ada, room)

    assert (game_id, 1, "") == ((at := await mm.current(device)).game_id, at.seat, at.room_id)


class Provider:
    """An identity provider of an operator's own, with RSA keys that it rotates."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._keys: dict[str, rsa.RSAPrivateKey] = {}

    def rotate(self, kid: str) -> None:
        """Publish one new key in place of all older ones."""
        self._keys = {kid: rsa.generate_private_key(public_exponent=65537, key_size=2048)}
        jwk: dict[str, Any] = RSAAlgorithm.to_jwk(self._keys[kid].public_key(), as_dict=True)
        entry = {**jwk, "kid": kid, "alg": "RS256", "use": "sig"}
        self.path.write_text(json.dumps({"keys": [entry]}))

    def token(self, **changed: Any) -> tuple[tuple[str, str], ...]:
        """Metadata with a token of somebody who has no account here."""
        claims = {
            "sub": "u-17",
            "role": "player",
            "name": "Zoe",
            "iss": ISSUER,
            "aud": "opolyx",
            "exp": int(time.time()) + 600,
            **changed,
        }
        (kid, key), *_ = self._keys.items()
        signed = jwt.encode(claims, key, algorithm="RS256", headers={"kid": kid})
        return (("authorization", f"Bearer {signed}"),)


async def code_of(call: Any) -> grpc.StatusCode:
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def test_operators_own_identity_provider_is_believed_and_nobody_else(
    tmp_path: Path, peers: Peers
) -> None:
    """Put together as the program does it: key set, algorithms, issuer and audience are settings."""
    provider = Provider(tmp_path / "provider.json")
    provider.rotate("one")
    ensure_keys(tmp_path / "keys.json")
    settings = matchmaker_settings(
        tmp_path,
        verification_keys_file=provider.path,
        token_algorithms=("RS256",),
        issuer=ISSUER,
    )
    signer = TokenSigner(settings.signing_keys_file, issuer=ISSUER)
    async with AsyncExitStack() as stack:
        file = await stack.enter_async_context(SqliteFile(tmp_path / "store.db"))
        service = MatchmakerService(
            settings,
            store=await SqliteStore.open(file),
            engine=peers.engine_channel,
            signer=signer,
        )
        await stack.enter_async_context(service)
        server = await stack.enter_async_context(
            _server(settings, service, provider.path, RpcMetrics())
        )
        channel = await stack.enter_async_context(
            grpc.aio.insecure_channel(f"127.0.0.1:{server.bound_port}")
        )
        identity, rooms = IdentityServiceStub(channel), MatchmakerServiceStub(channel)

        async def who(metadata: Any) -> grpc.StatusCode:
            return await code_of(identity.WhoAmI(identity_pb.WhoAmIRequest(), metadata=metadata))

        good = provider.token()
        request = pb.CreateRoomRequest(request_id="1", ruleset="classic@full", seats=2)
        room = (await rooms.CreateRoom(request, metadata=good)).room
        assert ("u-17", "Zoe") == (room.seats[0].player_id, room.seats[0].name)
        hidden = provider.token(sub="u-18", name="a\u202eb")
        joined = await rooms.JoinRoom(pb.JoinRoomRequest(code=room.code), metadata=hidden)
        assert "u-18" == joined.room.seats[1].name

        no = grpc.StatusCode.UNAUTHENTICATED
        assert no is await who(provider.token(iss="opolyx"))
        assert no is await who(provider.token(aud="elsewhere"))
        assert no is await who(provider.token(role="emperor"))
        ours = signer.sign(subject="p_1", role="player", ttl_seconds=60)
        assert no is await who((("authorization", f"Bearer {ours}"),))

        provider.rotate("two")
        fresh = provider.token()

        async def is_read_again() -> bool:
            return await who(fresh) is grpc.StatusCode.OK

        await eventually(is_read_again, 20)
        assert no is await who(good)
