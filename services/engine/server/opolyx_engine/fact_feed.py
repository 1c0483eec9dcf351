"""Facts as they come: read from the store, at once when a game here has made some."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from opolyx_engine.errors import invalid_field
from opolyx_engine.game_actor import GameActor, Watcher
from opolyx_engine.store.base import RUNNING, GameStore, StoredFact

BATCH: Final = 200
_POLL_SECONDS: Final = 1.0  # games of other replicas make facts too
_QUIET_SECONDS: Final = 15.0
_LARGEST_NUMBER: Final = (1 << 63) - 1


class FactFeed(Watcher):
    """Wakes whoever follows the facts."""

    def __init__(self, store: GameStore) -> None:
        """Read from `store`."""
        self._store = store
        self._news = asyncio.Event()
        self._seen: dict[str, tuple[int, int]] = {}
        self._closed = False

    def changed(self, game: GameActor) -> None:
        """Wake followers if the change made facts: somebody went out, or the game ended."""
        now = (game.table.state.outs, game.table.life)
        if self._seen.get(game.game_id, (0, RUNNING)) != now:
            self._seen[game.game_id] = now
            self.wake()

    def ended(self, game: GameActor) -> None:
        """Forget the game."""
        self._seen.pop(game.game_id, None)

    def wake(self) -> None:
        """Let followers look now."""
        self._news.set()
        self._news = asyncio.Event()

    def close(self) -> None:
        """End all streams of facts."""
        self._closed = True
        self.wake()

    async def after(self, number: int) -> AsyncIterator[list[StoredFact]]:
        """Batches of facts after `number`; an empty one from time to time when there is none.

        Raises:
            InvalidArgument: there is no fact `number`: the consumer knows more than the store, and
                would miss what comes until the store has caught up.
        """
        await self._check_known(number)
        quiet = 0.0
        while not self._closed:
            news = self._news
            batch = await self._store.facts(number, BATCH)
            if batch:
                number = batch[-1].number
                quiet = 0.0
                yield batch
                continue
            if quiet >= _QUIET_SECONDS:
                quiet = 0.0
                yield []
            try:
                async with asyncio.timeout(_POLL_SECONDS):
                    await news.wait()
            except TimeoutError:
                quiet += _POLL_SECONDS

    async def _check_known(self, number: int) -> None:
        if number == 0:
            return
        if number <= _LARGEST_NUMBER:
            found = await self._store.facts(number - 1, 1)
            if found and found[0].number == number:
                return
        raise invalid_field("after", f"is {number}, and there is no such fact")
