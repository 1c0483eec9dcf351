"""Whose a stored game is, and whether it may become this replica's."""

import pytest
from structlog.testing import capture_logs

from opolyx_engine.errors import GameElsewhere
from opolyx_engine.ownership.shares import chosen
from opolyx_engine.rules_fit import RulesFit
from opolyx_engine.store.base import StoredGame
from opolyx_engine.store.owners import NOBODY
from opolyx_servicekit.errors import FailedPrecondition, Unavailable
from opolyx_servicekit.wall_clock import ManualClock
from support_owner_book import BEAT_MS, TTL_MS, Member, OwnerBook, member

NEW = RulesFit(2)
OLD = RulesFit(1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def book(clock: ManualClock) -> OwnerBook:
    return OwnerBook(clock)


@pytest.fixture
async def a(book: OwnerBook, clock: ManualClock) -> Member:
    """One that has been there for a while."""
    made = member(book, clock)
    await live(clock, made)
    return made


async def live(clock: ManualClock, *members: Member, ms: int = TTL_MS) -> None:
    for _ in range(ms // BEAT_MS + 1):
        for each in members:
            await each.membership.beat()
        await clock.advance(BEAT_MS)
    for each in members:
        await each.membership.beat()


async def own(of: Member, book: OwnerBook, game_id: str = "g") -> StoredGame:
    return await of.claims.own(book.games[game_id])


async def test_a_game_of_nobody_is_claimed(a: Member, book: OwnerBook) -> None:
    book.add("g")
    owned = await own(a, book)
    assert (a.replica_id, 1) == (owned.owner, owned.epoch)
    assert owned == await own(a, book), "it is claimed once"
    assert a.claims.is_mine(owned)
    assert a.claims.is_mine(owned, 1)
    assert not a.claims.is_mine(owned, 2)


async def test_an_ended_game_is_nobodys(a: Member, book: OwnerBook) -> None:
    book.add("g", "another")
    book.end("g")
    assert book.games["g"] == await own(a, book)
    assert "another" == book.owner_of("g")


async def test_a_game_of_a_living_replica_is_elsewhere(
    a: Member, book: OwnerBook, clock: ManualClock
) -> None:
    b = member(book, clock)
    await b.membership.beat()  # a hasn't heard of it yet
    book.add("g", b.replica_id)
    with pytest.raises(GameElsewhere) as elsewhere:
        await own(a, book)
    assert b.membership.me == elsewhere.value.replica
    assert b.replica_id == book.owner_of("g")


async def test_a_game_of_a_dead_replica_is_claimed_when_it_is_surely_dead(
    a: Member, book: OwnerBook, clock: ManualClock
) -> None:
    b = member(book, clock)
    await live(clock, a, b)
    book.add("g", b.replica_id)
    await live(clock, a, ms=TTL_MS - 2 * BEAT_MS)
    with pytest.raises(GameElsewhere):
        await own(a, book)
    await live(clock, a)
    assert (a.replica_id, 2) == ((await own(a, book)).owner, book.games["g"].epoch)


async def test_a_game_of_one_who_was_never_heard_of_is_claimed_after_a_while(
    book: OwnerBook, clock: ManualClock
) -> None:
    """Of a version that knew no owners' book, or whose entry is gone."""
    new = member(book, clock)
    await new.membership.beat()
    book.add("g", "never heard of")
    with pytest.raises(Unavailable) as unknown:
        await own(new, book)
    assert ("NOT_OWNER", False) == (
        unknown.value.reason,
        isinstance(unknown.value, GameElsewhere),
    )
    await live(clock, new)
    assert new.replica_id == (await own(new, book)).owner


async def test_who_isnt_certain_claims_nothing(
    a: Member, book: OwnerBook, clock: ManualClock
) -> None:
    book.add("g")
    await clock.advance(TTL_MS)
    with pytest.raises(Unavailable):
        await own(a, book)
    assert NOBODY == book.owner_of("g")


async def test_of_two_that_claim_one_game_one_gets_it_and_the_other_hears_who(
    a: Member, book: OwnerBook, clock: ManualClock
) -> None:
    b = member(book, clock)
    await live(clock, a, b)
    book.add("g")
    stored = book.games["g"]  # both read it before either claims
    assert a.replica_id == (await a.claims.own(stored)).owner
    with pytest.raises(GameElsewhere) as elsewhere:
        await b.claims.own(stored)
    assert a.membership.me == elsewhere.value.replica


async def test_who_drains_sends_a_game_of_nobody_to_whom_it_falls(
    a: Member, book: OwnerBook, clock: ManualClock
) -> None:
    others = [member(book, clock) for _ in range(3)]
    await live(clock, a, *others)
    await a.membership.drain()
    book.add("g")
    with pytest.raises(GameElsewhere) as elsewhere:
        await own(a, book)
    assert chosen("g", [each.membership.me for each in others]) == elsewhere.value.replica


@pytest.mark.parametrize(("begun", "played"), [(OLD, NEW), (NEW, OLD)])
async def test_a_game_of_other_rules_goes_to_a_replica_that_has_them(
    book: OwnerBook, clock: ManualClock, begun: RulesFit, played: RulesFit
) -> None:
    a, b = member(book, clock, fit=played), member(book, clock, fit=begun)
    await live(clock, a, b)
    book.add("g", rules=begun.of("classic@full"))
    with pytest.raises(GameElsewhere) as elsewhere:
        await own(a, book)
    assert b.membership.me == elsewhere.value.replica
    assert b.replica_id == (await own(b, book)).owner


async def test_a_game_whose_rules_nobody_has_is_refused_and_said_once(
    book: OwnerBook, clock: ManualClock
) -> None:
    a, b = member(book, clock, fit=NEW), member(book, clock, fit=NEW)
    await live(clock, a, b)
    book.add("g", rules=OLD.of("classic@full"))
    reasons = []
    with capture_logs() as logs:
        for _ in range(3):
            with pytest.raises(FailedPrecondition) as refused:
                await own(a, book)
            reasons.append(refused.value.reason)
    assert ["RULES_DIFFER"] * 3 == reasons
    assert {"g": "classic@full"} == a.claims.refused
    assert ["game_refused"] == [each["event"] for each in logs]
    assert 1 == a.metrics.games_refused.labels("rules")._value.get()
    old = member(book, clock, fit=OLD)
    await live(clock, a, b, old)
    with pytest.raises(GameElsewhere):
        await own(a, book)
    assert {} == a.claims.refused
    ended = await a.claims.own_to_end(book.games["g"])
    assert a.replica_id == ended.owner, "to end it, anybody will do"


async def test_a_game_from_before_there_were_fingerprints_is_the_first_versions(
    book: OwnerBook, clock: ManualClock
) -> None:
    new, old = member(book, clock, fit=NEW), member(book, clock, fit=OLD)
    await live(clock, new, old)
    book.add("g", rules="")
    with pytest.raises(GameElsewhere):
        await own(new, book)
    assert old.replica_id == (await own(old, book)).owner


async def test_a_game_of_a_living_replica_is_not_taken_even_to_end_it(
    a: Member, book: OwnerBook, clock: ManualClock
) -> None:
    b = member(book, clock)
    await live(clock, a, b)
    book.add("g", b.replica_id)
    with pytest.raises(GameElsewhere):
        await a.claims.own_to_end(book.games["g"])
