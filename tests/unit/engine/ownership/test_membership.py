"""Who lives, by what a replica heard and when."""

import asyncio

import pytest

from opolyx_engine.store.owners import NOBODY
from opolyx_servicekit.errors import StoreUnavailable
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.wall_clock import ManualClock
from support_owner_book import BEAT_MS, TTL_MS, Member, OwnerBook, member


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def book(clock: ManualClock) -> OwnerBook:
    return OwnerBook(clock)


@pytest.fixture
def a(book: OwnerBook, clock: ManualClock) -> Member:
    return member(book, clock)


@pytest.fixture
def b(book: OwnerBook, clock: ManualClock) -> Member:
    return member(book, clock)


async def beat_for(clock: ManualClock, ms: int, *members: Member) -> None:
    """All of these say that they live, for so long."""
    for _ in range(ms // BEAT_MS):
        await clock.advance(BEAT_MS)
        for each in members:
            await each.membership.beat()


async def test_replicas_hear_of_each_other_at_the_next_beat(a: Member, b: Member) -> None:
    assert not a.membership.certain
    await a.membership.beat()
    assert a.membership.find(b.replica_id) is None
    await b.membership.beat()
    assert a.membership.me == b.membership.find(a.replica_id)
    await a.membership.beat()
    assert b.membership.me == a.membership.find(b.replica_id)
    assert {a.replica_id, b.replica_id} == a.membership.known()
    assert a.membership.find(a.replica_id) is None, "it is no other"


async def test_what_was_heard_is_good_for_as_long_as_others_count_on_it(
    a: Member, clock: ManualClock
) -> None:
    await a.membership.beat()
    await clock.advance(TTL_MS - 1)
    assert a.membership.certain
    await clock.advance(1)
    assert not a.membership.certain
    assert not a.membership.may_take_from(NOBODY)


async def test_who_is_silent_for_long_is_dead_to_who_was_there_all_the_time(
    a: Member, b: Member, clock: ManualClock
) -> None:
    await b.membership.beat()
    await a.membership.beat()
    await beat_for(clock, TTL_MS, a, b)
    assert () == a.membership.dead
    await beat_for(clock, TTL_MS - BEAT_MS, a)
    assert [] == list(a.membership.dead)
    assert not a.membership.may_take_from(b.replica_id)
    await beat_for(clock, BEAT_MS, a)
    assert [b.replica_id] == list(a.membership.dead)
    assert a.membership.may_take_from(b.replica_id)


async def test_after_an_outage_of_the_store_nobody_is_dead_at_once(
    a: Member, b: Member, clock: ManualClock
) -> None:
    """Both were cut off: whoever is back first must not take the other for dead."""
    for each in (a, b):
        await each.membership.beat()
    await beat_for(clock, TTL_MS, a, b)
    a.line.cut = b.line.cut = True
    await clock.advance(30_000)
    with pytest.raises(StoreUnavailable):
        await a.membership.beat()
    assert not a.membership.certain
    a.line.cut = False
    await a.membership.beat()
    assert a.membership.certain
    assert a.membership.find(b.replica_id) is None
    assert () == a.membership.dead
    assert not a.membership.may_take_from(b.replica_id)
    await beat_for(clock, TTL_MS - BEAT_MS, a)
    assert not a.membership.may_take_from(b.replica_id)
    b.line.cut = False
    await b.membership.beat()
    await beat_for(clock, TTL_MS, a, b)
    assert not a.membership.may_take_from(b.replica_id)
    assert not b.membership.may_take_from(a.replica_id)


async def test_who_was_silent_makes_sure_of_its_games_before_it_is_certain_again(
    a: Member, clock: ManualClock
) -> None:
    seen: list[bool] = []

    async def make_sure() -> None:
        seen.append(a.membership.certain)
        if len(seen) == 1:
            raise StoreUnavailable("STORE_UNAVAILABLE", "away again")

    a.membership.on_return = make_sure
    await a.membership.beat()
    await clock.advance(TTL_MS - 1)
    await a.membership.beat()
    assert [] == seen
    await clock.advance(TTL_MS)
    with pytest.raises(StoreUnavailable):
        await a.membership.beat()
    assert ([False], False) == (seen, a.membership.certain)
    await a.membership.beat()
    assert ([False, False], True) == (seen, a.membership.certain)
    await a.membership.beat()
    assert 2 == len(seen)


async def test_who_was_silent_by_the_stores_clock_only_makes_sure_too(
    book: OwnerBook, clock: ManualClock
) -> None:
    """A virtual machine was paused, and its clock with it."""
    paused = member(book, own_clock := ManualClock())
    lasting = member(book, clock)
    made_sure: list[bool] = []

    async def make_sure() -> None:
        made_sure.append(paused.membership.certain)

    paused.membership.on_return = make_sure
    await paused.membership.beat()
    await own_clock.advance(BEAT_MS)
    await clock.advance(BEAT_MS)
    await paused.membership.beat()
    assert [] == made_sure
    await lasting.membership.beat()
    await beat_for(clock, 2 * TTL_MS, lasting)
    await own_clock.advance(BEAT_MS)
    await paused.membership.beat()
    assert [False] == made_sure
    assert paused.membership.certain
    assert not paused.membership.may_take_from("whoever was dead to it")


async def test_who_is_silent_again_while_it_makes_sure_does_so_once_more(
    a: Member, clock: ManualClock
) -> None:
    made_sure: list[bool] = []

    async def make_sure() -> None:
        made_sure.append(a.membership.certain)
        if len(made_sure) == 1:
            await clock.advance(TTL_MS)
            await a.membership.ask_about("whoever")

    a.membership.on_return = make_sure
    await a.membership.beat()
    await clock.advance(TTL_MS)
    await a.membership.beat()
    assert not a.membership.certain, "others may have taken games that it had looked at before"
    await a.membership.beat()
    assert ([False, False], True) == (made_sure, a.membership.certain)


async def test_there_is_no_hope_for_who_is_dead_for_sure(
    a: Member, b: Member, clock: ManualClock
) -> None:
    await b.membership.beat()
    await beat_for(clock, TTL_MS, a, b)
    await beat_for(clock, TTL_MS - BEAT_MS, a)
    assert {a.replica_id, b.replica_id} == a.membership.hoped_for()
    await beat_for(clock, BEAT_MS, a)
    assert {a.replica_id} == a.membership.hoped_for()
    assert {a.replica_id, b.replica_id} == a.membership.known()


async def test_an_unknown_owner_is_asked_about_once_for_all_that_want_to_know(
    a: Member, b: Member
) -> None:
    await a.membership.beat()
    await b.membership.beat()
    assert a.membership.find(b.replica_id) is None
    calls = a.line.calls
    await asyncio.gather(*(a.membership.ask_about(b.replica_id) for _ in range(20)))
    assert b.membership.me == a.membership.find(b.replica_id)
    assert a.line.calls <= calls + 2
    calls = a.line.calls
    for known in (a.replica_id, b.replica_id, NOBODY):
        await a.membership.ask_about(known)
    assert calls == a.line.calls


async def test_it_says_so_again_and_again_and_sooner_after_a_failure(
    a: Member, clock: ManualClock
) -> None:
    async with TaskOwner("test") as tasks:
        tasks.start(a.membership.run(), name="heartbeat")
        await clock.advance(2 * BEAT_MS)
        assert 3 == a.line.calls
        a.line.cut = True
        await clock.advance(BEAT_MS)
        a.line.cut = False
        await clock.advance(BEAT_MS // 2)
        assert 4 == a.line.calls
        assert a.membership.certain


async def test_who_drains_takes_nothing_and_says_so(a: Member, b: Member) -> None:
    await b.membership.beat()
    await a.membership.drain()
    await b.membership.beat()
    other = b.membership.find(a.replica_id)
    assert other is not None
    assert other.draining
    assert [b.membership.me] == b.membership.takers() == a.membership.takers()


async def test_who_leaves_is_not_dead(a: Member, b: Member, clock: ManualClock) -> None:
    for each in (a, b):
        await each.membership.beat()
    async with TaskOwner("test") as tasks:
        tasks.start(a.membership.run(), name="heartbeat")
        await clock.advance(1)
        await a.membership.leave()
        await beat_for(clock, 2 * TTL_MS, b)
    assert b.membership.find(a.replica_id) is None
    assert [] == list(b.membership.dead)
    b.line.cut = True
    await b.membership.leave()  # a store that is away keeps nobody from leaving


async def test_an_engine_that_is_alone_beats_for_nobody_and_takes_everything(
    book: OwnerBook, clock: ManualClock
) -> None:
    alone = member(book, clock, {"replica_address": ""})
    await alone.membership.run()
    await alone.membership.ask_about("another")
    await alone.membership.drain()
    await alone.membership.leave()
    assert 0 == alone.line.calls
    assert alone.membership.certain
    assert alone.membership.may_take_from("another")
