"""Of several matchmakers on one Redis one writes; what the others try has no effect."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import cast

import pytest

from opolyx_matchmaker.accounts import Account, Revocation
from opolyx_matchmaker.peers import Fact, FactKind
from opolyx_matchmaker.room_changes import end
from opolyx_matchmaker.store.base import LeaseLost
from opolyx_matchmaker.store.redis import RedisStore
from opolyx_matchmaker.store.redis_keys import ACCOUNTS, LEASE
from opolyx_matchmaker.store.redis_lease import RedisLease
from opolyx_matchmaker.store.redis_scripts import ADD_ACCOUNT
from opolyx_servicekit.errors import StoreUnavailable
from opolyx_servicekit.redis_link import RedisLink
from support_link import DyingLink
from support_lobby import DictEngine, Grants, Process, player, wish
from support_redis import RedisServer

LEASE_S = 6.0


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def link(server: RedisServer) -> AsyncIterator[RedisLink]:
    async with await RedisLink.open(server.url) as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def write(lease: RedisLease, name: str = "x") -> None:
    await lease.write(ADD_ACCOUNT, (f"{{matchmaker}}:account:{name}", ACCOUNTS), (name, "[]", 1))


async def test_the_first_has_it_and_keeps_it_as_long_as_it_is_heard(
    link: RedisLink, clock: Clock
) -> None:
    first, second = (RedisLease(link, LEASE_S, monotonic=clock) for _ in range(2))
    assert await first.hold()
    for _ in range(10):
        clock.now += LEASE_S / 2
        assert not await second.hold()
        assert await first.hold()
    await write(first)
    with pytest.raises(LeaseLost):
        await write(second)


async def test_a_holder_that_is_heard_at_the_last_moment_keeps_it(
    link: RedisLink, clock: Clock
) -> None:
    first, second = (RedisLease(link, LEASE_S, monotonic=clock) for _ in range(2))
    assert await first.hold()
    assert not await second.hold()
    clock.now += LEASE_S
    assert await first.hold()
    assert not await second.hold()
    await write(first)


async def test_a_silent_holder_loses_it_after_a_lease_and_what_it_sends_is_refused(
    link: RedisLink, clock: Clock
) -> None:
    first, second = (RedisLease(link, LEASE_S, monotonic=clock) for _ in range(2))
    fenced: list[str] = []
    first.observe_fenced = lambda: fenced.append("first")
    assert await first.hold()
    assert not await second.hold()
    clock.now += LEASE_S - 0.1
    assert not await second.hold()
    clock.now += 0.1
    assert await second.hold()
    with pytest.raises(LeaseLost):
        await write(first, "late")
    assert fenced == ["first"]
    assert await link.call("EXISTS", "{matchmaker}:account:late") == 0
    assert not await first.hold()
    await write(second)


async def test_two_that_wait_for_a_silent_holder_do_not_both_get_it(
    link: RedisLink, clock: Clock
) -> None:
    first, *others = (RedisLease(link, LEASE_S, monotonic=clock) for _ in range(6))
    assert await first.hold()
    assert not any([await one.hold() for one in others])
    clock.now += LEASE_S
    assert 1 == sum(await asyncio.gather(*(one.hold() for one in others)))


async def test_released_it_is_the_next_one_s_at_once(link: RedisLink, clock: Clock) -> None:
    first, second = (RedisLease(link, LEASE_S, monotonic=clock) for _ in range(2))
    assert await first.hold()
    await second.release()  # it has none: nothing happens
    assert not await second.hold()
    await first.release()
    assert await second.hold()
    with pytest.raises(LeaseLost):
        await write(first)


async def test_after_an_outage_the_holder_has_a_whole_lease_to_be_heard_again(
    link: RedisLink, clock: Clock
) -> None:
    """Who waits must not count the time in which nobody could be heard."""
    first = RedisLease(link, LEASE_S, monotonic=clock)
    broken = DyingLink(link, 1, after_effect=False)
    second = RedisLease(cast("RedisLink", broken), LEASE_S, monotonic=clock)
    assert await first.hold()
    assert not await second.hold()
    clock.now += 30
    with pytest.raises(StoreUnavailable):
        await second.hold()
    broken.revive()
    assert not await second.hold()
    clock.now += LEASE_S - 0.1
    assert not await second.hold()
    clock.now += 0.1
    assert await second.hold()


async def test_a_lease_whose_answer_was_lost_is_held(link: RedisLink, clock: Clock) -> None:
    broken = DyingLink(link, 0, after_effect=True)
    lease = RedisLease(cast("RedisLink", broken), LEASE_S, monotonic=clock)
    with pytest.raises(StoreUnavailable):
        await lease.hold()
    broken.revive()
    assert await lease.hold()
    await write(lease)


async def test_each_taking_has_a_fence_of_its_own_even_if_redis_forgot_the_epoch(
    link: RedisLink, clock: Clock
) -> None:
    """A fail-over may lose the last taking: the same epoch must not be two processes' fence."""
    first, second = (RedisLease(link, LEASE_S, monotonic=clock) for _ in range(2))
    assert await first.hold()
    await link.call("DEL", LEASE)
    assert await second.hold()
    assert b"1" == await link.call("HGET", LEASE, "epoch")
    with pytest.raises(LeaseLost):
        await write(first)


async def test_nothing_of_a_store_without_the_lease_has_an_effect(server: RedisServer) -> None:
    """Every method that writes is tried; what is there afterwards is what was there before."""
    async with AsyncExitStack() as stack:
        stores = []
        for _ in range(2):
            link = await stack.enter_async_context(await RedisLink.open(server.url))
            stores.append(RedisStore(link, LEASE_S))
        holder, other = stores
        assert await holder.hold_lease()
        engine = DictEngine()
        process = Process(holder, engine, Grants())
        room = await process.lobby.create(player("ada"), wish())
        await process.lobby.add_built_in(player("ada"), room.room_id, "steady", None)
        await process.lobby.start(player("ada"), room.room_id)
        await holder.add_account(Account("p_bo", "Bo", "player"), 1)
        await holder.add_token("t", "p_ada", 5)
        before = _contents(server)
        refused: list[int] = []
        other.tell_fenced(lambda: refused.append(1))
        writes: tuple[Awaitable[object], ...] = (
            other.create_room(
                replace(room, room_id="r_x", game_id="g_x", code="X", seats=()), "other"
            ),
            other.change_room(room.room_id, end),
            other.keep_grants(room.room_id, []),
            other.rooms_to_check(1 << 50, 1, 10),
            other.apply_facts([Fact(1, room.game_id, FactKind.GAME_OVER)]),
            other.add_account(Account("p_x", "X", "player"), 1),
            other.take_bot(Account("b_x", "X", "bot", "p_ada"), 1, 5),
            other.add_token("t_x", "p_ada", 5),
            other.add_revocation(Revocation("t_x", until_ms=5)),
            other.forget_accounts("", 1 << 50, 10),
            other.forget(1 << 50, 1 << 50),
        )
        for attempt in writes:
            with pytest.raises(LeaseLost):
                await attempt
        assert 11 == len(refused)
        assert before == _contents(server)
        await process.die()


def _contents(server: RedisServer) -> dict[bytes, bytes]:
    """All keys with what they hold."""
    with server.client() as client:
        return {key: bytes(client.dump(key) or b"") for key in client.keys("*")}
