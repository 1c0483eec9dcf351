"""Follows the engine's facts and sets players free, each fact exactly once.

The number of the last fact is stored in the same step as its effect, so a crash between the two
is impossible, and a fact that comes again changes nothing.
"""

import asyncio
import random
from collections.abc import AsyncGenerator

import structlog

from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.peers import EngineRefused, EngineUnavailable, Fact
from opolyx_servicekit.errors import EnvironmentFault

_log = structlog.get_logger(__name__)


class FactFollower:
    """Keeps one stream of facts open, for as long as the service runs."""

    def __init__(self, parts: Parts) -> None:
        """Follow nothing before `run`."""
        self._settings = parts.settings
        self._store = parts.store
        self._engine = parts.engine
        self._bots = parts.bots
        self._metrics = parts.metrics
        self._failures = 0

    async def run(self) -> None:
        """Follow for ever; a stream that ends is opened anew, later and later while that fails."""
        while True:
            try:
                await self._follow()
            except (EngineUnavailable, EngineRefused, EnvironmentFault, TimeoutError) as error:
                _log.warning("facts_interrupted", error=str(error), failures=self._failures)
            except Exception:  # a bug must not lock every player for ever
                _log.exception("facts_crashed")
            await self._back_off()

    async def take(self, facts: list[Fact]) -> None:
        """Store what a batch does, then tell the bots that it set free."""
        applied = await self._store.apply_facts(facts)
        self._metrics.facts_cursor.set(applied.cursor)
        self._metrics.players_released.labels("fact").inc(len(applied.released))
        for placement in applied.released:
            self._bots.tell_released(placement.player_id, placement.game_id)
        if applied.released:
            _log.info("players_released", players=len(applied.released), cursor=applied.cursor)

    async def _follow(self) -> None:
        stream = self._engine.facts(await self._store.cursor())
        try:
            while True:
                facts = await self._next(stream)
                self._failures = 0
                if facts:
                    await self.take(facts)
        finally:
            await stream.aclose()

    async def _next(self, stream: AsyncGenerator[list[Fact], None]) -> list[Fact]:
        try:
            # Not wait_for: before Python 3.12 it can swallow a cancellation.
            async with asyncio.timeout(self._settings.facts_quiet_seconds):
                return await anext(stream)
        except StopAsyncIteration:
            raise EngineUnavailable("the stream of facts ended") from None

    async def _back_off(self) -> None:
        """Wait a random part of a time that doubles with every failure in a row."""
        longest = min(
            self._settings.retry_cap_seconds,
            self._settings.retry_base_seconds * 2.0 ** min(self._failures, 20),
        )
        self._failures += 1
        await asyncio.sleep(random.uniform(longest / 4, longest))  # noqa: S311  # only jitter
