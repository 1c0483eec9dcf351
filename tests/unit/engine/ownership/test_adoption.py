"""Games that nobody runs find a replica, also if nobody asks."""

import asyncio
from dataclasses import dataclass, field

import pytest

from opolyx_engine.errors import GameElsewhere
from opolyx_engine.ownership.adoption import Adoption
from opolyx_engine.ownership.shares import chosen
from opolyx_engine.store.owners import NOBODY
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.wall_clock import ManualClock
from support_owner_book import BEAT_MS, TTL_MS, Member, OwnerBook, member


@dataclass
class Adopter:
    """A replica that adopts, and what it took up."""

    member: Member
    book: OwnerBook
    clock: ManualClock
    taken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.adoption = Adoption(
            self.member.line,  # type: ignore[arg-type]
            self.member.membership,
            self.take_up,
            lambda game_id: game_id in self.taken,
            self.member.claims.refused,
            self.member.settings,
            self.clock,
        )

    async def take_up(self, game_id: str) -> bool:
        try:
            owned = await self.member.claims.own(self.book.games[game_id])
        except GameElsewhere:
            return True
        except ServiceError:
            return False
        if owned.owner == self.member.replica_id:
            self.taken.append(game_id)
        return True

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.member.membership.run())
            tasks.create_task(self.adoption.run())


@dataclass
class House:
    """Some replicas, with one more that dies."""

    book: OwnerBook
    clock: ManualClock
    adopters: list[Adopter]
    dying: Member

    async def live(self, ms: int, *, all_of_them: bool = True) -> None:
        """They all go on for so long."""
        async with TaskOwner("house") as tasks:
            for adopter in self.adopters:
                tasks.start(adopter.run(), name="adopter")
            if all_of_them:
                tasks.start(self.dying.membership.run(), name="dying")
            await self.clock.advance(ms)

    def counts(self) -> list[int]:
        return [self.book.count(each.member.replica_id) for each in self.adopters]


def house_of(count: int, **settings: int) -> House:
    clock = ManualClock()
    book = OwnerBook(clock)
    adopters = [Adopter(member(book, clock, settings), book, clock) for _ in range(count)]
    return House(book, clock, adopters, member(book, clock))


@pytest.fixture
async def house() -> House:
    made = house_of(3)
    await made.live(2 * TTL_MS)
    return made


async def test_games_of_a_dead_replica_are_shared_by_the_living(house: House) -> None:
    for number in range(600):
        house.book.add(f"g_{number}", house.dying.replica_id)
    await house.live(TTL_MS - BEAT_MS, all_of_them=False)
    assert [0, 0, 0] == house.counts(), "it may still be alive"
    await house.live(2 * BEAT_MS + 2_000, all_of_them=False)
    assert 600 == sum(house.counts())
    # Six standard deviations of a fair draw of 600 among three.
    assert all(abs(count - 200) < 70 for count in house.counts())
    takers = [each.member.membership.me for each in house.adopters]
    for game_id in house.book.games:
        owner = chosen(game_id, takers)
        assert owner is not None
        assert owner.replica_id == house.book.owner_of(game_id)
    assert all(1 == house.adopters[0].taken.count(each) for each in house.adopters[0].taken)


async def test_nothing_is_left_of_a_dead_replica_once_its_games_are_taken(house: House) -> None:
    house.book.add("g", house.dying.replica_id)
    await house.live(4 * TTL_MS, all_of_them=False)
    assert {house.dying.replica_id}.isdisjoint(house.adopters[0].member.membership.known())


async def test_what_one_that_lives_does_not_take_others_do_later(house: House) -> None:
    stuck = house.adopters[0]
    stuck.adoption._take_up = _never
    for number in range(60):
        house.book.add(f"g_{number}", house.dying.replica_id)
    await house.live(TTL_MS + 2 * BEAT_MS, all_of_them=False)
    left = house.book.count(house.dying.replica_id)
    assert 0 < left < 60
    await house.live(TTL_MS + 2 * BEAT_MS, all_of_them=False)
    assert 0 == house.book.count(house.dying.replica_id)
    assert 0 == house.counts()[0]


async def test_games_that_were_given_back_are_taken_at_the_next_beat(house: House) -> None:
    for number in range(30):
        house.book.add(f"g_{number}")
    await house.live(BEAT_MS + 500)
    takers = [*(each.member for each in house.adopters), house.dying]
    for game_id in house.book.games:
        owner = chosen(game_id, [each.membership.me for each in takers])
        mine = owner is not None and owner != house.dying.membership.me
        assert mine == (NOBODY != house.book.owner_of(game_id))
    await house.live(TTL_MS + BEAT_MS)
    assert 0 == house.book.count(NOBODY), "one that lives takes nothing, and others didn't wait"


