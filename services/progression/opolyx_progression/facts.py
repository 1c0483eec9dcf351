"""The consumer of the engine's facts: at least once delivered, exactly once in effect.

The cursor lies in the store and moves in the transaction of the effect. So a crash anywhere
repeats a delivery at worst, and the store knows a repetition by its game. A fact that can't be
processed is buried by the store; only a store or an engine that is away makes this wait.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final, Protocol

import structlog

from opolyx_progression.awards import awards_of
from opolyx_progression.deliveries import Delivery, Outcome
from opolyx_progression.games import FinishedGame
from opolyx_progression.metrics import ProgressionMetrics
from opolyx_progression.store.base import DeadLetter, Store
from opolyx_servicekit.errors import EnvironmentFault
from opolyx_servicekit.streams import BackOff, StreamLost, heard
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

_MOST_AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """What became of dead letters that were tried again."""

    tried: int
    """How many were tried."""

    processed: int
    """How many of them are processed now."""

    left: int
    """How many dead letters are left."""


class FactSource(Protocol):
    """Where facts come from."""

    def watch(self, after: int) -> AsyncGenerator[list[Delivery], None]:
        """Batches of facts with greater numbers, for ever; raises StreamLost when it ends."""
        ...

    def parse(self, raw: bytes) -> Delivery:
        """A fact out of its bytes, `Unreadable` at worst."""
        ...


class FactConsumer:
    """Applies facts as they come; runs until it is cancelled."""

    def __init__(
        self,
        source: FactSource,
        store: Store,
        clock: Clock,
        metrics: ProgressionMetrics,
        *,
        quiet_seconds: float,
        back_off: BackOff,
    ) -> None:
        """Connect nothing yet.

        Args:
            source: where facts come from.
            store: where they take effect.
            clock: the time.
            metrics: where it is counted.
            quiet_seconds: after how long without a word the stream is opened anew.
            back_off: says how long to wait before it is opened anew.
        """
        self._source = source
        self._store = store
        self._clock = clock
        self._metrics = metrics
        self._quiet_seconds = quiet_seconds
        self._back_off = back_off

    async def run(self) -> None:
        """Retry what was buried, then apply facts for ever; never raises but when cancelled."""
        retried = False
        while True:
            try:
                if not retried:
                    await self.retry_dead_letters()
                    retried = True
                await self._follow()
            except (StreamLost, EnvironmentFault) as error:
                failures = self._back_off.failures
                _log.info("facts_interrupted", failures=failures, error=repr(error))
            except Exception:  # a bug must not end all awards
                retried = True  # nor may one that the retry meets
                _log.exception("facts_crashed", failures=self._back_off.failures)
            finally:
                self._metrics.connected.set(0)
            await self._wait()

    async def retry_dead_letters(self, numbers: Sequence[int] = ()) -> Retried:
        """Process what couldn't be once more, as this program may know better.

        Args:
            numbers: of which facts; empty for all. Those that aren't dead letters are left out.
        """
        tried = processed = 0
        async for letters in self._dead_letters(numbers):
            outcomes = await self._apply([self._read_again(letter) for letter in letters])
            tried += len(letters)
            processed += sum(outcome is not Outcome.BURIED for outcome in outcomes)
        left = await self._store.dead_letter_count()
        self._metrics.dead_letters.set(left)
        if tried:
            _log.info("dead_letters_retried", tried=tried, processed=processed, left=left)
        return Retried(tried=tried, processed=processed, left=left)

    async def _dead_letters(self, numbers: Sequence[int]) -> AsyncIterator[list[DeadLetter]]:
        if numbers:
            found = [await self._store.dead_letter(number) for number in sorted(set(numbers))]
            yield [letter for letter in found if letter is not None]
            return
        after = 0
        while letters := await self._store.dead_letters(after=after, limit=_MOST_AT_ONCE):
            yield letters
            after = letters[-1].number

    def _read_again(self, letter: DeadLetter) -> Delivery:
        return replace(self._source.parse(letter.raw), number=letter.number, game_id=letter.game_id)

    async def _follow(self) -> None:
        """One stream, from the cursor until it ends or skips a number."""
        last: int | None = None
        cursor = await self._store.cursor()
        stream = heard(self._source.watch(cursor), self._quiet_seconds)
        async with aclosing(stream) as batches:
            async for batch in batches:
                self._metrics.connected.set(1)
                self._back_off.reset()
                ordered = sorted(batch, key=lambda delivery: delivery.number)
                for start in range(0, len(ordered), _MOST_AT_ONCE):
                    part = ordered[start : start + _MOST_AT_ONCE]
                    whole = unbroken(part, last)
                    await self.take(whole)
                    if len(whole) < len(part):
                        _log.warning("facts_skipped", number=part[len(whole)].number)
                        return
                    last = max([last or 0, *(delivery.number for delivery in whole)])

    async def take(self, batch: Sequence[Delivery]) -> None:
        """Apply some facts of the stream."""
        if not batch:
            return
        outcomes = await self._apply(batch)
        age_ms = self._clock.now_ms() - batch[-1].at_unix_ms
        self._metrics.lag_seconds.set(max(0, age_ms) / 1000)
        if Outcome.BURIED in outcomes:
            self._metrics.dead_letters.set(await self._store.dead_letter_count())

    async def _apply(self, batch: Sequence[Delivery]) -> list[Outcome]:
        """Apply facts and count what became of them."""
        outcomes = await self._store.apply(batch, now_ms=self._clock.now_ms())
        for delivery, outcome in zip(batch, outcomes, strict=True):
            self._metrics.facts.labels(outcome.value).inc()
            if outcome is Outcome.SETTLED and isinstance(delivery.effect, FinishedGame):
                self._metrics.awarded(awards_of(delivery.effect))
                _log.info("game_settled", game_id=delivery.game_id, fact=delivery.number)
            elif outcome is Outcome.BURIED:
                _log.error("fact_buried", game_id=delivery.game_id, fact=delivery.number)
        return outcomes

    async def _wait(self) -> None:
        wait_ms = round(self._back_off.next_seconds() * 1000)
        await self._clock.sleep_until(self._clock.now_ms() + wait_ms)


def unbroken(batch: Sequence[Delivery], last: int | None) -> list[Delivery]:
    """The facts up to the first that skips a number, which a stream never does.

    The first of a stream may skip, as its engine has nothing in between. Lower numbers than the
    last are repetitions, and harmless.

    Args:
        batch: facts of one stream.
        last: the greatest number before on this stream; None if there was none.
    """
    whole: list[Delivery] = []
    for delivery in batch:
        if last is not None and delivery.number > last + 1:
            break
        whole.append(delivery)
        last = max(last or 0, delivery.number)
    return whole
