"""Calls of the identity service."""

from opolyx.identity.v1 import identity_service_pb2 as pb
from opolyx_sdk._convert import read
from opolyx_sdk._transport.channel import Calls
from opolyx_sdk.accounts import Account, Login, Token


class IdentityCalls(Calls):
    """Who somebody is."""

    async def create_guest(self, name: str) -> Login:
        """Make a guest account; the client acts for it from now on.

        Args:
            name: shown to others, 1 to 24 characters.
        """
        response = await self._transport.call(
            lambda stubs: stubs.identity.CreateGuest,
            pb.CreateGuestRequest(name=name),
            repeatable=False,
        )
        login = Login(read(response.account, Account), read(response.token, Token))
        self._transport.tokens.take(login.token.jwt, new=True)
        return login

    async def create_bot_token(self, name: str) -> Login:
        """Make a token for a bot account of the caller; the account is made on first use.

        The client goes on acting for the caller: give the token to the bot's own client.

        Args:
            name: unique among the caller's bots, 1 to 24 characters.
        """
        response = await self._transport.call(
            lambda stubs: stubs.identity.CreateBotToken,
            pb.CreateBotTokenRequest(name=name),
            repeatable=True,
        )
        return Login(read(response.account, Account), read(response.token, Token))

    async def refresh_token(self) -> Token:
        """Renew the client's token; the client uses the new one from now on.

        The client does so by itself in time; the old token stays good until it expires.
        """
        response = await self._transport.call(
            lambda stubs: stubs.identity.RefreshToken, pb.RefreshTokenRequest(), repeatable=True
        )
        token = read(response.token, Token)
        self._transport.tokens.take(token.jwt, new=True)
        return token

    async def revoke_token(self, token_id: str = "", *, player_id: str = "") -> None:
        """Revoke the client's own token, another of the caller's, or all of an account's."""
        await self._transport.call(
            lambda stubs: stubs.identity.RevokeToken,
            pb.RevokeTokenRequest(token_id=token_id, player_id=player_id),
            repeatable=True,
        )

    async def who_am_i(self) -> Account:
        """The account that the client acts for."""
        response = await self._transport.call(
            lambda stubs: stubs.identity.WhoAmI, pb.WhoAmIRequest(), repeatable=True
        )
        return read(response.account, Account)
