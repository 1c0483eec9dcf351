"""Engines on one Redis: games change hands when one dies, is silent for a while, or drains."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import operations_service_pb2 as operations_pb
from opolyx_engine.rules_fit import RulesFit
from opolyx_engine.store.base import FINISHED, RUNNING, VOID
from opolyx_engine.store.owners import NOBODY
from support_engine import Engine, awaited, built_in, people
from support_owners import (
    TTL_MS,
    cut,
    me,
    players_of,
    running_replica,
    running_replicas,
    runs,
    stored,
)
from support_redis import RedisServer, flush, redis_cluster, redis_server
from support_waiting import until

GAMES = 6


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as running:
        yield running


@pytest.fixture
def url(server: RedisServer) -> str:
    """An empty Redis."""
    flush(server)
    return server.url


async def settled(*engines: Engine) -> None:
    """Return once they have been there for as long as it takes to know who is dead."""
    await asyncio.sleep(TTL_MS / 1000 + 0.1)
    await until(lambda: all(engine.service.membership.certain for engine in engines))


async def play_over(engines: list[Engine], happens: object, *, games: int = GAMES) -> None:
    """Games that are played while something happens to the first engine, to their end."""
    first, *others = engines
    ids = [await first.new_game(people(2), round_cap=4) for _ in range(games)]
    tables = [await players_of(game_id, 2, [first, *others]) for game_id in ids]
    playing = [asyncio.create_task(table.play()) for table in tables]
    await until(lambda: all(len(table.accepted) > 3 for table in tables))
    assert not any(each.done() for each in playing)
    await happens()  # type: ignore[operator]
    for table in tables:
        for route in table.routes:
            del route[0]
    await asyncio.gather(*playing)
    for table in tables:
        await table.check(others[0])
        assert FINISHED == (await stored(others[0], table.game_id)).state


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", ["redis", "redis+cluster"])
async def test_games_go_on_at_others_when_their_engine_drains_and_nothing_is_lost(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    if kind == "redis":
        await drained_while_played(tmp_path, request.getfixturevalue("url"))
    else:
        with redis_cluster(tmp_path / "cluster") as cluster:
            await drained_while_played(tmp_path, cluster.url)


async def drained_while_played(tmp_path: Path, url: str) -> None:
    async with running_replicas(tmp_path, url, 3) as engines:

        async def drain() -> None:
            await engines[0].service.drain()
            assert [] == engines[0].service.registry.here()

        await play_over(engines, drain)
        assert GAMES <= engines[0].service.metrics.handed_over._value.get()
        fenced = [engine.service.metrics.append_fenced._value.get() for engine in engines]
        assert [0, 0, 0] == fenced, "games were given away between two moves, not within one"


@pytest.mark.timeout(120)
async def test_games_go_on_at_others_when_their_engine_is_cut_off_and_it_does_not_harm_when_it_is_back(
    tmp_path: Path, url: str
) -> None:
    async with running_replicas(tmp_path, url, 3) as engines:
        await settled(*engines)
        first = engines[0]

        async def cut_off() -> None:
            cut(first)

        playing = asyncio.create_task(play_over(engines, cut_off))
        others = [engine.service.registry for engine in engines[1:]]
        await until(lambda: sum(len(registry.here()) for registry in others) >= GAMES)
        cut(first, off=False)
        await until(lambda: not first.service.registry.here())
        await playing
        adopted = [engine.service.metrics.adopted._value.get() for engine in engines]
        assert (0, True) == (adopted[0], sum(adopted) >= GAMES)


async def test_a_silent_owner_shows_nothing_more_and_its_writes_are_fenced(
    tmp_path: Path, url: str
) -> None:
    async with running_replicas(tmp_path, url, 2) as (a, b):
        await settled(a, b)
        game_id = await a.new_game(people(2))
        at_a, at_b = await a.caller("p_0"), await b.caller("p_0")
        stream = await at_a.play(game_id)
        snapshot = await stream.next("snapshot")
        game = a.service.registry.find_running(game_id)
        assert game is not None
        cut(a)
        await until(lambda: runs(b, game_id))
        decision = awaited(snapshot.decisions)
        mover = await b.caller(f"p_{decision.seat}")
        answer = await mover.submit(game_id, "c", decision.decision_id, roll={})
        assert 1 == answer.accepted.seq
        # Awake again, it hasn't beaten yet: it must ask before it shows or does anything.
        a.service.membership._store.cut = False  # type: ignore[attr-defined]
        assert not a.service.membership.certain
        assert 1 == (await at_a.game(game_id)).seq, "answered by the new owner"
        assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason
        await stream.send(attach=pb.Attach(game_id=game_id, after_seq=0))
        assert 1 == (await stream.next("update")).seq
        assert 1 == (await at_b.game(game_id)).seq
        assert game.stopped


async def test_an_owner_that_does_not_know_yet_is_fenced(tmp_path: Path, url: str) -> None:
    async with running_replicas(tmp_path, url, 2, heartbeat_ms=60_000, replica_ttl_ms=120_000) as (
        a,
        b,
    ):
        game_id = await a.new_game(people(2))
        at_a = await a.caller("p_0")
        stream = await at_a.play(game_id)
        decision = awaited((await stream.next("snapshot")).decisions)
        assert 2 == await b.store.claim(game_id, 1, me(b))
        mover = await a.caller(f"p_{decision.seat}")
        answer = await mover.submit(game_id, "c", decision.decision_id, roll={})
        assert answer.HasField("retry")
        assert 1 == a.service.metrics.append_fenced._value.get()
        assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason
        answer = await mover.submit(game_id, "c", decision.decision_id, roll={})
        assert 1 == answer.accepted.seq
        assert (True, False) == (runs(b, game_id), runs(a, game_id))
        assert (me(b), 2) == ((await stored(b, game_id)).owner, (await stored(b, game_id)).epoch)


@pytest.mark.timeout(60)
async def test_when_the_store_is_away_for_all_no_game_moves_and_nobody_loses_a_turn(
    tmp_path: Path, url: str
) -> None:
    async with running_replicas(tmp_path, url, 3) as engines:
        await settled(*engines)
        games = {
            await engine.new_game(people(2), turn_seconds=10): engine
            for engine in engines
            for _ in range(3)
        }
        before = {game_id: await stored(engines[0], game_id) for game_id in games}
        for engine in engines:
            cut(engine)
        await asyncio.sleep(2 * TTL_MS / 1000)
        assert not any(engine.service.membership.certain for engine in engines)
        for engine in engines:
            cut(engine, off=False)
            await asyncio.sleep(TTL_MS / 6_000)
        await settled(*engines)
        for game_id, engine in games.items():
            assert before[game_id] == await stored(engine, game_id)
            assert runs(engine, game_id)
        assert 0 == sum(engine.service.metrics.adopted._value.get() for engine in engines)


async def test_a_game_of_bots_goes_on_though_nobody_asks_when_its_engine_dies(
    tmp_path: Path, url: str
) -> None:
    async with running_replica(tmp_path, url, bot_think_ms=30) as alive:
        async with running_replica(tmp_path, url, bot_think_ms=30) as dies:
            await settled(alive, dies)
            game_id = await dies.new_game([built_in(0), built_in(1)], round_cap=3)
            await until(lambda: dies.service.registry.running()[0].table.seq > 3)
            cut(dies)
        seq = (await stored(alive, game_id)).seq
        await until(lambda: runs(alive, game_id))
        game = alive.service.registry.find_running(game_id)
        assert game is not None
        await until(lambda: game.table.seq > seq)


async def test_resting_games_are_handed_over_without_being_read(tmp_path: Path, url: str) -> None:
    async with running_replicas(tmp_path, url, 2) as (a, b):
        game_id = await a.new_game(people(2))
        game = a.service.registry.find_running(game_id)
        assert game is not None
        due_ms = game.next_due_ms
        await until(lambda: a.service.registry.rest(game))
        await a.service.drain()
        await until(lambda: game_id in b.service.registry.resting())
        rested = b.service.registry.resting()[game_id]
        assert (due_ms, 0, "classic@full") == (rested.next_due_ms, rested.seq, rested.ruleset)
        assert b.service.registry.find_running(game_id) is None
        assert (me(b), 2) == ((await stored(b, game_id)).owner, (await stored(b, game_id)).epoch)
        snapshot = await (await b.caller("p_0")).game(game_id)
        assert due_ms == awaited(snapshot.decisions).deadline_unix_ms


async def test_the_deadlines_of_a_game_in_memory_stay_when_it_is_handed_over(
    tmp_path: Path, url: str
) -> None:
    async with running_replicas(tmp_path, url, 2) as (a, b):
        game_id = await a.new_game(people(2))
        before = await (await a.caller("p_0")).game(game_id)
        await a.service.drain()
        await until(lambda: b.service.registry.find_running(game_id))
        after = await (await b.caller("p_0")).game(game_id)
        assert awaited(before.decisions) == awaited(after.decisions)


async def test_a_replica_that_was_given_a_game_and_dies_leaves_it_to_the_next(
    tmp_path: Path, url: str
) -> None:
    async with running_replica(tmp_path, url) as c:
        async with running_replicas(tmp_path, url, 2) as (a, b):
            await settled(a, b, c)
            # Nobody but b takes games, and it dies before it can be told.
            a.service.membership._living.pop(me(c), None)
            game_id = await a.new_game(people(2))
            assert 2 == await a.store.claim(game_id, 1, me(b))
            cut(b)
            await until(lambda: runs(c, game_id))
        assert (me(c), 3) == ((await stored(c, game_id)).owner, (await stored(c, game_id)).epoch)
        await (await c.caller("p_0")).game(game_id)


async def test_with_the_store_away_in_the_middle_of_a_hand_over_the_games_stay_and_go_on(
    tmp_path: Path, url: str
) -> None:
    async with running_replicas(tmp_path, url, 2, hand_over_ms=1_000) as (a, b):
        await settled(a, b)
        ids = [await a.new_game(people(2)) for _ in range(3)]
        claim = a.store.claim

        async def cut_in_between(game_id: str, epoch: int, owner: str) -> int | None:
            cut(a)
            return await claim(game_id, epoch, owner)

        a.store.claim = cut_in_between  # type: ignore[method-assign]
        await a.service.drain()
        cut(a, off=False)
        await until(lambda: all(runs(a, each) or runs(b, each) for each in ids))
        for game_id in ids:
            owner = {me(a): a, me(b): b}[(await stored(b, game_id)).owner]
            await until(partial(runs, owner, game_id))


async def test_what_is_left_at_the_end_is_nobodys_and_taken_by_the_next(
    tmp_path: Path, url: str
) -> None:
    async with running_replica(tmp_path, url) as only:
        game_id = await only.new_game(people(2))
        reader = only.store
        await only.service.drain()
        assert runs(only, game_id), "there is nobody else"
        assert (await reader.game(game_id)) is not None
    async with running_replica(tmp_path, url) as following:
        assert NOBODY == (await stored(following, game_id)).owner
        await until(lambda: runs(following, game_id))
        assert (me(following), 3) == (
            (await stored(following, game_id)).owner,
            (await stored(following, game_id)).epoch,
        )


@pytest.mark.timeout(60)
async def test_two_versions_of_the_rules_each_keep_their_own_games(
    tmp_path: Path, url: str
) -> None:
    old, new = RulesFit(1), RulesFit(2)
    async with (
        running_replica(tmp_path, url, fit=new) as newer,
        running_replica(tmp_path, url, fit=new) as another,
    ):
        async with running_replica(tmp_path, url, fit=old) as older:
            await settled(newer, another, older)
            game_id = await older.new_game(people(2))
            fresh = await newer.new_game(people(2))
            # Given back by whom it was, it goes to the one that has its rules, not to the others.
            assert 2 == await older.store.claim(game_id, 1, NOBODY)
            older.service.registry.running()[0].let_go()
            await until(lambda: runs(older, game_id))
            assert 0 == (await (await newer.caller("p_0")).game(game_id)).seq
            older_due = (await stored(older, game_id)).epoch
        # The last that has the rules is gone.
        operator = await newer.caller("o", "operator")
        await until(lambda: game_id in newer.service.registry.refused())
        assert older_due + 1 == (await stored(newer, game_id)).epoch
        place = operations_pb.GAME_PLACE_REFUSED
        listed = await operator.operations.ListRunningGames(
            operations_pb.ListRunningGamesRequest(place=place), metadata=operator.metadata
        )
        assert [(game_id, place)] == [(game.game_id, game.place) for game in listed.games]
        seen = await operator.operations.InspectGame(
            operations_pb.InspectGameRequest(game_id=game_id), metadata=operator.metadata
        )
        assert (RUNNING, place) == (seen.state, seen.game.place)
        assert 2 == len(seen.game.seats)
        assert 1 == newer.service.metrics.games_refused.labels("rules")._value.get()
        ended = await operator.allocation.EndGame(
            allocation_pb.EndGameRequest(game_id=game_id, reason="upgrade"),
            metadata=operator.metadata,
        )
        assert VOID == ended.state
        assert ("upgrade", VOID) == (
            (await stored(another, game_id)).end_reason,
            (await stored(another, game_id)).state,
        )
        assert game_id not in newer.service.registry.refused()
        assert runs(newer, fresh)
