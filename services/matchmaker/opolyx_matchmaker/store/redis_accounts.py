"""Accounts, tokens and revocations in Redis."""

import json
import secrets
from dataclasses import astuple, replace
from typing import Final

from opolyx_matchmaker.accounts import Account, Revocation
from opolyx_matchmaker.store.redis_keys import (
    LAST_REVOCATION,
    REVOCATIONS,
    REVOCATIONS_UNTIL,
    TOKENS,
    account_key,
    bots_key,
    revoking_key,
    token_key,
)
from opolyx_matchmaker.store.redis_lease import RedisLease
from opolyx_matchmaker.store.redis_scripts import (
    ADD_ACCOUNT,
    ADD_TOKEN,
    REMOVE_REVOCATIONS,
    REMOVE_TOKENS,
    REVOKE,
    TAKE_BOT,
)
from opolyx_servicekit.redis_link import RedisLink

_PAGE: Final = 500


class RedisAccounts:
    """The part of the store that knows who somebody is."""

    def __init__(self, link: RedisLink, lease: RedisLease) -> None:
        """Read through `link`, write through `lease`."""
        self._link = link
        self._lease = lease

    async def add_account(self, account: Account, now_ms: int) -> None:
        """Keep a new account."""
        keys = (account_key(account.player_id),)
        await self._lease.write(ADD_ACCOUNT, keys, (_account_text(account, now_ms),))

    async def find_account(self, player_id: str) -> Account | None:
        """The account, if there is one."""
        text = await self._link.call("GET", account_key(player_id))
        return None if text is None else Account(*json.loads(text)[:4])

    async def take_bot(self, account: Account, now_ms: int, most: int) -> Account | None:
        """The owner's bot of this name, made if absent; None at the limit."""
        keys = (bots_key(account.owner_id), account_key(account.player_id))
        text = _account_text(account, now_ms)
        bot_id = await self._lease.write(
            TAKE_BOT, keys, (account.name, account.player_id, text, most)
        )
        return None if bot_id is None else await self.find_account(bot_id.decode())

    async def add_token(self, token_id: str, player_id: str, expires_ms: int) -> None:
        """Remember whose token it is."""
        keys = (token_key(token_id), TOKENS)
        await self._lease.write(ADD_TOKEN, keys, (token_id, expires_ms, player_id))

    async def token_holder(self, token_id: str) -> tuple[Account, int] | None:
        """Whose token it is and when it expires."""
        found = await self._link.call("GET", token_key(token_id))
        if found is None:
            return None
        expires_ms, _, player_id = found.decode().partition(" ")
        account = await self.find_account(player_id)
        return None if account is None else (account, int(expires_ms))

    async def add_revocation(self, revocation: Revocation) -> Revocation:
        """Keep a revocation; returns it with its number."""
        number = await self._lease.write(
            REVOKE,
            (
                REVOCATIONS,
                REVOCATIONS_UNTIL,
                LAST_REVOCATION,
                revoking_key(secrets.token_urlsafe(12)),
            ),
            (
                revocation.token_id,
                revocation.player_id,
                revocation.before_ms,
                revocation.until_ms,
            ),
        )
        return replace(revocation, number=number)

    async def revocations(self, after: int, now_ms: int) -> list[Revocation]:
        """Revocations with a higher number that still matter."""
        found: list[Revocation] = []
        while True:
            page = await self._link.call(
                "XRANGE", REVOCATIONS, f"{after + 1}-0", "+", "COUNT", _PAGE
            )
            read = [_revocation(*entry) for entry in page]
            found += [one for one in read if one.until_ms > now_ms]
            if len(read) < _PAGE:
                return found
            after = read[-1].number

    async def _forget_expired(self, now_ms: int) -> None:
        """Remove tokens that expired, and revocations that no token is left for."""
        while ids := await self._due(TOKENS, now_ms):
            keys = (TOKENS, *(token_key(one) for one in ids))
            await self._lease.write(REMOVE_TOKENS, keys, ids)
        while numbers := await self._due(REVOCATIONS_UNTIL, now_ms):
            keys = (REVOCATIONS, REVOCATIONS_UNTIL)
            await self._lease.write(REMOVE_REVOCATIONS, keys, numbers)

    async def _due(self, index: str, before_ms: int) -> list[str]:
        """Members of a sorted set that are below a time, some at once."""
        found = await self._link.call(
            "ZRANGEBYSCORE", index, "-inf", f"({before_ms}", "LIMIT", 0, _PAGE
        )
        return [one.decode() for one in found]


def _account_text(account: Account, now_ms: int) -> str:
    return json.dumps([*astuple(account), now_ms], separators=(",", ":"))


def _revocation(entry_id: bytes, fields: dict[bytes, bytes]) -> Revocation:
    return Revocation(
        token_id=fields[b"t"].decode(),
        player_id=fields[b"p"].decode(),
        before_ms=int(fields[b"b"]),
        until_ms=int(fields[b"u"]),
        number=int(entry_id.partition(b"-")[0]),
    )
