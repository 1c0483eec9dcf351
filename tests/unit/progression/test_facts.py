"""The consumer: reconnects, waits, never stops, and never moves past what it hasn't got."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from opolyx.engine.v1.allocation_service_pb2 import Fact
from opolyx_progression.deliveries import Delivery
from opolyx_progression.facts import FactConsumer, unbroken
from opolyx_progression.metrics import ProgressionMetrics
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.store.base import Store
from opolyx_progression.store.sqlite import SqliteStore
from opolyx_servicekit.errors import StoreUnavailable
from opolyx_servicekit.streams import BackOff, StreamLost
from opolyx_servicekit.wall_clock import Clock, SystemClock
from support_progression import (
    duel,
    eventually,
    finished_fact,
    new_metrics,
    open_store,
    senseless_fact,
)


class ScriptedSource:
    """Streams as scripted; a stream is its batches, then it breaks, or hangs if it is the last."""

    def __init__(self, *streams: Sequence[Sequence[Delivery]]) -> None:
        self.streams = list(streams)
        self.asked_after: list[int] = []
        self.drained = asyncio.Event()

    async def watch(self, after: int) -> AsyncGenerator[list[Delivery], None]:
        self.asked_after.append(after)
        for batch in self.streams.pop(0) if self.streams else ():
            yield list(batch)
        if self.streams:
            raise StreamLost("broken")
        self.drained.set()
        await asyncio.Event().wait()

    def parse(self, raw: bytes) -> Delivery:
        return delivery_of(Fact.FromString(raw))


def delivered(number: int, winner: str = "p_a") -> Delivery:
    loser = "p_b" if winner == "p_a" else "p_a"
    return delivery_of(finished_fact(number, duel(f"g{number}", winner, loser)))


def consumer_of(
    source: ScriptedSource,
    store: Store,
    metrics: ProgressionMetrics,
    clock: Clock | None = None,
    *,
    quiet_seconds: float = 30.0,
    base_seconds: float = 0.001,
    cap_seconds: float = 0.01,
) -> FactConsumer:
    return FactConsumer(
        source,
        store,
        clock or SystemClock(),
        metrics,
        quiet_seconds=quiet_seconds,
        back_off=BackOff(base_seconds, cap_seconds, jitter=lambda: 1.0),
    )


async def consume(
    source: ScriptedSource,
    store: Store,
    metrics: ProgressionMetrics,
    clock: Clock | None = None,
    **waits: float,
) -> None:
    """Run until the last stream has been consumed."""
    task = asyncio.create_task(consumer_of(source, store, metrics, clock, **waits).run())
    try:
        await asyncio.wait_for(source.drained.wait(), 10)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    async with open_store(tmp_path / "p.db") as opened:
        yield opened


async def test_each_stream_goes_on_after_the_cursor(store: SqliteStore) -> None:
    source = ScriptedSource(
        [[delivered(1), delivered(2)]], [[]], [[delivered(3)], [delivered(4)]], []
    )

    await consume(source, store, new_metrics())

    assert [0, 2, 2, 4] == source.asked_after
    assert 4 == await store.last_sequence()


async def test_skipped_number_is_asked_for_again(store: SqliteStore) -> None:
    source = ScriptedSource([[delivered(1), delivered(3)]], [[delivered(2), delivered(3)]], [])

    await consume(source, store, new_metrics())

    assert [0, 1, 3] == source.asked_after
    assert 3 == await store.last_sequence()


async def test_gap_that_stays_is_the_engine_s_own(store: SqliteStore) -> None:
    source = ScriptedSource([[delivered(1), delivered(5)]], [[delivered(5), delivered(6)]], [])

    await consume(source, store, new_metrics())

    assert [0, 1, 6] == source.asked_after


def test_unbroken_lets_repetitions_pass() -> None:
    batch = [delivered(number) for number in (4, 5, 4, 6, 8, 9)]

    assert [4, 5, 4, 6] == [delivery.number for delivery in unbroken(batch, None)]
    assert [] == unbroken(batch, 2)


async def test_buried_fact_is_counted_and_others_go_on(store: SqliteStore) -> None:
    metrics = new_metrics()
    senseless = delivery_of(senseless_fact(2, "g2"))
    source = ScriptedSource([[delivered(1), senseless, delivered(3)]], [])

    await consume(source, store, metrics)

    assert 2 == await store.last_sequence()
    assert 1 == metrics.dead_letters._value.get()
    assert 1 == metrics.facts.labels("buried")._value.get()
    assert 2 == metrics.facts.labels("settled")._value.get()


async def test_dead_letters_are_tried_again_at_the_start(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError("bug")

    with monkeypatch.context() as patched:
        patched.setattr("opolyx_progression.store.ledger.settle", broken)
        await consume(ScriptedSource([[delivered(1)]], []), store, new_metrics())
    assert 1 == await store.dead_letter_count()

    metrics = new_metrics()
    await consume(ScriptedSource([]), store, metrics)

    assert 0 == await store.dead_letter_count()
    assert 0 == metrics.dead_letters._value.get()
    assert 250 == (await store.profile("p_a")).standing.xp


async def test_crash_of_the_retry_ends_no_awards(store: SqliteStore) -> None:
    class Unparsing(ScriptedSource):
        def parse(self, raw: bytes) -> Delivery:
            raise ZeroDivisionError("bug")

    await store.apply([delivery_of(senseless_fact(1, "g1"))], now_ms=1)

    await consume(Unparsing([[delivered(2)]], []), store, new_metrics())

    assert 250 == (await store.profile("p_a")).standing.xp
    assert 1 == await store.dead_letter_count()


class FailingStore:
    """A store that is away for the first calls of `apply`."""

    def __init__(self, store: SqliteStore, failures: list[Exception]) -> None:
        self._store = store
        self._failures = failures

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def apply(self, deliveries: Any, *, now_ms: int) -> Any:
        if self._failures:
            raise self._failures.pop(0)
        return await self._store.apply(deliveries, now_ms=now_ms)


async def test_store_that_is_away_buries_nothing(store: SqliteStore) -> None:
    failures = [StoreUnavailable("STORE_FAILED", "away"), RuntimeError("bug")]
    failing: Any = FailingStore(store, failures)
    source = ScriptedSource([[delivered(1)]], [[delivered(1)]], [[delivered(1)]], [])

    await consume(source, failing, new_metrics())

    assert [0, 0, 0, 1] == source.asked_after
    assert 0 == await store.dead_letter_count()
    assert 250 == (await store.profile("p_a")).standing.xp


class NapCounter(SystemClock):
    """Sleeps not at all, and remembers how long it should have."""

    def __init__(self) -> None:
        self.naps: list[int] = []

    def now_ms(self) -> int:
        return 0

    async def sleep_until(self, unix_ms: int) -> None:
        self.naps.append(unix_ms)
        await asyncio.sleep(0)


async def test_waits_double_up_to_the_cap_and_start_over_after_a_word(store: SqliteStore) -> None:
    clock = NapCounter()
    source = ScriptedSource([], [], [], [[]], [], [])
    waits = {"base_seconds": 1.0, "cap_seconds": 3.0}

    await consume(source, store, new_metrics(), clock, **waits)

    assert [1000, 2000, 3000, 1000, 2000] == clock.naps


async def test_quiet_stream_is_opened_anew(store: SqliteStore) -> None:
    source = ScriptedSource()
    task = asyncio.create_task(consumer_of(source, store, new_metrics(), quiet_seconds=0.02).run())

    async def asked_thrice() -> bool:
        return len(source.asked_after) >= 3

    await eventually(asked_thrice)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
