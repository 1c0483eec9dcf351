"""What every store must do so that replicas share its games: claims, fencing, who lives."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from opolyx_engine.replica import Replica
from opolyx_engine.store.base import FINISHED, Append, Fenced, GameStore, Record, Reservation
from opolyx_engine.store.owners import NOBODY, everything
from support_waiting import until

A, B = "replica-a", "replica-b"
LONG_MS = 60_000


async def started(store: GameStore, game_id: str = "g_1", owner: str = A) -> None:
    await store.reserve(Reservation(f"r of {game_id}", game_id, b"s" * 32, 900))
    first = Append(game_id=game_id, expected_seq=-1, records=(Record(0, 1_000, "", b"body"),))
    assert await store.create(game_id, "classic@full", True, b"header", first, owner) is not None


def step(seq: int, epoch: int, game_id: str = "g_1") -> Append:
    records = (Record(seq, 1_000 + seq, f"c{seq}", b"body"),)
    return Append(game_id=game_id, expected_seq=seq - 1, records=records, epoch=epoch)


async def owner_of(store: GameStore, game_id: str = "g_1") -> tuple[str, int]:
    game = await store.game(game_id)
    assert game is not None
    return game.owner, game.epoch


async def test_who_starts_a_game_owns_it(store: GameStore) -> None:
    await started(store)
    assert (A, 1) == await owner_of(store)
    assert ["g_1"] == await store.owned_by(A, everything)
    await store.append(step(1, epoch=1))
    await started(store, owner=B)
    assert (A, 1) == await owner_of(store), "started before, by somebody else"


async def test_a_game_without_an_owner_is_nobodys_until_it_is_claimed(store: GameStore) -> None:
    await started(store, owner=NOBODY)
    assert (NOBODY, 0) == await owner_of(store)
    assert ["g_1"] == await store.owned_by(NOBODY, everything)
    await store.append(step(1, epoch=0))
    assert 1 == await store.claim("g_1", 0, A)
    assert [] == await store.owned_by(NOBODY, everything)
    assert ["g_1"] == await store.owned_by(A, everything)


async def test_a_claim_fences_whoever_owned_the_game_before(store: GameStore) -> None:
    await started(store)
    await store.append(step(1, epoch=1))
    assert 2 == await store.claim("g_1", 1, B)
    assert (B, 2) == await owner_of(store)
    for epoch in (0, 1, 3):
        with pytest.raises(Fenced):
            await store.append(step(2, epoch=epoch))
    await store.append(step(2, epoch=2))
    assert 3 == len(await store.records("g_1", -1, 10))
    assert [] == await store.owned_by(A, everything)


async def test_an_append_with_an_old_epoch_is_fenced_also_when_the_game_is_over(
    store: GameStore,
) -> None:
    await started(store)
    await store.claim("g_1", 1, B)
    await store.append(replace(step(1, epoch=2), ends_as=FINISHED, at_ms=2_000))
    with pytest.raises(Fenced):
        await store.append(step(1, epoch=1))


async def test_the_same_claim_again_is_the_same_claim(store: GameStore) -> None:
    await started(store)
    assert 2 == await store.claim("g_1", 1, B)
    assert 2 == await store.claim("g_1", 1, B)
    assert (B, 2) == await owner_of(store)


async def test_one_of_many_claims_at_once_wins(store: GameStore) -> None:
    await started(store)
    claims = [store.claim("g_1", 1, f"replica-{number}") for number in range(20)]
    outcomes = await asyncio.gather(*claims)
    assert [2] == [outcome for outcome in outcomes if outcome is not None]
    owner, epoch = await owner_of(store)
    assert (f"replica-{outcomes.index(2)}", 2) == (owner, epoch)
    assert ["g_1"] == await store.owned_by(owner, everything)


async def test_appends_and_claims_at_once_leave_one_log_of_one_owner_after_another(
    store: GameStore,
) -> None:
    await started(store)

    answered: list[int] = []

    async def write(epoch: int) -> None:
        """As an owner that doesn't know that it is one no longer."""
        with suppress(Fenced):
            while True:
                await store.append(step(len(answered) + 1, epoch))
                answered.append(epoch)

    writer = asyncio.create_task(write(1))
    await until(lambda: len(answered) > 3)
    assert 2 == await store.claim("g_1", 1, B)
    stored = await store.game("g_1")
    assert stored is not None
    await writer
    assert len(answered) == stored.seq, "all that was answered for, and nothing after the claim"


