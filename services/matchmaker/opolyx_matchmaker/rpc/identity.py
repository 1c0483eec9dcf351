"""IdentityService as callers see it."""

from collections.abc import AsyncIterator
from typing import Any, Final

import grpc

from opolyx.identity.v1 import identity_service_pb2 as pb
from opolyx.identity.v1 import identity_service_pb2_grpc as pb_grpc
from opolyx_matchmaker.identity import Identity
from opolyx_matchmaker.limits import caller_address
from opolyx_matchmaker.revocations import Revocations
from opolyx_matchmaker.rpc import convert
from opolyx_matchmaker.rpc.stream_check import StreamCheck
from opolyx_servicekit.access import current_principal
from opolyx_servicekit.errors import Unavailable

IDENTITY: Final = pb.DESCRIPTOR.services_by_name["IdentityService"]


class IdentityServicer(pb_grpc.IdentityServiceServicer):
    """Makes, renews and revokes tokens."""

    def __init__(
        self,
        identity: Identity,
        revocations: Revocations,
        check: StreamCheck,
        check_seconds: float,
        proxies: int,
    ) -> None:
        """Serve `identity`."""
        self._identity = identity
        self._revocations = revocations
        self._check = check
        self._check_seconds = check_seconds
        self._proxies = proxies
        self._draining = False

    def drain(self) -> None:
        """End open streams soon."""
        self._draining = True
        self._revocations.wake()

    async def CreateGuest(
        self, request: pb.CreateGuestRequest, context: Any
    ) -> pb.CreateGuestResponse:
        """A guest account with its token."""
        account, token = await self._identity.create_guest(request.name, self._address(context))
        return pb.CreateGuestResponse(
            account=convert.account_message(account), token=convert.token_message(token)
        )

    async def CreateBotToken(
        self, request: pb.CreateBotTokenRequest, context: Any
    ) -> pb.CreateBotTokenResponse:
        """A token of one of the caller's bots."""
        account, token = await self._identity.create_bot(current_principal(), request.name)
        return pb.CreateBotTokenResponse(
            account=convert.account_message(account), token=convert.token_message(token)
        )

    async def RefreshToken(
        self, request: pb.RefreshTokenRequest, context: Any
    ) -> pb.RefreshTokenResponse:
        """A new token for the caller."""
        token = await self._identity.refresh(current_principal())
        return pb.RefreshTokenResponse(token=convert.token_message(token))

    async def RevokeToken(
        self, request: pb.RevokeTokenRequest, context: Any
    ) -> pb.RevokeTokenResponse:
        """End a token's life."""
        await self._identity.revoke(current_principal(), request.token_id, request.player_id)
        return pb.RevokeTokenResponse()

    async def WhoAmI(self, request: pb.WhoAmIRequest, context: Any) -> pb.WhoAmIResponse:
        """The caller's account."""
        caller = current_principal()
        account = await self._identity.account(caller)
        return pb.WhoAmIResponse(
            account=convert.account_message(account),
            expires_unix_ms=caller.expires_unix * 1000,
        )

    async def WatchRevocations(
        self, request: pb.WatchRevocationsRequest, context: Any
    ) -> AsyncIterator[pb.WatchRevocationsResponse]:
        """All revocations that still matter, then each new one; an empty message when quiet."""
        caller = current_principal()
        reached, timeout = 0, 0.0
        while not self._draining:
            self._check.check(caller)
            found = await self._revocations.after(reached, timeout)
            messages = [convert.revocation_message(revocation) for revocation in found]
            yield pb.WatchRevocationsResponse(revocations=messages)
            reached = found[-1].number if found else reached
            timeout = self._check_seconds
        raise Unavailable("STORE_UNAVAILABLE", "the service is draining")

    def _address(self, context: Any) -> str:
        """The address that the call counts for."""
        metadata = context.invocation_metadata() or ()
        hops = ",".join(str(value) for key, value in metadata if key == "x-forwarded-for")
        return caller_address(str(context.peer()), hops, self._proxies)


def add_identity(server: grpc.aio.Server, servicer: IdentityServicer) -> None:
    """Serve identity on `server`."""
    pb_grpc.add_IdentityServiceServicer_to_server(servicer, server)
