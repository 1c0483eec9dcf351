"""A replica that drains gives its games away, and keeps those that it can't."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from opolyx_engine.ownership.given_game import Give, GivenGame
from opolyx_engine.ownership.hand_over import HandOver
from opolyx_engine.ownership.shares import chosen
from opolyx_engine.replica import Replica
from opolyx_engine.rules_fit import RulesFit
from opolyx_engine.store.owners import NOBODY
from opolyx_servicekit.errors import StoreUnavailable
from opolyx_servicekit.wall_clock import ManualClock
from support_owner_book import BEAT_MS, TTL_MS, Member, OwnerBook, member

NEW = RulesFit(2)


@dataclass
class Games:
    """The games of a replica, without any play in them."""

    book: OwnerBook
    held: list[str]
    waits: list[float] = field(default_factory=list)

    def here(self) -> list[str]:
        return list(self.held)

    async def hand_over(self, game_id: str, give: Give, wait_s: float) -> GivenGame | None:
        self.waits.append(wait_s)
        replica = await give(self.book.games[game_id])
        if replica is None:
            return None
        self.held.remove(game_id)
        return GivenGame(game_id, replica, None)


@dataclass
class House:
    """One that is to drain, and others."""

    book: OwnerBook
    clock: ManualClock
    drains: Member
    games: Games
    told: dict[str, list[str]] = field(default_factory=dict)

    async def tell(self, replica: Replica, games: Sequence[GivenGame]) -> None:
        ids = self.told.setdefault(replica.replica_id, [])
        ids += [game.game_id for game in games]

    def hand_over(self) -> HandOver:
        return HandOver(
            self.games,
            self.drains.line,  # type: ignore[arg-type]
            self.drains.membership,
            self.tell,
            self.drains.settings,
            self.drains.metrics,
        )

    async def others(self, count: int, fit: RulesFit | None = None) -> list[Member]:
        made = [member(self.book, self.clock, fit=fit) for _ in range(count)]
        for each in made:
            await each.membership.beat()
        return made


@pytest.fixture
async def house() -> House:
    clock = ManualClock()
    book = OwnerBook(clock)
    drains = member(book, clock, {"hand_over_ms": 5_000})
    for _ in range(TTL_MS // BEAT_MS + 1):
        await drains.membership.beat()
        await clock.advance(BEAT_MS)
    for number in range(120):
        book.add(f"g_{number}", drains.replica_id)
    return House(book, clock, drains, Games(book, list(book.games)))


async def test_all_games_go_to_whom_they_fall_who_are_told_so(house: House) -> None:
    others = await house.others(3)
    await house.hand_over().run()
    assert [] == house.games.held
    takers = [each.membership.me for each in others]
    for game_id, game in house.book.games.items():
        taker = chosen(game_id, takers)
        assert taker is not None
        assert (taker.replica_id, 2) == (game.owner, game.epoch)
        assert game_id in house.told[taker.replica_id]
    assert 120 == sum(map(len, house.told.values()))
    assert 120 == house.drains.metrics.handed_over._value.get()
    assert house.drains.membership.me.draining


async def test_nobody_gets_a_game_who_drains_too_or_has_other_rules(house: House) -> None:
    draining, newer, fitting = (
        *await house.others(1),
        *await house.others(1, NEW),
        *await house.others(1),
    )
    await draining.membership.drain()
    house.book.add("g_new", house.drains.replica_id, rules=NEW.of("classic@full"))
    house.games.held.append("g_new")
    await house.hand_over().run()
    assert [] == house.games.held
    assert newer.replica_id == house.book.owner_of("g_new")
    assert (120, 0) == (house.book.count(fitting.replica_id), house.book.count(draining.replica_id))


async def test_games_whose_rules_no_other_has_stay_and_are_nobodys_in_the_end(
    house: House,
) -> None:
    await house.others(2, NEW)
    hand_over = house.hand_over()
    await hand_over.run()
    assert 120 == len(house.games.held) == house.book.count(house.drains.replica_id)
    await hand_over.release()
    assert 120 == house.book.count(NOBODY)
    assert house.drains.replica_id not in house.book._alive


async def test_without_others_all_stays(house: House) -> None:
    await house.hand_over().run()
    assert 120 == len(house.games.held)
    assert [] == house.games.waits, "no game is stopped in vain"


async def test_with_the_store_away_all_stays_and_is_found_when_this_one_counts_as_dead(
    house: House,
) -> None:
    await house.others(2)
    house.drains.line.cut = True
    hand_over = house.hand_over()
    await hand_over.run()
    assert 120 == len(house.games.held)
    await hand_over.release()
    assert 120 == house.book.count(house.drains.replica_id)
    assert house.drains.replica_id in house.book._alive


async def test_a_claim_of_unknown_outcome_is_made_again_and_counts_once(house: House) -> None:
    await house.others(1)
    line, claim, asked = house.drains.line, house.book.claim, set[str]()

    async def lossy(game_id: str, epoch: int, owner: str) -> int | None:
        """The first answer for each game is lost."""
        done = await claim(game_id, epoch, owner)
        if game_id not in asked:
            asked.add(game_id)
            raise StoreUnavailable("STORE_UNAVAILABLE", "the answer is lost")
        return done

    line.claim = lossy  # type: ignore[attr-defined]
    await house.hand_over().run()
    assert [] == house.games.held
    assert {2} == {game.epoch for game in house.book.games.values()}
    assert 120 == house.drains.metrics.handed_over._value.get()


async def test_asked_again_it_gives_what_came_since_unless_it_failed(house: House) -> None:
    await house.others(1)
    hand_over = house.hand_over()
    await hand_over.run()
    for number in range(2):
        house.book.add(f"late_{number}", house.drains.replica_id)
        house.games.held.append(f"late_{number}")
        await hand_over.run()
        assert [] == house.games.held
    house.drains.line.cut = True
    await hand_over.run()
    house.drains.line.cut = False
    house.book.add("later", house.drains.replica_id)
    house.games.held.append("later")
    await hand_over.run()
    assert ["later"] == house.games.held, "what is left is given back at the end"


async def test_an_engine_that_is_alone_gives_nothing_away(house: House) -> None:
    alone = member(house.book, house.clock, {"replica_address": ""})
    await house.others(1)
    house.drains = alone
    hand_over = house.hand_over()
    await hand_over.run()
    await hand_over.release()
    assert (0, []) == (alone.line.calls, house.games.waits)