async def test_games_are_taken_at_a_pace() -> None:
    house = house_of(1, adoptions_per_second=50)
    await house.live(2 * TTL_MS)
    for number in range(500):
        house.book.add(f"g_{number}")
    await house.live(BEAT_MS + 4_000, all_of_them=True)
    # The dying one lives, and so has a share that it doesn't take.
    assert 180 <= house.counts()[0] <= 210


async def test_games_that_were_asked_for_take_no_time_from_the_others() -> None:
    house = house_of(1, adoptions_per_second=50)
    await house.live(2 * TTL_MS)
    for number in range(500):
        house.book.add(f"g_{number}", house.dying.replica_id)
    await house.live(TTL_MS + BEAT_MS, all_of_them=False)
    asked_for = [f"g_{number}" for number in range(500) if number % 10]
    house.adopters[0].taken += asked_for
    await house.live(BEAT_MS + 2_000, all_of_them=False)
    taken = [house.book.owner_of(f"g_{number}") for number in range(0, 500, 10)]
    assert {house.adopters[0].member.replica_id} == set(taken)


async def test_a_wrong_hint_leads_to_nothing(house: House) -> None:
    alive = house.adopters[1].member.replica_id
    house.book.add("g_ended", house.dying.replica_id)
    house.book.end("g_ended")
    house.book.add("g_elsewhere", alive)
    house.book.hints[house.dying.replica_id] = {"g_ended", "g_elsewhere"}
    await house.live(4 * TTL_MS, all_of_them=False)
    assert (alive, 1) == (house.book.owner_of("g_elsewhere"), house.book.games["g_elsewhere"].epoch)
    assert house.dying.replica_id == house.book.owner_of("g_ended")


async def test_games_that_no_list_leads_to_are_found_by_one_of_the_replicas(house: House) -> None:
    for number in range(10):
        house.book.add(f"g_{number}", ("of before 0", "of before 1", NOBODY)[number % 3])
    house.book.hints.clear()
    await house.live(70_000, all_of_them=False)
    assert 10 == sum(house.counts())
    assert [0, 0, 10] == sorted(house.counts()), "one looks, and takes what it finds"


async def test_a_game_that_a_replica_was_not_told_of_is_found_by_it(house: House) -> None:
    to = house.adopters[2]
    house.book.add("g", to.member.replica_id)
    await house.live(2 * TTL_MS)
    assert ["g"] == to.taken


async def test_who_drains_or_is_cut_off_takes_nothing(house: House) -> None:
    await house.adopters[0].member.membership.drain()
    house.adopters[1].member.line.cut = True
    for number in range(30):
        house.book.add(f"g_{number}")
    await house.live(3 * TTL_MS)
    assert [0, 0, 30] == house.counts()


async def test_a_store_that_is_away_for_all_moves_no_game(house: House) -> None:
    for number in range(30):
        house.book.add(f"g_{number}", house.adopters[number % 3].member.replica_id)
        house.adopters[number % 3].taken.append(f"g_{number}")
    lines = [each.member.line for each in house.adopters] + [house.dying.line]
    for line in lines:
        line.cut = True
    await house.live(30_000)
    lines[0].cut = False
    await house.live(BEAT_MS)
    for line in lines:
        line.cut = False
    await house.live(4 * TTL_MS)
    assert [10, 10, 10] == house.counts()
    assert {1} == {game.epoch for game in house.book.games.values()}


async def test_a_game_that_was_refused_is_so_no_longer_once_somebody_has_or_ended_it() -> None:
    house = house_of(1)
    looker = house.adopters[0]
    await house.live(2 * TTL_MS, all_of_them=False)
    for game_id in ("g_had", "g_ended"):
        house.book.add(game_id, rules="of another version")
    await house.live(2 * TTL_MS, all_of_them=False)
    assert {"g_had", "g_ended"} == set(looker.member.claims.refused)
    house.book.end("g_ended")
    await house.dying.membership.beat()
    await house.book.claim("g_had", 0, house.dying.replica_id)
    await house.live(2 * TTL_MS)
    assert {} == looker.member.claims.refused


async def _never(game_id: str) -> bool:
    """As if the store always failed."""
    return False
