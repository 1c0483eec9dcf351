"""The store on Redis when progression and Redis itself are killed, stand still or are full."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from opolyx_progression.audit import audit
from opolyx_progression.deliveries import Delivery, Outcome
from opolyx_progression.facts import FactConsumer
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.store.base import Store
from opolyx_progression.store.redis import RedisStore
from opolyx_progression.store.redis_forms import player_key
from opolyx_servicekit.errors import ServiceError, StoreBusy
from opolyx_servicekit.redis_job import Script, Value
from opolyx_servicekit.redis_link import RedisLink
from opolyx_servicekit.streams import BackOff
from opolyx_servicekit.wall_clock import SystemClock
from support_history import PLAYERS, deliveries
from support_link import DyingLink
from support_progression import (
    duel,
    eventually,
    everything,
    finished_fact,
    new_metrics,
    open_store,
)
from support_redis import RedisServer, flush, paused, redis_cluster, redis_server

MOST_CALLS = 30
GAMES = 400


@pytest.fixture
async def link(redis: RedisServer) -> AsyncIterator[RedisLink]:
    async with await RedisLink.open(redis.url) as opened:
        yield opened


def settled(number: int, *, game: int = 0) -> Delivery:
    return delivery_of(finished_fact(number, duel(f"g{game or number}", "p_a", "p_b")))


async def each_death(
    link: RedisLink, redis: RedisServer, work: Callable[[RedisStore], Awaitable[object]]
) -> AsyncIterator[RedisStore]:
    """Do `work` dying at every call to Redis in turn; a store that lives, after each death."""
    for after_effect in (False, True):
        for dies_at in range(MOST_CALLS):
            flush(redis)
            dies = DyingLink(link, dies_at, after_effect=after_effect)
            try:
                await work(RedisStore(cast("RedisLink", dies)))
            except ServiceError:
                assert dies.dead
            yield RedisStore(link)
            if not dies.dead:
                break
        else:
            pytest.fail("the work has more calls than are tried")


@pytest.mark.rule("XP-7")
async def test_a_43_facts_take_effect_once_wherever_their_consumer_died(
    link: RedisLink, redis: RedisServer, tmp_path: Path
) -> None:
    """Case A-43: it dies before and after every call to Redis; the next begins at the cursor."""
    told = deliveries()
    async with open_store(tmp_path / "smooth.db") as smooth:
        await smooth.apply(told, now_ms=1)
        expected = await everything(smooth, PLAYERS)

    async def consume(store: Store) -> None:
        after = await store.cursor()
        waiting = [delivery for delivery in told if delivery.number > after]
        while waiting:
            await store.apply(waiting[:5], now_ms=1)
            waiting = waiting[5:]

    deaths = 0
    async for store in each_death(link, redis, consume):
        await consume(store)
        assert expected == await everything(store, PLAYERS)
        assert 0 == (await audit(store, count_boards=True)).drift
        deaths += 1
    assert deaths > 20


async def test_an_operator_is_heard_once_wherever_progression_died(
    link: RedisLink, redis: RedisServer
) -> None:
    async def say(store: Store) -> None:
        await store.set_vip("p_a", vip=True, reason="paid", operator="o_1", now_ms=1)

    async for store in each_death(link, redis, say):
        heard = await store.entitlement_changes("", before=0, limit=9)
        assert len(heard) == (await store.profile("p_a")).vip
        assert [] == await store.strayed_entitlements()
        await say(store)
        assert (await store.profile("p_a")).vip
        assert len(heard) + 1 == len(await store.entitlement_changes("p_a", before=0, limit=9))


class LosingLink:
    """A link that loses the answer of a script: others go on, then the script is sent again."""

    def __init__(self, inner: RedisLink, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._inner = inner
        self._meanwhile = meanwhile

    async def run(self, script: Script, keys: Iterable[str], args: Iterable[Value] = ()) -> Any:
        keys, args = tuple(keys), tuple(args)
        await self._inner.run(script, keys, args)
        await self._meanwhile()
        return await self._inner.run(script, keys, args)

    async def call(self, *command: Value, key: str = "") -> Any:
        return await self._inner.call(*command, key=key)


@pytest.mark.rule("XP-7")
async def test_xp_7_a_change_whose_answer_got_lost_is_made_once_though_others_followed(
    link: RedisLink,
) -> None:
    other = RedisStore(link)
    losing = RedisStore(
        cast("RedisLink", LosingLink(link, lambda: other.apply([settled(2)], now_ms=1)))
    )

    assert [Outcome.SETTLED] == await losing.apply([settled(1)], now_ms=1)

    assert ["g1", "g2"] == [one.game_id for one in await other.results(after=0, limit=9)]
    assert 500 == (await other.profile("p_a")).standing.xp


async def test_what_an_operator_said_is_not_said_again_after_another(link: RedisLink) -> None:
    other = RedisStore(link)

    async def takes_it_back() -> None:
        await other.set_vip("p_a", vip=False, reason="refund", operator="o_2", now_ms=2)

    losing = RedisStore(cast("RedisLink", LosingLink(link, takes_it_back)))
    await losing.set_vip("p_a", vip=True, reason="paid", operator="o_1", now_ms=1)

    assert not (await other.profile("p_a")).vip
    changes = await other.entitlement_changes("p_a", before=0, limit=9)
    assert ["refund", "paid"] == [change.reason for change in changes]


@pytest.mark.rule("XP-7")
async def test_xp_7_redis_that_stands_still_longer_than_an_answer_is_waited_for_pays_once(
    link: RedisLink, redis: RedisServer
) -> None:
    store = RedisStore(link)
    await store.apply([settled(1)], now_ms=1)  # now Redis has the script
    still = asyncio.create_task(paused(redis, 2.5))
    await asyncio.sleep(0.05)
    assert [Outcome.SETTLED] == await store.apply([settled(2)], now_ms=1)
    await still
    assert 500 == (await store.profile("p_a")).standing.xp
    assert 2 == await store.last_sequence()


async def test_a_full_redis_changes_nothing(link: RedisLink, redis: RedisServer) -> None:
    store = RedisStore(link)
    await store.apply([settled(1)], now_ms=1)
    before = await everything(store, PLAYERS)
    redis.command("CONFIG", "SET", "maxmemory", 1)
    try:
        with pytest.raises(StoreBusy):
            await store.apply([settled(2)], now_ms=1)
        with pytest.raises(StoreBusy):
            await store.set_vip("p_a", vip=True, reason="r", operator="o", now_ms=1)
        assert before == await everything(store, PLAYERS)
    finally:
        redis.command("CONFIG", "SET", "maxmemory", 0)
    assert [Outcome.SETTLED] == await store.apply([settled(2)], now_ms=1)
    assert 0 == (await audit(store)).drift


async def test_a_player_who_cannot_be_read_holds_up_no_other(
    link: RedisLink, redis: RedisServer
) -> None:
    store = RedisStore(link)
    await store.apply([settled(1)], now_ms=1)
    record = await link.call("GET", player_key("p_b"))
    redis.command("SET", player_key("p_b"), "[]")
    others = delivery_of(finished_fact(3, duel("g3", "p_c", "p_d")))

    assert [Outcome.BURIED, Outcome.SETTLED] == await store.apply([settled(2), others], now_ms=1)

    assert ["p_a", "p_c", "p_b", "p_d"] == [
        row.player_id for row in (await store.top("xp", 9)).rows
    ]
    assert {"standing", "rating"} <= {drift.kind for drift in (await audit(store)).drifts}
    await link.call("SET", player_key("p_b"), record)
    assert [Outcome.SETTLED] == await store.apply([settled(2)], now_ms=1)
    assert 0 == (await audit(store)).drift


class Telling:
    """Tells facts in small batches from the cursor on, as fast as they are taken."""

    async def watch(self, after: int) -> AsyncGenerator[list[Delivery], None]:
        while after < GAMES:
            yield [settled(number) for number in range(after + 1, min(after + 4, GAMES + 1))]
            after += 3
            await asyncio.sleep(0.002)
        await asyncio.Event().wait()

    def parse(self, raw: bytes) -> Delivery:
        raise NotImplementedError


def consumer_on(store: Store) -> FactConsumer:
    return FactConsumer(
        Telling(),
        store,
        SystemClock(),
        new_metrics(),
        quiet_seconds=60,
        back_off=BackOff(0.01, 0.1),
    )


async def consume_under(url: str, outages: Callable[[], Awaitable[None]]) -> None:
    """Two consumers take the same facts while Redis has outages; each game is paid once."""
    async with await RedisLink.open(url) as one, await RedisLink.open(url) as two:
        stores = [RedisStore(one), RedisStore(two)]
        consuming = [asyncio.create_task(consumer_on(store).run()) for store in stores]
        await outages()
        acknowledged = 0

        async def over() -> bool:
            nonlocal acknowledged
            try:
                cursor = await stores[0].cursor()
            except ServiceError:
                return False
            assert cursor >= acknowledged, "what was shown is never taken back"
            acknowledged = cursor
            return cursor >= GAMES

        await eventually(over, seconds=60)
        for task in consuming:
            assert not task.done()
            task.cancel()
        await asyncio.gather(*consuming, return_exceptions=True)
        report = await audit(stores[0], count_boards=True)
        assert (GAMES, 2 * GAMES, 0) == (report.games, report.awards, report.drift)
        assert 250 * GAMES == (await stores[1].profile("p_a")).standing.xp
        assert 0 == await stores[1].dead_letter_count()


@pytest.mark.rule("XP-7")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("cluster", [False, True], ids=["redis", "redis+cluster"])
async def test_xp_7_nothing_is_lost_or_paid_twice_when_redis_is_killed(
    tmp_path: Path, cluster: bool
) -> None:
    """Killed with -9 under load and started again from its AOF, twice."""

    async def killed(servers: list[RedisServer]) -> None:
        for _ in range(2):
            await asyncio.sleep(0.3)
            for server in servers:
                server.kill()
            await asyncio.sleep(0.2)
            for server in servers:
                await asyncio.to_thread(server.start)

    if cluster:
        with redis_cluster(tmp_path) as found:
            await consume_under(found.url, lambda: killed(found.servers))
    else:
        with redis_server(tmp_path) as server:
            await consume_under(server.url, lambda: killed([server]))


@pytest.mark.rule("XP-7")
@pytest.mark.timeout(120)
async def test_xp_7_nothing_is_lost_or_paid_twice_when_redis_is_away_for_long(
    tmp_path: Path,
) -> None:
    """Longer than any call waits; meanwhile callers are told to come again."""
    with redis_server(tmp_path) as server:

        async def away() -> None:
            async with await RedisLink.open(server.url, timeout_seconds=2.0) as link:
                await asyncio.sleep(0.3)
                server.kill()
                with pytest.raises(ServiceError) as told:
                    await RedisStore(link).profile("p_a")
                assert "STORE_UNAVAILABLE" == told.value.reason
                assert told.value.retry_after_ms
            await asyncio.sleep(6)
            await asyncio.to_thread(server.start)

        await consume_under(server.url, away)
