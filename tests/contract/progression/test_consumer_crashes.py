"""The consumer dies at every call of its store, beside another one; case A-43.

Every point at which it can die is tried: a consumer is killed at its first call, the next at its
second, and so on until one lives, each before and after the call took effect.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from opolyx.engine.v1.allocation_service_pb2 import Fact
from opolyx_progression.audit import audit
from opolyx_progression.deliveries import Delivery
from opolyx_progression.facts import FactConsumer
from opolyx_progression.games import FinishedGame, Scheme
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.base import Store
from opolyx_progression.store.opening import open_store
from opolyx_servicekit.streams import BackOff
from opolyx_servicekit.wall_clock import SystemClock
from support_progression import (
    bot,
    duel,
    eventually,
    everything,
    finished_fact,
    finished_game,
    new_metrics,
    person,
    senseless_fact,
    voided_fact,
)

PLAYERS = ["p_a", "p_b", "p_c", "b_a"]
GAMES: tuple[FinishedGame, ...] = (
    duel("g1", "p_a", "p_b"),
    duel("short", "p_b", "p_a", ended_in=20),
    finished_game(person("p_c", 1), bot("b_a", 2), person("p_a", 3), game_id="mixed"),
    finished_game(
        person("p_b", 1),
        person("p_a", 2),
        game_id="guide",
        ruleset="classic@guide",
        scheme=Scheme.WINNER,
    ),
    duel("g5", "p_a", "p_c"),
    duel("g6", "p_a", "p_b"),
)
FACTS: tuple[Fact, ...] = (
    *[finished_fact(number, game) for number, game in enumerate(GAMES[:3], 1)],
    senseless_fact(4, "senseless"),
    voided_fact(5, "void"),
    *[finished_fact(number, game) for number, game in enumerate(GAMES[3:], 6)],
)
LAST = FACTS[-1].number


NewStore = Callable[[], ProgressionSettings]


class Killed(BaseException):
    """The process is gone."""


class Mortal:
    """A store whose process dies at the n-th call: before it, or after it took effect."""

    def __init__(self, store: Store, calls: int, *, after: bool) -> None:
        self._store = store
        self._left = calls
        self._after = after

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def called(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left < 0 and not self._after:
                raise Killed
            result = await method(*args, **kwargs)
            if self._left < 0:
                raise Killed
            return result

        return called


class Repeating:
    """Tells every fact above the cursor in batches, shuffled, and some of them again later."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    async def watch(self, after: int) -> AsyncGenerator[list[Delivery], None]:
        told = [delivery_of(fact) for fact in FACTS]
        waiting = [delivery for delivery in told if delivery.number > after]
        while waiting:
            batch = waiting[:3] + self._chance.sample(told[: LAST - len(waiting)] or told[:1], 1)
            self._chance.shuffle(batch)
            yield batch
            waiting = waiting[3:]
        await asyncio.Event().wait()

    def parse(self, raw: bytes) -> Delivery:
        return delivery_of(Fact.FromString(raw))


def consumer_on(store: Any, seed: int) -> FactConsumer:
    return FactConsumer(
        Repeating(seed),
        store,
        SystemClock(),
        new_metrics(),
        quiet_seconds=30,
        back_off=BackOff(0.001, 0.01),
    )


async def run_until(done: Any, *consumers: FactConsumer) -> bool:
    """Run consumers until `done()` holds; whether all of them lived."""
    tasks = [asyncio.ensure_future(consumer.run()) for consumer in consumers]
    await eventually(done)
    alive = not any(task.done() for task in tasks)
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError, Killed):
            await task
    return alive


async def facts_of(store: Store) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    """Whom the ledger pays, and everything that is stored."""
    last = await store.last_sequence()
    ledger = await store.ledger(after=0, until=last)
    paid = sorted((entry.award.game_id, entry.award.seat) for entry in ledger)
    return paid, await everything(store, PLAYERS)


async def assert_paid_once(store: Store) -> None:
    """Each game and seat is in the ledger once, and all sums are what the results say."""
    paid, _ = await facts_of(store)
    assert paid == sorted((game.game_id, seat.seat) for game in GAMES for seat in game.seats)
    report = await audit(store, count_boards=True)
    assert (len(GAMES), 0) == (report.games, report.drift)
    assert 1 == await store.dead_letter_count()
    for player_id in PLAYERS:
        entries = await store.awards(player_id, game_id="", before=0, limit=100)
        profile = await store.profile(player_id)
        assert sum(entry.xp for entry in entries) == profile.standing.xp
        assert sum(len(entry.cards) for entry in entries) == profile.cards


@pytest.mark.parametrize("new_store", ["sqlite", "redis"], indirect=True)
@pytest.mark.rule("XP-7")
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_43_killed_at_any_call_it_pays_each_seat_once(
    new_store: NewStore, tmp_path: Path, after: bool
) -> None:
    smooth_store = ProgressionSettings(store_url=f"sqlite:///{tmp_path / 'smooth.db'}")
    async with open_store(smooth_store) as smooth:
        await smooth.apply([delivery_of(fact) for fact in FACTS], now_ms=1)
        expected = await facts_of(smooth)

    calls = 0
    lived = False
    while not lived:
        async with open_store(new_store()) as store:
            mortal: Any = Mortal(store, calls, after=after)
            task = asyncio.ensure_future(consumer_on(mortal, calls).run())

            async def over(task: Any = task, store: Store = store) -> bool:
                return task.done() or await store.cursor() == LAST

            await eventually(over)
            await asyncio.sleep(0)  # what it does with the last answer
            lived = not task.done()
            task.cancel()
            with suppress(asyncio.CancelledError, Killed):
                await task

            async def caught_up(store: Store = store) -> bool:
                return await store.cursor() == LAST

            await run_until(caught_up, consumer_on(store, calls + 1000))
            await assert_paid_once(store)
            assert expected == await facts_of(store)
        calls += 1
    assert calls > 6


@pytest.mark.parametrize("new_store", ["sqlite", "redis"], indirect=True)
@pytest.mark.rule("XP-7")
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_43_two_at_once_of_which_one_is_killed_pay_each_seat_once(
    new_store: NewStore, after: bool
) -> None:
    for calls in range(12):
        settings = new_store()
        async with open_store(settings) as one, open_store(settings) as two:
            mortal: Any = Mortal(one, calls, after=after)
            consumers = [consumer_on(mortal, calls), consumer_on(two, -calls)]

            async def caught_up(store: Store = two) -> bool:
                return await store.cursor() == LAST

            await run_until(caught_up, *consumers)
            await assert_paid_once(two)


@pytest.mark.rule("XP-7")
@pytest.mark.parametrize("seed", range(6))
async def test_xp_7_facts_in_any_order_and_number_pay_each_seat_once(
    store: Store, seed: int
) -> None:
    """What the store is given, whoever gives it: shuffled, repeated, split anyhow."""
    chance = random.Random(seed)
    deliveries: Sequence[Delivery] = [delivery_of(fact) for fact in FACTS] * 3
    shuffled = chance.sample(deliveries, len(deliveries))
    while shuffled:
        size = chance.randint(1, 5)
        await store.apply(shuffled[:size], now_ms=1)
        shuffled = shuffled[size:]
    await assert_paid_once(store)
