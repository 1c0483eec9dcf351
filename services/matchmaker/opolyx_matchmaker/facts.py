"""Follows the engine's facts and sets players free, each fact exactly once.

The number of the last fact is stored in the same step as its effect, so a crash between the two
is impossible, and a fact that comes again changes nothing.
"""

import asyncio
from contextlib import aclosing

import structlog

from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.peers import Fact
from opolyx_servicekit.errors import EnvironmentFault
from opolyx_servicekit.streams import BackOff, StreamLost, heard

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
        self._back_off = BackOff(
            parts.settings.retry_base_seconds, parts.settings.retry_cap_seconds
        )

    async def run(self) -> None:
        """Follow for ever; a stream that ends is opened anew, later and later while that fails."""
        while True:
            try:
                await self._follow()
            except (StreamLost, EnvironmentFault) as error:
                failures = self._back_off.failures
                _log.warning("facts_interrupted", error=str(error), failures=failures)
            except Exception:  # a bug must not lock every player for ever
                _log.exception("facts_crashed")
            await asyncio.sleep(self._back_off.next_seconds())

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
        facts = self._engine.facts(await self._store.cursor())
        async with aclosing(heard(facts, self._settings.facts_quiet_seconds)) as batches:
            async for batch in batches:
                self._back_off.reset()
                if batch:
                    await self.take(batch)
