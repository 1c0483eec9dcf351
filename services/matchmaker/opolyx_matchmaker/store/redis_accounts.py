"""Accounts, tokens and revocations in Redis."""

import asyncio
import json
import secrets
from dataclasses import astuple, replace
from typing import Final

from opolyx_matchmaker.accounts import Account, Revocation
from opolyx_matchmaker.store.redis_keys import (
    ACCOUNTS,
    ACCOUNTS_REVOKED,
    LAST_REVOCATION,
    REVOCATIONS,
    REVOCATIONS_UNTIL,
    TOKENS,
    account_key,
    bots_key,
    revoking_key,
    seats_key,
    token_key,
)
from opolyx_matchmaker.store.redis_lease import RedisLease
from opolyx_matchmaker.store.redis_scripts import (
    ADD_ACCOUNT,
    ADD_TOKEN,
    FORGET_ACCOUNT,
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
        keys = (account_key(account.player_id), ACCOUNTS)
        await self._lease.write(ADD_ACCOUNT, keys, (*_account_arguments(account), now_ms))

    async def find_account(self, player_id: str) -> Account | None:
        """The account, if there is one."""
        text = await self._link.call("HGET", account_key(player_id), "account")
        return None if text is None else Account(*json.loads(text))

    async def take_bot(self, account: Account, now_ms: int, most: int) -> Account | None:
        """The owner's bot of this name, made if absent; None at the limit."""
        keys = (account_key(account.player_id), ACCOUNTS, bots_key(account.owner_id))
        arguments = (*_account_arguments(account), now_ms, account.name, most)
        bot_id = await self._lease.write(TAKE_BOT, keys, arguments)
        return None if bot_id is None else await self.find_account(bot_id.decode())

    async def add_token(self, token_id: str, player_id: str, expires_ms: int) -> None:
        """Remember whose token it is."""
        keys = (token_key(token_id), TOKENS, account_key(player_id))
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
                ACCOUNTS_REVOKED,
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

    async def revocations(self, after: int, now_ms: int, limit: int) -> list[Revocation]:
        """The first revocations with a higher number that still matter."""
        found: list[Revocation] = []
        while len(found) < limit:
            page = await self._link.call(
                "XRANGE", REVOCATIONS, f"{after + 1}-0", "+", "COUNT", limit
            )
            read = [_revocation(*entry) for entry in page]
            found += [one for one in read if one.until_ms > now_ms]
            if len(read) < limit:
                break
            after = read[-1].number
        return found[:limit]

    async def forget_accounts(self, after: str, before_ms: int, limit: int) -> tuple[str, int]:
        """Remove accounts that nobody can use or meet any more, among the next."""
        low = f"({after}" if after else "-"
        found = await self._link.call("ZRANGEBYLEX", ACCOUNTS, low, "+", "LIMIT", 0, limit)
        ids = [one.decode() for one in found]
        gone = await asyncio.gather(*(self._forget_account(one, before_ms) for one in ids))
        return ids[-1] if len(ids) == limit else "", sum(gone)

    async def _forget_account(self, player_id: str, before_ms: int) -> int:
        account = await self.find_account(player_id) or Account(player_id, "", "")
        keys = (
            account_key(player_id),
            ACCOUNTS,
            TOKENS,
            seats_key(player_id),
            bots_key(player_id),
            account_key(account.owner_id),
            bots_key(account.owner_id),
        )
        arguments = (player_id, before_ms, account.owner_id, account.name)
        return int(await self._lease.write(FORGET_ACCOUNT, keys, arguments))

    async def _forget_expired(self, now_ms: int) -> None:
        """Remove tokens that expired, and revocations that no token is left for."""
        while ids := await self._due(TOKENS, now_ms):
            keys = (TOKENS, *(token_key(one) for one in ids))
            await self._lease.write(REMOVE_TOKENS, keys, ids)
        while numbers := await self._due(REVOCATIONS_UNTIL, now_ms):
            keys = (REVOCATIONS, REVOCATIONS_UNTIL, ACCOUNTS_REVOKED)
            await self._lease.write(REMOVE_REVOCATIONS, keys, numbers)

    async def _due(self, index: str, before_ms: int) -> list[str]:
        """Members of a sorted set that are below a time, some at once."""
        found = await self._link.call(
            "ZRANGEBYSCORE", index, "-inf", f"({before_ms}", "LIMIT", 0, _PAGE
        )
        return [one.decode() for one in found]


def _account_arguments(account: Account) -> tuple[str, str]:
    """An account's id and itself as scripts are told of it."""
    return account.player_id, json.dumps(astuple(account), separators=(",", ":"))


def _revocation(entry_id: bytes, fields: dict[bytes, bytes]) -> Revocation:
    return Revocation(
        token_id=fields[b"t"].decode(),
        player_id=fields[b"p"].decode(),
        before_ms=int(fields[b"b"]),
        until_ms=int(fields[b"u"]),
        number=int(entry_id.partition(b"-")[0]),
    )
