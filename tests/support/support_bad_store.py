"""A store of games that stalls, fails and counts, as told; around a real one."""

import asyncio
from collections import Counter
from typing import Any

from opolyx_engine.store.base import VOID, Append, GameStore, Record, StoredGame
from opolyx_engine.store.owners import NOBODY
from opolyx_servicekit.errors import StoreBusy, StoreUnavailable

FAULTS = ("busy", "lost", "late")
"""How an append can fail: refused at once, before it happened, or after it happened."""


class BadStore:
    """A store whose appends fail or take long, and whose reads fail or wait."""

    def __init__(self, inner: GameStore) -> None:
        self._inner = inner
        self.faults: list[str] = []
        """What the next appends do, one each; empty texts for nothing."""
        self.every = 0
        """Every so many appends one fails, in all ways in turn; 0 for never."""
        self.delay_s = 0.0
        """What an append takes longer."""
        self.appends = 0
        """How many appends there were."""
        self.failing_ends = 0
        """How many ends as void fail from now on; the last of them happens all the same."""
        self.failing_reads = 0
        """How many reads of a game fail from now on."""
        self.creates: list[str] = []
        """What the next starts of games do, as with `faults`."""
        self.failing_records = 0
        """How many reads of a game's records fail from now on."""
        self.reads: Counter[str] = Counter()
        """How often each game was read."""
        self.readable = asyncio.Event()
        """Reads of games wait for it."""
        self.readable.set()
        self.writable = asyncio.Event()
        """Appends wait for it."""
        self.writable.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def game(self, game_id: str) -> StoredGame | None:
        self.reads[game_id] += 1
        await self.readable.wait()
        if self.failing_reads:
            self.failing_reads -= 1
            raise StoreUnavailable("STORE_UNAVAILABLE", "away")
        return await self._inner.game(game_id)

    async def records(self, game_id: str, after_seq: int, limit: int) -> list[Record]:
        if self.failing_records:
            self.failing_records -= 1
            raise StoreUnavailable("STORE_UNAVAILABLE", "away")
        return await self._inner.records(game_id, after_seq, limit)

    async def create(
        self,
        game_id: str,
        ruleset: str,
        watchable: bool,
        header: bytes,
        first: Append,
        owner: str = NOBODY,
    ) -> StoredGame | None:
        fault = self.creates.pop(0) if self.creates else ""
        if fault == "lost":
            raise StoreUnavailable("STORE_UNAVAILABLE", "nothing was written")
        stored = await self._inner.create(game_id, ruleset, watchable, header, first, owner)
        await self.writable.wait()
        if fault == "late":
            raise StoreUnavailable("STORE_UNAVAILABLE", "it was written all the same")
        return stored

    async def append(self, append: Append) -> None:
        if append.ends_as == VOID and self.failing_ends:
            self.failing_ends -= 1
            if not self.failing_ends:
                await self._inner.append(append)
            raise StoreUnavailable("STORE_UNAVAILABLE", "away")
        self.appends += 1
        fault = self.faults.pop(0) if self.faults else ""
        if self.every and self.appends % self.every == 0:
            fault = FAULTS[self.appends // self.every % 3]
        await asyncio.sleep(self.delay_s)
        await self.writable.wait()
        if fault == "busy":
            raise StoreBusy("STORE_UNAVAILABLE", "too many writes wait")
        if fault == "lost":
            raise StoreUnavailable("STORE_UNAVAILABLE", "nothing was written")
        await self._inner.append(append)
        if fault == "late":
            raise StoreUnavailable("STORE_UNAVAILABLE", "it was written all the same")


class BadStores:
    """Wraps an engine's store and remembers it: `running_engine(..., wrap=BadStores())`."""

    store: BadStore

    def __init__(self, **settings: Any) -> None:
        self._settings = settings

    def __call__(self, inner: GameStore) -> GameStore:
        self.store = BadStore(inner)
        for name, value in self._settings.items():
            setattr(self.store, name, value)
        return self.store
