"""Tokens that are no longer good: asked on every call, so held in memory; stored so as to last."""

import asyncio
from contextlib import suppress
from typing import Final

from opolyx_matchmaker.accounts import Revocation
from opolyx_matchmaker.store.base import Store
from opolyx_servicekit.access import Principal
from opolyx_servicekit.revocations import accounts_of, family_of, made_ms
from opolyx_servicekit.wall_clock import Clock

BATCH: Final = 500
"""How many revocations are read from the store at once."""


class Revocations:
    """The revocations that still matter."""

    def __init__(self, store: Store, clock: Clock) -> None:
        """Know none before `refresh`."""
        self._store = store
        self._clock = clock
        self._tokens: dict[str, int] = {}
        self._accounts: dict[str, Revocation] = {}
        self._number = 0
        self._news = asyncio.Event()

    def is_revoked(self, principal: Principal) -> bool:
        """Whether the caller's token was revoked: with its family, its account or its owner's."""
        token_id = principal.token_id
        if token_id in self._tokens or self.is_family_revoked(family_of(token_id)):
            return True
        if not self._accounts:
            return False
        found = [self._accounts.get(account) for account in accounts_of(principal)]
        return any(one is not None and made_ms(principal) < one.before_ms for one in found)

    def is_family_revoked(self, family: str) -> bool:
        """Whether a family of tokens was revoked."""
        return family in self._tokens

    async def add(self, revocation: Revocation) -> None:
        """Revoke."""
        await self._store.add_revocation(revocation)
        await self.refresh()

    async def refresh(self) -> None:
        """Take what other processes revoked, and forget what no token is left for."""
        now_ms = self._clock.now_ms()
        found = False
        while batch := await self._store.revocations(self._number, now_ms, BATCH):
            found = True
            for revocation in batch:
                self._take(revocation)
            if len(batch) < BATCH:
                break
        self._tokens = {token: until for token, until in self._tokens.items() if until > now_ms}
        self._accounts = {who: one for who, one in self._accounts.items() if one.until_ms > now_ms}
        if found:
            self.wake()

    def wake(self) -> None:
        """End the waits that `after` is in."""
        self._news.set()
        self._news = asyncio.Event()

    async def after(self, number: int, timeout_seconds: float) -> list[Revocation]:
        """Revocations with a higher number, a batch at most; waits for one up to the timeout."""
        news = self._news
        found = await self._store.revocations(number, self._clock.now_ms(), BATCH)
        if found:
            return found
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                await news.wait()
        return await self._store.revocations(number, self._clock.now_ms(), BATCH)

    def _take(self, revocation: Revocation) -> None:
        self._number = max(self._number, revocation.number)
        if revocation.token_id:
            self._tokens[revocation.token_id] = revocation.until_ms
        if revocation.player_id:
            self._accounts[revocation.player_id] = revocation
