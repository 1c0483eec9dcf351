"""The store on Redis when engines and Redis itself are killed, stand still or are full."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from opolyx_engine.store.base import (
    FINISHED,
    RUNNING,
    Append,
    Fenced,
    NewFact,
    Record,
    Reservation,
    StoreConflict,
    StoredGame,
)
from opolyx_engine.store.owners import everything
from opolyx_engine.store.redis import RedisGameStore, _arguments
from opolyx_engine.store.redis_scripts import (
    APPEND,
    FACT_LOG,
    FACTS_TAKEN,
    LAST_FACT,
    NUMBER,
    OPEN_GAMES,
    keys_of,
)
from opolyx_engine.store.redis_upkeep import Upkeep
from opolyx_servicekit.errors import ServiceError, StoreBusy
from opolyx_servicekit.redis_link import RedisLink
from support_link import DyingLink, Turns
from support_redis import RedisServer, flush, paused, redis_cluster, redis_server

FIRST = Append(game_id="g_1", expected_seq=-1, records=(Record(0, 1_000, "", b"body 0"),))
RESERVATION = Reservation("r_1", "g_1", b"s" * 32, 900)
END = Append(
    game_id="g_1",
    expected_seq=0,
    records=(Record(1, 1_001, "c", b"body 1"),),
    facts=(NewFact("seat_released", 1_001, b"{}"), NewFact("game_finished", 1_001, b"{}")),
    ends_as=FINISHED,
    at_ms=1_001,
)
MOST_CALLS = 30


@pytest.fixture(scope="module")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def server(running_server: RedisServer) -> RedisServer:
    """An empty one."""
    flush(running_server)
    return running_server


@pytest.fixture
async def link(server: RedisServer) -> AsyncIterator[RedisLink]:
    async with await RedisLink.open(server.url) as opened:
        yield opened


def dying(link: RedisLink, dies_at: int, *, after_effect: bool) -> tuple[RedisGameStore, DyingLink]:
    """A store whose engine is killed at a call, and looks after games only when asked."""
    dies = DyingLink(link, dies_at, after_effect=after_effect)
    return RedisGameStore(cast("RedisLink", dies)), dies


async def started(store: RedisGameStore, game_id: str = "g_1") -> None:
    await store.reserve(Reservation(f"r of {game_id}", game_id, b"s" * 32, 900))
    assert await create(store, game_id) is not None


async def create(store: RedisGameStore, game_id: str = "g_1") -> StoredGame | None:
    return await store.create(
        game_id, "classic@full", True, b"header", replace(FIRST, game_id=game_id)
    )


async def each_death(
    link: RedisLink, server: RedisServer, work: Callable[[RedisGameStore], Awaitable[object]]
) -> AsyncIterator[RedisGameStore]:
    """Do `work` dying at every call in turn; a store that lives, after each death."""
    for after_effect in (False, True):
        for dies_at in range(MOST_CALLS):
            flush(server)
            store, dies = dying(link, dies_at, after_effect=after_effect)
            try:
                await work(store)
            except ServiceError:
                assert dies.dead
            yield RedisGameStore(link)
            if not dies.dead:
                break
        else:
            pytest.fail("the work has more calls than are tried")


async def test_a_reservation_is_made_once_wherever_its_engine_died(
    link: RedisLink, server: RedisServer
) -> None:
    async for store in each_death(link, server, lambda dies: dies.reserve(RESERVATION)):
        again = replace(RESERVATION, game_id="g_2", secret=b"t" * 32)
        kept = await store.reserve(again)
        assert kept in (RESERVATION, again)
        assert kept is not None
        assert kept == await store.reserve(RESERVATION)
        game = await store.game(kept.game_id)
        assert game is not None
        assert kept.secret == game.secret
        assert await store.count() == 1


async def test_a_request_whose_game_id_is_taken_may_come_again(
    link: RedisLink, server: RedisServer
) -> None:
    async def taken(store: RedisGameStore) -> None:
        await RedisGameStore(link).reserve(RESERVATION)
        assert await store.reserve(replace(RESERVATION, request_id="r_2")) is None

    async for store in each_death(link, server, taken):
        await store.reserve(RESERVATION)
        other = replace(RESERVATION, request_id="r_2", game_id="g_2")
        kept = await store.reserve(other) or await store.reserve(other)
        assert other == kept


async def test_a_game_starts_once_and_is_listed_wherever_its_engine_died(
    link: RedisLink, server: RedisServer
) -> None:
    async def start(store: RedisGameStore) -> None:
        await RedisGameStore(link).reserve(RESERVATION)
        await create(store)

    async for store in each_death(link, server, start):
        game = await store.game("g_1")
        if game is None:  # died before the request was bound
            continue
        listed = [each.game_id for each in await store.list_games(None, 10, "")]
        assert (["g_1"] if game.state == RUNNING else []) == await store.running()
        assert await store.running() == listed
        later = replace(FIRST, records=(replace(FIRST.records[0], at_ms=2_000),))
        again = await store.create("g_1", "speed@full", False, b"other", later)
        assert again is not None
        assert (RUNNING, 0) == (again.state, again.seq)
        assert 1 == len(await store.records("g_1", -1, 10))
        assert ["g_1"] == await store.running()


async def test_each_fact_has_one_number_wherever_its_engine_died(
    link: RedisLink, server: RedisServer
) -> None:
    async def end(store: RedisGameStore) -> None:
        alive = RedisGameStore(link)
        await started(alive)
        await started(alive, "g_2")
        await store.append(END)
        await store.facts(0, 10)

    deaths = 0
    async for store in each_death(link, server, end):
        deaths += 1
        game = await store.game("g_1")
        assert game is not None
        if game.state == RUNNING:
            await store.append(END)
        upkeep = Upkeep(link)
        await upkeep.round()  # as any engine does from time to time
        await upkeep.settle()
        await store.append(replace(END, game_id="g_2"))
        found = await store.facts(0, 10)
        assert [1, 2, 3, 4] == [fact.number for fact in found]
        assert [*END.facts, *END.facts] == [fact.fact for fact in found]
        assert ["g_1", "g_1", "g_2", "g_2"] == [fact.game_id for fact in found]
        assert 0 == await link.call("ZCARD", OPEN_GAMES)
    assert deaths > 10


async def test_engines_that_look_after_a_game_at_once_give_each_fact_one_number(
    link: RedisLink,
) -> None:
    store = RedisGameStore(link)
    games = [f"g_{number}" for number in range(20)]
    for game_id in games:
        await started(store, game_id)
        await store.append(replace(END, game_id=game_id))
    upkeeps = [Upkeep(link) for _ in range(5)]
    for upkeep in upkeeps:
        for game_id in games:
            upkeep.note(game_id)
    await asyncio.gather(*(upkeep.settle() for upkeep in upkeeps))
    found = await store.facts(0, 100)
    assert list(range(1, 41)) == [fact.number for fact in found]
    assert sorted(games * 2) == sorted(fact.game_id for fact in found)


async def test_whoever_is_late_brings_no_fact_twice_and_leaves_none_out(link: RedisLink) -> None:
    async def bring(first: int, bodies: str) -> int:
        facts = [part for body in bodies for part in ("k", 1, body)]
        keys = (FACT_LOG, FACTS_TAKEN, LAST_FACT)
        return int(await link.run(NUMBER, keys, ("g_1", first, *facts)))

    steps = [(0, "ab", 2), (0, "ab", 2), (0, "abc", 3), (1, "b", 3), (2, "cd", 4), (6, "g", 4)]
    for first, bodies, taken in steps:
        assert taken == await bring(first, bodies)
    found = await RedisGameStore(link).facts(0, 10)
    assert [(1, b"a"), (2, b"b"), (3, b"c"), (4, b"d")] == [
        (each.number, each.fact.body) for each in found
    ]


async def test_numbers_that_their_node_lost_are_given_again(link: RedisLink) -> None:
    store = RedisGameStore(link)
    await started(store)
    step = replace(END, ends_as=RUNNING, facts=END.facts[:1])
    await store.append(step)
    assert 1 == len(await store.facts(0, 10))
    for key in (FACT_LOG, FACTS_TAKEN, LAST_FACT):
        await link.call("DEL", key)
    await store.append(replace(END, expected_seq=1, records=(), facts=END.facts[1:]))
    found = await store.facts(0, 10)
    assert [(1, END.facts[0]), (2, END.facts[1])] == [(each.number, each.fact) for each in found]


async def test_a_running_game_that_the_index_lost_is_found_again_when_it_is_read(
    link: RedisLink,
) -> None:
    store = RedisGameStore(link)
    await started(store)
    await link.call("DEL", OPEN_GAMES)
    assert [] == await store.running()
    await store.game("g_1")
    await store.facts(0, 1)
    assert ["g_1"] == await store.running()


async def test_a_game_whose_keys_are_damaged_holds_up_no_other(link: RedisLink) -> None:
    store = RedisGameStore(link)
    for game_id in ("g_1", "g_2", "g_3"):
        await started(store, game_id)
        await store.append(replace(END, game_id=game_id))
    await link.call("DEL", "{game:g_1}:facts")
    await link.call("SET", "{game:g_1}:facts", "no stream")
    await link.call("DEL", "{game:g_2}:game")
    await link.call("SET", "{game:g_2}:game", "no hash")
    with capture_logs() as logs:
        assert ["g_3", "g_3"] == [fact.game_id for fact in await store.facts(0, 10)]
    failed = [log["game_id"] for log in logs if log["event"] == "store_upkeep_failed"]
    assert ["g_1", "g_2"] == failed


async def test_upkeep_goes_on_by_itself(link: RedisLink) -> None:
    dead = RedisGameStore(link)
    await started(dead)
    await dead.append(END)
    assert 0 == await link.call("XLEN", FACT_LOG)
    store = await RedisGameStore.open(link)
    for _ in range(1_000):
        await asyncio.sleep(0.01)
        if await link.call("XLEN", FACT_LOG) == 2:
            break
    else:
        pytest.fail("nobody looked after the game")
    await store.close()


async def test_an_append_whose_answer_got_lost_is_done_once(
    link: RedisLink, server: RedisServer
) -> None:
    store = RedisGameStore(link)
    await started(store, "g_2")
    await store.append(replace(END, game_id="g_2", facts=()))  # now Redis has the script
    await started(store)
    still = asyncio.create_task(paused(server, 3.0))  # longer than an answer is waited for
    await asyncio.sleep(0.05)
    await store.append(replace(END, ends_as=RUNNING))
    await still
    assert 2 == len(await store.records("g_1", -1, 10))
    assert 2 == len(await store.facts(0, 10))
    with pytest.raises(StoreConflict):  # the same by another call is another append
        await store.append(replace(END, ends_as=RUNNING))


async def test_nothing_is_known_of_an_append_before_redis_has_it(
    link: RedisLink, server: RedisServer
) -> None:
    store = RedisGameStore(link)
    await started(store)
    server.pause()
    try:
        appending = asyncio.create_task(store.append(END))
        done, _ = await asyncio.wait([appending], timeout=1.0)
        assert not done
    finally:
        server.go_on()
    await appending
    assert 2 == len(await store.records("g_1", -1, 10))


@pytest.mark.parametrize("cluster", [False, True], ids=["redis", "redis+cluster"])
async def test_what_was_acknowledged_survives_a_kill_of_redis(
    tmp_path: Path, cluster: bool
) -> None:
    """Killed with -9 under load and started again, twice."""
    if cluster:
        with redis_cluster(tmp_path) as found:
            await write_under_kills(found.url, found.servers)
    else:
        with redis_server(tmp_path) as server:
            await write_under_kills(server.url, [server])


async def write_under_kills(url: str, servers: list[RedisServer]) -> None:
    games = [f"g_{number}" for number in range(12)]
    acknowledged = dict.fromkeys(games, 0)
    enough = asyncio.Event()

    async def write(store: RedisGameStore, game_id: str) -> None:
        while not enough.is_set():
            seq = acknowledged[game_id] + 1
            step = Append(game_id, seq - 1, (record(seq),), facts=(NewFact("k", seq, b"f"),))
            try:
                await store.append(step)
            except ServiceError:  # as an actor: look what is stored before going on
                await asyncio.sleep(0.05)
                if not await is_stored(store, step):
                    continue
            acknowledged[game_id] = seq

    async with await RedisLink.open(url) as link:
        store = await RedisGameStore.open(link)
        for game_id in games:
            await started(store, game_id)
        writers = [asyncio.create_task(write(store, game_id)) for game_id in games]
        for server in servers[:2] * (2 if len(servers) == 1 else 1):
            await asyncio.sleep(0.5)
            server.kill()
            await asyncio.sleep(0.2)
            await asyncio.to_thread(server.start)
        await asyncio.sleep(0.5)
        enough.set()
        await asyncio.gather(*writers)
        for game_id in games:
            stored = await store.records(game_id, 0, 1 << 30)
            assert [record(seq) for seq in range(1, acknowledged[game_id] + 1)] == stored
        total = sum(acknowledged.values())
        assert total > len(games)
        facts = await store.facts(0, total + 100)
        assert list(range(1, total + 1)) == [fact.number for fact in facts]
        assert len({(fact.game_id, fact.fact.at_ms) for fact in facts}) == total
        await store.close()


def record(seq: int) -> Record:
    return Record(seq, seq, f"c{seq}", b"body %d" % seq)


async def is_stored(store: RedisGameStore, step: Append) -> bool:
    while True:
        try:
            return [*step.records] == await store.records(step.game_id, step.expected_seq, 1)
        except ServiceError:
            await asyncio.sleep(0.05)


async def test_a_full_redis_stores_all_of_an_append_or_nothing(
    link: RedisLink, server: RedisServer
) -> None:
    store = RedisGameStore(link)
    await started(store)
    server.command("CONFIG", "SET", "maxmemory", 1)
    try:
        with pytest.raises(StoreBusy):
            await store.append(END)
        game = await store.game("g_1")
        assert game is not None
        assert (RUNNING, 0) == (game.state, game.seq)
    finally:
        server.command("CONFIG", "SET", "maxmemory", 0)
    assert [] == await store.facts(0, 10)
    await store.append(END)
    assert 2 == len(await store.facts(0, 10))


async def test_a_page_of_games_is_full_though_few_may_be_watched(link: RedisLink) -> None:
    store = RedisGameStore(link)
    for number in range(120):
        game_id = f"g_{number:03d}"
        await store.reserve(Reservation(game_id, game_id, b"s", 0))
        first = Append(game_id, -1, (Record(0, 1_000, "", b""),))
        await store.create(game_id, "classic@full", number % 20 == 0, b"h", first)
    listed = [game.game_id for game in await store.list_games(None, 4, "")]
    assert ["g_100", "g_080", "g_060", "g_040"] == listed
    rest = await store.list_games((1_000, "g_040"), 4, "")
    assert ["g_020", "g_000"] == [game.game_id for game in rest]


async def test_a_long_log_comes_back_whole(link: RedisLink) -> None:
    store = RedisGameStore(link)
    await started(store)
    many = tuple(record(seq) for seq in range(1, 1_203))
    await store.append(Append("g_1", 0, many))
    assert [*many] == await store.records("g_1", 0, 1 << 30)
    assert [*many[:700]] == await store.records("g_1", 0, 700)


@pytest.mark.parametrize("game_id", ["", "}", "a}b{c}", "{x}", "g\x00\n", "ü" * 40])
async def test_any_text_may_be_a_games_id(link: RedisLink, game_id: str) -> None:
    store = RedisGameStore(link)
    assert await store.game(game_id) is None
    await started(store, game_id)
    await store.append(replace(END, game_id=game_id))
    facts: list[Any] = await store.facts(0, 10)
    assert [game_id] * 2 == [fact.game_id for fact in facts]


async def test_an_append_sent_again_after_a_claim_is_done_and_not_fenced(link: RedisLink) -> None:
    store = RedisGameStore(link)
    await started(store)
    again = _arguments(replace(END, epoch=0))
    assert 1 == await link.run(APPEND, keys_of("g_1"), again)
    assert await store.claim("g_1", 0, "replica") is None, "it ended with it"
    await started(store, "g_2")
    again = _arguments(replace(END, ends_as=RUNNING))
    assert 1 == await link.run(APPEND, keys_of("g_2"), again)
    assert 1 == await store.claim("g_2", 0, "replica")
    assert 1 == await link.run(APPEND, keys_of("g_2"), again)
    with pytest.raises(Fenced):
        await store.append(replace(END, game_id="g_2", expected_seq=1))
    assert 2 == len(await store.records("g_2", -1, 10))


async def test_a_game_is_found_by_its_owner_wherever_the_claimer_died(
    link: RedisLink, server: RedisServer
) -> None:
    async def claim(store: RedisGameStore) -> None:
        await started(RedisGameStore(link))
        await store.claim("g_1", 0, "replica")

    async for store in each_death(link, server, claim):
        game = await store.game("g_1")
        assert game is not None
        assert ["g_1"] == await store.owned_by(game.owner, everything)
        other = {"": "replica", "replica": ""}[game.owner]
        assert [] == await store.owned_by(other, everything)
        assert (["g_1"] if game.owner else []) == await store.strays({""})
        assert 1 == await store.claim("g_1", 0, "replica")


async def test_who_looks_for_games_while_one_is_claimed_leaves_it_findable(
    link: RedisLink, server: RedisServer
) -> None:
    await in_every_order(link, server, started, lambda store: store.claim("g_1", 0, "replica"))


async def test_who_looks_for_games_while_one_starts_leaves_it_findable(
    link: RedisLink, server: RedisServer
) -> None:
    about = ("g_1", "classic@full", True, b"header", FIRST, "replica")
    await in_every_order(
        link,
        server,
        lambda store: store.reserve(RESERVATION),
        lambda store: store.create(*about),
    )


async def in_every_order(
    link: RedisLink,
    server: RedisServer,
    before: Callable[[RedisGameStore], Awaitable[object]],
    change: Callable[[RedisGameStore], Awaitable[object]],
) -> None:
    """Whoever makes a game the replica's, and who looks, go on in every order of their calls."""
    for changes_at in combinations(range(9), 4):
        flush(server)
        await before(RedisGameStore(link))
        turns = Turns("C" if at in changes_at else "L" for at in range(9))
        changing, looking = (
            RedisGameStore(cast("RedisLink", turns.link(link, who))) for who in "CL"
        )
        await asyncio.gather(
            turns.until_done("C", change(changing)),
            turns.until_done("L", looking.owned_by("replica", everything)),
        )
        found = await RedisGameStore(link).owned_by("replica", everything)
        assert ["g_1"] == found, f"changed at {changes_at}"
