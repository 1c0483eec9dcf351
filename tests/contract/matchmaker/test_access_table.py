"""Every method is listed, and each role may call exactly what it is listed for."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.identity.v1 import identity_service_pb2
from opolyx.matchmaker.v1 import matchmaker_service_pb2
from opolyx_matchmaker.access import ROLES_BY_METHOD
from opolyx_matchmaker.identity import ROLES
from opolyx_servicekit.access import PUBLIC, methods_of
from support_matchmaker import Running, fake_peers, running_matchmaker

_SERVICES = [
    identity_service_pb2.DESCRIPTOR.services_by_name["IdentityService"],
    matchmaker_service_pb2.DESCRIPTOR.services_by_name["MatchmakerService"],
]
_METHODS = [method for service in _SERVICES for method in methods_of(service)]


@pytest.fixture
async def mm(tmp_path: Path) -> AsyncIterator[Running]:
    async with fake_peers() as peers, running_matchmaker(tmp_path, peers) as running:
        yield running


def test_every_method_of_the_protos_is_listed_and_no_other() -> None:
    assert sorted(_METHODS) == sorted(ROLES_BY_METHOD)


def test_only_making_a_guest_is_public() -> None:
    public = [method for method, roles in ROLES_BY_METHOD.items() if roles == PUBLIC]

    assert ["/opolyx.identity.v1.IdentityService/CreateGuest"] == public


async def test_each_role_gets_exactly_what_the_table_says(mm: Running) -> None:
    for role in ROLES:
        for method in _METHODS:
            auth = mm.signed(f"x_{role}", role).auth  # a new one: RevokeToken revokes its own
            roles = ROLES_BY_METHOD[method]
            denied = await _code(mm, method, auth) is grpc.StatusCode.PERMISSION_DENIED
            assert denied == (roles != PUBLIC and role not in roles), (role, method)


async def test_nothing_but_the_public_can_be_called_without_a_token(mm: Running) -> None:
    for method in _METHODS:
        code = await _code(mm, method, ())
        is_public = ROLES_BY_METHOD[method] == PUBLIC
        assert (code is not grpc.StatusCode.UNAUTHENTICATED) == is_public, method


async def test_forged_token_is_refused(mm: Running) -> None:
    guest = await mm.guest()
    header, claims, signature = guest.token.split(".")
    forged = f"{header}.{claims}.{signature[:-4]}AAAA"
    auth = (("authorization", f"Bearer {forged}"),)

    method = "/opolyx.identity.v1.IdentityService/WhoAmI"
    assert grpc.StatusCode.UNAUTHENTICATED == await _code(mm, method, auth)


async def _code(mm: Running, method: str, auth: tuple[tuple[str, str], ...]) -> grpc.StatusCode:
    """The code of a call with an empty request; streams are cut after their first answer."""
    call: Any
    channel: Any = mm.channel
    if method.endswith(("/WatchRoom", "/QuickMatch", "/OfferBot", "/WatchRevocations")):
        call = channel.unary_stream(method)(b"", metadata=auth)
        try:
            answer = await call.read()
        except grpc.aio.AioRpcError as error:
            return error.code()
        if answer is not grpc.aio.EOF:
            call.cancel()
            return grpc.StatusCode.OK
        return grpc.StatusCode(await call.code())
    call = channel.unary_unary(method)(b"", metadata=auth)
    return grpc.StatusCode(await call.code())