async def test_an_ended_or_unknown_game_is_not_claimed(store: GameStore) -> None:
    await started(store)
    await store.append(replace(step(1, epoch=1), ends_as=FINISHED, at_ms=2_000))
    assert await store.claim("g_1", 1, B) is None
    assert await store.claim("g_2", 0, B) is None
    assert [] == await store.owned_by(A, everything)
    assert [] == await store.owned_by(B, everything)


async def test_a_game_that_is_given_back_is_nobodys(store: GameStore) -> None:
    await started(store)
    assert 2 == await store.claim("g_1", 1, NOBODY)
    with pytest.raises(Fenced):
        await store.append(step(1, epoch=1))
    assert ["g_1"] == await store.owned_by(NOBODY, everything)
    assert 3 == await store.claim("g_1", 2, B)


async def test_only_wanted_games_of_an_owner_are_told(store: GameStore) -> None:
    for number in range(6):
        await started(store, f"g_{number}", owner=(A, B)[number % 2])
    assert ["g_0", "g_2", "g_4"] == sorted(await store.owned_by(A, everything))
    assert ["g_4"] == await store.owned_by(A, lambda game_id: game_id > "g_3")


async def test_games_of_none_of_the_owners_are_found(store: GameStore) -> None:
    await started(store, "g_0", owner=A)
    await started(store, "g_1", owner=B)
    await started(store, "g_2", owner=NOBODY)
    await started(store, "g_3", owner=B)
    await store.append(replace(step(1, epoch=1, game_id="g_3"), ends_as=FINISHED, at_ms=2_000))
    assert ["g_1", "g_2"] == sorted(await store.strays({A}))
    assert [] == await store.strays({A, B, NOBODY})


async def test_who_lives_is_known_to_all_until_its_time_is_over(store: GameStore) -> None:
    a = Replica(A, "host-a:1", frozenset({"x", "y"}))
    b = Replica(B, "host-b:2", draining=True)
    assert (a,) == (await store.beat(a, LONG_MS)).living
    roll = await store.beat(b, LONG_MS)
    assert {a, b} == set(roll.living)
    assert () == roll.dead

    await store.beat(b, 1)
    async with asyncio.timeout(10):
        while not (roll := await store.beat(a, LONG_MS)).dead:
            pass
    assert ((a,), (B,)) == (roll.living, roll.dead)
    again = await store.beat(a, LONG_MS)
    assert (B,) == again.dead, "told until somebody says that nothing is left of it"

    assert {a, b} == set((await store.beat(b, LONG_MS)).living), "it was only paused"


async def test_a_replica_is_told_when_it_was_not_among_the_living(store: GameStore) -> None:
    a, b = Replica(A, "host-a:1"), Replica(B, "host-b:2")
    assert 1 == (await store.beat(a, LONG_MS)).lives
    assert 1 == (await store.beat(a, LONG_MS, 1)).lives
    assert 1 == (await store.beat(a, 1, 1)).lives
    async with asyncio.timeout(10):
        while not (await store.beat(b, LONG_MS)).dead:
            pass
    assert 2 == (await store.beat(a, LONG_MS, 1)).lives
    assert 2 == (await store.beat(a, LONG_MS, 2)).lives
    await store.leave(A)  # others do so when it is dead and owns nothing any more
    assert 3 == (await store.beat(a, LONG_MS, 2)).lives


async def test_a_dead_replica_of_which_nothing_is_left_is_forgotten(store: GameStore) -> None:
    a, b = Replica(A, "host-a:1"), Replica(B, "host-b:2")
    await store.beat(b, 1)
    async with asyncio.timeout(10):
        while not (await store.beat(a, LONG_MS)).dead:
            pass
    await store.leave(B, if_dead=True)
    assert () == (await store.beat(a, LONG_MS)).dead


async def test_a_replica_that_leaves_is_neither_alive_nor_dead(store: GameStore) -> None:
    a, b = Replica(A, "host-a:1"), Replica(B, "host-b:2")
    await store.beat(b, LONG_MS)
    await store.leave(B, if_dead=True)
    assert {a, b} == set((await store.beat(a, LONG_MS)).living)
    await store.leave(B)
    await store.leave("replica-nobody-knows")
    roll = await store.beat(a, LONG_MS)
    assert ((a,), ()) == (roll.living, roll.dead)


async def test_what_a_replica_says_of_itself_may_change(store: GameStore) -> None:
    a = Replica(A, "host-a:1")
    await store.beat(a, LONG_MS)
    drains = replace(a, draining=True)
    assert (drains,) == (await store.beat(drains, LONG_MS)).living
