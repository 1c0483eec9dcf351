"""Tokens that are no longer good: asked on every call, so held in memory; stored so as to last."""

import asyncio
from contextlib import suppress

from opolyx_matchmaker.accounts import Revocation
from opolyx_matchmaker.store.base import Store
from opolyx_servicekit.access import Principal
from opolyx_servicekit.wall_clock import Clock


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
        """Whether the caller's token was revoked, itself or with all of its account."""
        if principal.token_id in self._tokens:
            return True
        revoked = self._accounts.get(principal.subject)
        return revoked is not None and _made_ms(principal) < revoked.before_ms

    async def add(self, revocation: Revocation) -> None:
        """Revoke."""
        await self._store.add_revocation(revocation)
        await self.refresh()

    async def refresh(self) -> None:
        """Take what other processes revoked, and forget what no token is left for."""
        now_ms = self._clock.now_ms()
        found = await self._store.revocations(self._number, now_ms)
        for revocation in found:
            self._take(revocation)
        self._tokens = {token: until for token, until in self._tokens.items() if until > now_ms}
        self._accounts = {who: one for who, one in self._accounts.items() if one.until_ms > now_ms}
        if found:
            self.wake()

    def wake(self) -> None:
        """End the waits that `after` is in."""
        self._news.set()
        self._news = asyncio.Event()

    async def after(self, number: int, timeout_seconds: float) -> list[Revocation]:
        """Revocations with a higher number; waits for one up to the timeout."""
        news = self._news
        found = await self._store.revocations(number, self._clock.now_ms())
        if found:
            return found
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                await news.wait()
        return await self._store.revocations(number, self._clock.now_ms())

    def _take(self, revocation: Revocation) -> None:
        self._number = max(self._number, revocation.number)
        if revocation.token_id:
            self._tokens[revocation.token_id] = revocation.until_ms
        if revocation.player_id:
            self._accounts[revocation.player_id] = revocation


def _made_ms(principal: Principal) -> int:
    """When the token was made; our own tokens say it in milliseconds, others in seconds."""
    for claim, factor in (("iat_ms", 1), ("iat", 1000)):
        made = principal.claims.get(claim)
        if isinstance(made, int | float):
            return int(made * factor)
    return 0
