"""What every store of games must do, whatever it is made of."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest

from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import (
    FINISHED,
    RUNNING,
    VOID,
    Append,
    GameStore,
    NewFact,
    Record,
    Reservation,
    StoreConflict,
    StoredSnapshot,
)
from opolyx_engine.store.opening import open_store

Opener = Callable[[], AbstractAsyncContextManager[GameStore]]


def reservation(game_id: str = "g_1", request_id: str = "r_1") -> Reservation:
    return Reservation(request_id=request_id, game_id=game_id, secret=b"s" * 32, at_ms=1_000)


def record(seq: int, command_id: str = "") -> Record:
    return Record(seq=seq, at_ms=1_000 + seq, command_id=command_id, body=f"body {seq}".encode())


def step(seq: int, command_id: str = "", game_id: str = "g_1") -> Append:
    return Append(game_id=game_id, expected_seq=seq - 1, records=(record(seq, command_id),))


async def started(store: GameStore, game_id: str = "g_1", at_ms: int = 1_000) -> None:
    await store.reserve(reservation(game_id, f"r of {game_id}"))
    first = Append(game_id=game_id, expected_seq=-1, records=(replace(record(0), at_ms=at_ms),))
    assert await store.create(game_id, "classic@full", True, b"header", first) is not None


async def test_a_request_gets_the_same_reservation_again(store: GameStore) -> None:
    assert reservation() == await store.reserve(reservation())
    assert reservation() == await store.reserve(reservation(game_id="g_2"))
    assert 1 == await store.count()


async def test_a_game_id_is_reserved_once(store: GameStore) -> None:
    await store.reserve(reservation())
    assert await store.reserve(reservation(request_id="r_2")) is None


async def test_a_game_that_is_not_reserved_cannot_start(store: GameStore) -> None:
    first = Append(game_id="g_1", expected_seq=-1, records=(record(0),))
    assert await store.create("g_1", "classic@full", True, b"header", first) is None


async def test_starting_again_returns_what_was_started(store: GameStore) -> None:
    await started(store)
    await store.append(step(1))
    first = Append(game_id="g_1", expected_seq=-1, records=(record(0),))
    again = await store.create("g_1", "speed@full", False, b"other", first)
    assert again is not None
    assert (b"header", "classic@full", 1) == (again.header, again.ruleset, again.seq)


async def test_records_come_back_in_order_and_in_pages(store: GameStore) -> None:
    await started(store)
    for seq in range(1, 8):
        await store.append(step(seq))
    assert [record(seq) for seq in range(8)] == await store.records("g_1", -1, 100)
    assert [record(3), record(4)] == await store.records("g_1", 2, 2)


async def test_an_append_at_the_wrong_place_changes_nothing(store: GameStore) -> None:
    await started(store)
    await store.append(step(1))
    for wrong in (step(1), step(3)):
        with pytest.raises(StoreConflict):
            await store.append(replace(wrong, facts=(NewFact("game_voided", 1, b"{}"),)))
    assert [record(0), record(1)] == await store.records("g_1", -1, 100)
    assert [] == await store.facts(0, 10)


async def test_one_of_two_appends_at_the_same_place_wins(store: GameStore) -> None:
    await started(store)
    appends = [store.append(step(1, f"c{number}")) for number in range(20)]
    outcomes = await asyncio.gather(*appends, return_exceptions=True)
    assert 1 == outcomes.count(None)
    assert 19 == sum(isinstance(outcome, StoreConflict) for outcome in outcomes)


async def test_a_command_id_is_stored_once_a_game(store: GameStore) -> None:
    await started(store)
    await started(store, "g_2")
    await store.append(step(1, "c"))
    await store.append(step(1, "c", "g_2"))
    with pytest.raises(StoreConflict):
        await store.append(step(2, "c"))
    assert record(1, "c") == await store.command("g_1", "c")
    assert await store.command("g_1", "other") is None
    assert await store.command("g_1", "") is None


async def test_facts_are_stored_with_their_record_and_numbered_over_all_games(
    store: GameStore,
) -> None:
    await started(store)
    await started(store, "g_2")
    facts = [NewFact("seat_released", seat, b"{}") for seat in range(3)]
    await store.append(replace(step(1), facts=facts[:2]))
    await store.append(replace(step(1, game_id="g_2"), facts=facts[2:]))
    found = await store.facts(0, 10)
    assert [(1, "g_1"), (2, "g_1"), (3, "g_2")] == [(f.number, f.game_id) for f in found]
    assert facts == [fact.fact for fact in found]
    assert found[1:2] == await store.facts(1, 1)


async def test_who_follows_the_facts_of_many_writers_misses_none(store: GameStore) -> None:
    games = [f"g_{number}" for number in range(10)]
    for game_id in games:
        await started(store, game_id)

    async def write(game_id: str) -> None:
        for seq in range(1, 8):
            facts = [NewFact(game_id, seq, b"{}")] * (seq % 3)
            await store.append(replace(step(seq, game_id=game_id), facts=facts))
            if seq % 2:  # a failed step takes no number
                with pytest.raises(StoreConflict):
                    await store.append(replace(step(seq, game_id=game_id), facts=facts))

    async def follow() -> list[int]:
        seen: list[int] = []
        while len(seen) < 70:
            batch = await store.facts(seen[-1] if seen else 0, 5)
            seen += [fact.number for fact in batch]
            await asyncio.sleep(0)
        return seen

    followers = [asyncio.create_task(follow()) for _ in range(3)]
    await asyncio.gather(*(write(game_id) for game_id in games))
    for seen in await asyncio.gather(*followers):
        assert list(range(1, 71)) == seen


async def test_the_latest_snapshot_up_to_a_record_is_found(store: GameStore) -> None:
    await started(store)
    for seq in range(1, 7):
        snapshot = StoredSnapshot(seq, b"s%d" % seq) if seq % 3 == 0 else None
        await store.append(replace(step(seq), snapshot=snapshot))
    assert await store.snapshot("g_1", 2) is None
    assert StoredSnapshot(3, b"s3") == await store.snapshot("g_1", 5)
    assert StoredSnapshot(6, b"s6") == await store.snapshot("g_1", 6)


@pytest.mark.parametrize("end", [FINISHED, VOID])
async def test_an_ended_game_takes_nothing_more(store: GameStore, end: int) -> None:
    await started(store)
    await started(store, "g_2", 2_000)
    assert ["g_1", "g_2"] == await store.running()
    await store.append(replace(step(1), ends_as=end, end_reason="why", at_ms=5))
    assert ["g_2"] == await store.running()
    game = await store.game("g_1")
    assert game is not None
    assert (end, "why", 1) == (game.state, game.end_reason, game.seq)
    with pytest.raises(StoreConflict):
        await store.append(step(2))


async def test_watchable_running_games_are_listed_newest_first_in_pages(store: GameStore) -> None:
    for number in range(5):
        await started(store, f"g_{number}", 1_000 + number // 2)
    first = await store.list_games(None, 2, "")
    last = first[-1]
    rest = await store.list_games((last.started_ms, last.game_id), 10, "classic@full")
    assert ["g_4", "g_3", "g_2", "g_1", "g_0"] == [game.game_id for game in first + rest]
    assert [] == await store.list_games(None, 10, "speed@full")


async def test_everything_is_there_after_opening_again(opener: Opener) -> None:
    async with opener() as store:
        await started(store)
        await store.append(replace(step(1, "c"), facts=(NewFact("k", 1, b"f"),)))
    async with opener() as store:
        game = await store.game("g_1")
        assert game is not None
        assert (RUNNING, 1, b"s" * 32) == (game.state, game.seq, game.secret)
        assert record(1, "c") == await store.command("g_1", "c")
        assert 1 == len(await store.facts(0, 10))


@pytest.mark.parametrize("url", ["", "mysql://user:word@host", "redis+bogus://user:word@host"])
async def test_a_url_of_no_store_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ValueError, match="store url is neither") as refused:
        async with open_store(EngineSettings(store_url=url)):
            pass
    assert "word" not in str(refused.value)
