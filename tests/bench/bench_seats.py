"""How many rooms a second the matchmaker's stores take from opening to the end: `make bench`.

A room is opened, joined, started and over: seven steps of the store for two people. The CPU is this
process's and Redis's own, a room; the bytes are what Redis keeps of a room that is over.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parents[1] / "support"))

from opolyx_matchmaker.grants import NO_GRANT
from opolyx_matchmaker.ids import ROOM, new_code, new_id
from opolyx_matchmaker.peers import Fact, FactKind
from opolyx_matchmaker.room import OPEN_SEAT, Occupant, Room, RoomOptions, RoomState, Seat
from opolyx_matchmaker.room_changes import begin_start, finish_start, join
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.store.opening import open_store
from support_redis import RedisServer, find_redis_server, redis_cluster, redis_server

AT_ONCE: Final = (1, 50)

_MOST_FACTS: Final = 500


def run(*, quick: bool) -> None:
    """Measure each store, and print the table."""
    seconds = 0.5 if quick else 3.0
    print(
        f"\n{'rooms, opened to over':26}{'at once':>8}{'a second':>12}{'CPU us':>10}"
        f"{'Redis us':>10}{'bytes':>10}"
    )
    with tempfile.TemporaryDirectory(prefix="opolyx-bench-") as folder:
        for name, url, server in _stores(Path(folder)):
            for at_once in AT_ONCE:
                asyncio.run(_measure(name, url, server, at_once, seconds))


def _stores(folder: Path) -> Iterator[tuple[str, str, RedisServer | None]]:
    yield "SQLite", f"sqlite:///{folder / 'store.db'}", None
    if find_redis_server() is None:
        print("no redis-server here: Redis is not measured")
        return
    with redis_server(folder / "redis") as server:
        yield "Redis", server.url, server
    with redis_cluster(folder / "cluster") as cluster:
        yield "Redis Cluster", cluster.url, None


async def _measure(
    name: str, url: str, server: RedisServer | None, at_once: int, seconds: float
) -> None:
    async with open_store(MatchmakerSettings(store_url=url)) as store:
        if not await store.hold_lease():
            raise RuntimeError("the store is in use")
        numbers = iter(range(time.time_ns() // 1_000_000, 1 << 50))
        ended: asyncio.Queue[str] = asyncio.Queue(maxsize=_MOST_FACTS)
        follower = asyncio.create_task(_follow(store, ended))
        redis_cpu, kept = _redis_use(server)
        began, cpu = time.perf_counter(), time.process_time()
        until = began + seconds
        counts = await asyncio.gather(
            *(_open_and_end(store, numbers, ended, until) for _ in range(at_once))
        )
        await ended.join()
        took, used = time.perf_counter() - began, time.process_time() - cpu
        rooms = sum(counts)
        redis_after, kept_after = _redis_use(server)
        own = f"{(redis_after - redis_cpu) / rooms * 1e6:10.0f}" if server else f"{'':10}"
        size = f"{(kept_after - kept) / rooms:10.0f}" if server else ""
        print(
            f"{name:26}{at_once:8}{rooms / took:12,.0f}{used / rooms * 1e6:10.0f}{own}{size}",
            flush=True,
        )
        follower.cancel()
        await store.release_lease()


async def _follow(store: Store, ended: asyncio.Queue[str]) -> None:
    """Take the facts that are there at once, as the matchmaker does."""
    number = await store.cursor()
    while True:
        games = [await ended.get()]
        while not ended.empty():
            games.append(ended.get_nowait())
        numbered = enumerate(games, number + 1)
        facts = [Fact(each, game_id, FactKind.GAME_OVER) for each, game_id in numbered]
        number = (await store.apply_facts(facts)).cursor
        for _ in games:
            ended.task_done()


def _redis_use(server: RedisServer | None) -> tuple[float, int]:
    """Seconds of CPU that Redis took so far, and bytes that it keeps."""
    if server is None:
        return 0.0, 0
    with server.client() as client:
        cpu = client.info("cpu")
        memory = client.info("memory")
    used = float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])
    return used, int(memory["used_memory_dataset"])


async def _open_and_end(
    store: Store, numbers: Iterator[int], ended: asyncio.Queue[str], until: float
) -> int:
    count = 0
    while time.perf_counter() < until:
        room = _room(next(numbers))
        guest = Seat(Occupant.PERSON, f"{room.creator_id}_guest", "Guest", nonce=b"n" * 16)
        await store.create_room(room, f"{room.creator_id}/{room.room_id}")
        await store.change_room(room.room_id, lambda now, guest=guest: join(now, guest))  # type: ignore[misc]
        await store.change_room(room.room_id, lambda now: begin_start(now, now.creator_id))
        grants = await store.keep_grants(room.room_id, [NO_GRANT] * 2)
        await store.change_room(room.room_id, lambda now, g=grants: finish_start(now, g))  # type: ignore[misc]
        await ended.put(room.game_id)
        await store.placements(guest.player_id)
        count += 1
    return count


def _room(number: int) -> Room:
    host = Seat(Occupant.PERSON, new_id("p_", number), "Host", nonce=b"n" * 16)
    room_id = new_id(ROOM, number)
    return Room(
        room_id=room_id,
        code=new_code(),
        ruleset="classic@full",
        seats=(host, OPEN_SEAT),
        creator_id=host.player_id,
        public=True,
        options=RoomOptions(),
        state=RoomState.OPEN,
        game_id=f"g_{room_id[2:]}",
        commitment=bytes(32),
        created_ms=number,
        expires_ms=1 << 50,
    )
