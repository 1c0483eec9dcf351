"""The matchmaker's store when Redis is killed, stands still, is away for long, or is full.

`OPOLYX_AWAY_SECONDS=30 pytest tests/contract/matchmaker/test_redis_outages.py` is away for longer.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from redis.crc import key_slot

from opolyx_matchmaker.room import Room, RoomState
from opolyx_matchmaker.room_changes import end
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.store.opening import open_store
from opolyx_matchmaker.store.redis_keys import LEASE
from opolyx_servicekit.errors import EnvironmentFault, StoreBusy
from support_lobby import DictEngine, Grants, Process, player, wish
from support_redis import Cluster, RedisServer, move_slot, paused, redis_server

T = TypeVar("T")

AWAY_SECONDS: Final = float(os.environ.get("OPOLYX_AWAY_SECONDS", "6"))
COUPLES: Final = 6


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path / "redis") as running:
        yield running


@pytest.fixture
async def store(server: RedisServer) -> AsyncIterator[Store]:
    async with open_store(MatchmakerSettings(store_url=server.url)) as opened:
        assert await opened.hold_lease()
        yield opened


class Couple:
    """Two who open a room, meet in it, play, and begin anew, each call until it is answered."""

    def __init__(self, process: Process, engine: DictEngine, number: int) -> None:
        self._process = process
        self._engine = engine
        self._number = number
        self.rooms: list[Room] = []
        """The rooms whose start was acknowledged."""
        self.retries = 0
        self.stops = False
        self._news = asyncio.Event()

    async def play(self) -> None:
        """Go on until told to stop; at the end both are free."""
        host, guest = (player(f"{who}{self._number}") for who in ("host", "guest"))
        lobby = self._process.lobby
        while not self.stops:
            wanted = wish(f"{self._number}-{len(self.rooms)}")
            room = await self._until_done(partial(lobby.create, host, wanted))
            await self._until_done(partial(lobby.join, guest, room.room_id, "", b""))
            game_id = await self._until_done(partial(lobby.start, host, room.room_id))
            self.rooms.append(room)
            self._news.set()
            self._engine.finish(game_id)
            while not await self._until_done(lambda: self._is_free(guest.subject)):
                await self._until_done(self._process.hear)

    async def until_played(self, games: int) -> None:
        """Wait until so many starts were acknowledged."""
        while len(self.rooms) < games:
            self._news.clear()
            await self._news.wait()

    async def _is_free(self, player_id: str) -> bool:
        return not await self._process.parts.store.placements(player_id)

    async def _until_done(self, work: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                return await work()
            except EnvironmentFault:
                self.retries += 1
                await asyncio.sleep(0.05)


async def kill(server: RedisServer) -> None:
    """Killed with -9, and started again a little later."""
    server.kill()
    await asyncio.sleep(0.3)
    await asyncio.to_thread(server.start)


async def stand_still(server: RedisServer) -> None:
    """For longer than one answer is waited for: it is asked again, and had done it."""
    await paused(server, 2.5)


async def be_away_for_long(server: RedisServer) -> None:
    """For longer than anybody waits for an answer."""
    server.kill()
    await asyncio.sleep(AWAY_SECONDS)
    await asyncio.to_thread(server.start)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("outage", [kill, stand_still, be_away_for_long])
async def test_nothing_acknowledged_is_lost_and_nothing_done_twice(
    store: Store, server: RedisServer, outage: Callable[[RedisServer], Coroutine[Any, Any, None]]
) -> None:
    retries = await _play_over(store, lambda: outage(server))
    if outage is be_away_for_long:
        assert retries


async def test_nothing_is_lost_while_the_slot_moves_to_another_node(
    running_cluster: Cluster,
) -> None:
    running_cluster.flush()
    settings = MatchmakerSettings(store_url=running_cluster.url)
    async with open_store(settings) as store:
        assert await store.hold_lease()
        slot = key_slot(LEASE.encode())
        source = next(each for each in running_cluster.servers if each.command("DBSIZE"))
        target = next(each for each in running_cluster.servers if each is not source)
        try:
            await _play_over(store, lambda: asyncio.to_thread(move_slot, slot, source, target))
        finally:
            await asyncio.to_thread(move_slot, slot, target, source)


async def _play_over(store: Store, outage: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Play before, during and after an outage, and see what is there; how many calls failed."""
    engine = DictEngine()
    process = Process(store, engine, Grants())
    couples = [Couple(process, engine, number) for number in range(COUPLES)]
    playing = [asyncio.create_task(couple.play()) for couple in couples]
    await asyncio.gather(*(couple.until_played(2) for couple in couples))
    await outage()
    await asyncio.gather(*(couple.until_played(len(couple.rooms) + 2) for couple in couples))
    for couple in couples:
        couple.stops = True
    await asyncio.gather(*playing)

    started = [room for couple in couples for room in couple.rooms]
    for room in started:
        kept = await store.get_room(room.room_id)
        assert kept is not None
        assert (RoomState.STARTED, True) == (kept.state, kept.over)
    assert {room.game_id for room in started} == set(engine.games)
    assert {1} == set(engine.made.values())
    assert len(engine.told) == await store.cursor()
    for number in range(COUPLES):
        for who in ("host", "guest"):
            assert [] == await store.placements(f"p_{who}{number}")
    assert await store.hold_lease(), "who serves goes on to"
    await process.die()
    return sum(couple.retries for couple in couples)


async def test_a_full_redis_takes_nothing_or_all(store: Store, server: RedisServer) -> None:
    process = Process(store, DictEngine(), Grants())
    ada, bo = player("ada"), player("bo")
    room = await process.lobby.create(ada, wish(seats=3))
    server.command("CONFIG", "SET", "maxmemory", 1)
    for attempt in (
        process.lobby.create(bo, wish("2")),
        process.lobby.join(bo, room.room_id, "", b""),
        store.change_room(room.room_id, end),
    ):
        with pytest.raises(StoreBusy):
            await attempt
    assert room == await store.get_room(room.room_id)
    assert [] == await store.placements("p_bo")
    with pytest.raises(StoreBusy):  # nobody else gets it either
        await store.hold_lease()

    server.command("CONFIG", "SET", "maxmemory", 0)
    assert await store.hold_lease()
    await process.lobby.join(bo, room.room_id, "", b"")
    assert [room.room_id] == [one.room_id for one in await store.placements("p_bo")]
    await process.die()
