"""The connection to Redis, against a real one that is killed, stands still, moves and fails over."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import ResponseError
from redis.crc import key_slot
from structlog.testing import capture_logs

from opolyx_servicekit.errors import ServiceError, StoreBusy, StoreUnavailable
from opolyx_servicekit.redis_client import durability_faults
from opolyx_servicekit.redis_job import Script
from opolyx_servicekit.redis_link import RedisLink
from support_redis import (
    Cluster,
    RedisServer,
    flush,
    free_port,
    move_slot,
    paused,
    redis_cluster,
    redis_server,
)

ADD = Script("add", "return redis.call('INCRBY', KEYS[1], ARGV[1])", repeatable=False)
PUT = Script("put", "return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])")


@pytest.fixture(scope="module")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def server(running_server: RedisServer) -> Iterator[RedisServer]:
    """An empty one, set as it must be."""
    flush(running_server)
    yield running_server
    running_server.command("CONFIG", "SET", "appendfsync", "everysec")
    running_server.command("CONFIG", "SET", "maxmemory-policy", "noeviction")


async def test_scripts_and_commands_get_their_own_answers(server: RedisServer) -> None:
    async with await RedisLink.open(server.url) as link:
        adding = [link.run(ADD, [f"k{number % 7}"], [1]) for number in range(700)]
        await asyncio.gather(*adding)
        assert [b"100"] * 7 == await asyncio.gather(*(link.call("GET", f"k{n}") for n in range(7)))
        assert await link.call("GET", "none") is None
        assert 0 == link.waiting


async def test_a_script_that_redis_forgot_is_sent_again(server: RedisServer) -> None:
    async with await RedisLink.open(server.url) as link:
        for total in range(1, 4):
            answers = await asyncio.gather(*(link.run(ADD, [key], [1]) for key in "ab"))
            assert [total, total] == answers
            server.command("SCRIPT", "FLUSH")


async def test_a_fault_of_a_script_is_raised_and_others_go_on(server: RedisServer) -> None:
    broken = Script("broken", "return redis.call('LPUSH', KEYS[1], 1)")
    async with await RedisLink.open(server.url) as link:
        await link.run(ADD, ["a"], [1])
        outcomes = await asyncio.gather(
            link.run(broken, ["a"]), link.run(ADD, ["b"], [1]), return_exceptions=True
        )
        assert isinstance(outcomes[0], ResponseError)
        assert 1 == outcomes[1]


async def test_more_jobs_than_may_wait_are_refused(server: RedisServer) -> None:
    async with await RedisLink.open(server.url, most_waiting=3) as link:
        server.pause()
        try:
            waiting = [asyncio.create_task(link.run(PUT, ["a"], [n, 1])) for n in range(3)]
            await asyncio.sleep(0)
            with pytest.raises(StoreBusy):
                await link.run(PUT, ["a"], [4, 1])
        finally:
            server.go_on()
        await asyncio.gather(*waiting)
        assert 3 == await link.call("HLEN", "a")


async def test_what_may_be_done_twice_is_asked_for_again(server: RedisServer) -> None:
    async with await RedisLink.open(server.url) as link:
        await link.run(PUT, ["a"], [1, 1])
        still = asyncio.create_task(paused(server, 3.0))
        await asyncio.sleep(0.05)
        assert 0 == await link.run(PUT, ["a"], [2, 1])  # the first sending put it
        await still


async def test_a_lost_answer_of_what_may_be_done_only_once_is_told(server: RedisServer) -> None:
    async with await RedisLink.open(server.url) as link:
        await link.run(ADD, ["a"], [1])
        still = asyncio.create_task(paused(server, 3.0))
        await asyncio.sleep(0.05)
        with pytest.raises(StoreUnavailable):
            await link.run(ADD, ["a"], [1])
        await still
        assert b"2" == await link.call("GET", "a")


async def test_a_redis_that_is_away_for_long_is_told_and_comes_back(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        async with await RedisLink.open(server.url, timeout_seconds=2.0) as link:
            await eventually_put(link, "a", 1)
            server.kill()
            for _ in range(2):
                with pytest.raises(StoreUnavailable):
                    await link.run(PUT, ["a"], [2, 1])
            server.start()
            await eventually_put(link, "a", 3)
            assert [b"1", b"1"] == await link.call("HMGET", "a", 1, 3)


async def test_a_cancelled_caller_leaves_its_place(server: RedisServer) -> None:
    async with await RedisLink.open(server.url, most_waiting=1) as link:
        server.pause()
        try:
            waiting = asyncio.create_task(link.run(PUT, ["a"], [1, 1]))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
            assert 0 == link.waiting
        finally:
            server.go_on()
        await link.run(PUT, ["a"], [2, 1])


async def test_a_closed_link_has_done_what_waited_and_refuses_more(server: RedisServer) -> None:
    link = await RedisLink.open(server.url)
    waiting = [asyncio.create_task(link.run(PUT, ["a"], [n, 1])) for n in range(500)]
    await asyncio.sleep(0)
    await link.close()
    assert [1] * 500 == await asyncio.gather(*waiting)
    with pytest.raises(StoreUnavailable):
        await link.call("GET", "a")


async def test_a_full_redis_is_busy(server: RedisServer) -> None:
    async with await RedisLink.open(server.url) as link:
        server.command("CONFIG", "SET", "maxmemory", 1)
        try:
            with pytest.raises(StoreBusy):
                await link.run(PUT, ["a"], [1, 1])
        finally:
            server.command("CONFIG", "SET", "maxmemory", 0)
        await link.run(PUT, ["a"], [1, 1])


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("appendonly", "no", False),
        ("appendfsync", "no", False),
        ("appendfsync", "always", True),
        ("maxmemory-policy", "allkeys-lru", False),
        ("maxmemory-policy", "volatile-ttl", False),
        ("maxmemory-policy", "noeviction", True),
    ],
)
def test_a_setting_that_lets_redis_forget_is_named(name: str, value: str, kept: bool) -> None:
    faults = durability_faults({name: value})
    assert kept is not bool(faults)
    assert all(name in fault for fault in faults)


async def test_a_redis_that_may_forget_is_refused_unless_that_is_wanted(
    server: RedisServer,
) -> None:
    server.command("CONFIG", "SET", "appendfsync", "no")
    server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    with pytest.raises(ValueError, match=r"appendfsync is no.*maxmemory-policy is allkeys-lru"):
        await RedisLink.open(server.url)
    with capture_logs() as logs:
        async with await RedisLink.open(server.url, require_durable=False) as link:
            await link.run(PUT, ["a"], [1, 1])
    assert ["store_not_durable"] == [log["event"] for log in logs]


async def test_a_redis_that_does_not_show_its_settings_is_warned_of(
    server: RedisServer,
) -> None:
    server.command("ACL", "SETUSER", "app", "on", ">word", "~*", "+@all", "-config")
    with capture_logs() as logs:
        async with await RedisLink.open(server.url.replace("//", "//app:word@")) as link:
            await link.run(PUT, ["a"], [1, 1])
    assert ["store_settings_unknown"] == [log["event"] for log in logs]


async def test_a_wrong_password_is_told_at_once(server: RedisServer) -> None:
    with pytest.raises(ValueError, match="refuses the user"):
        await RedisLink.open(server.url.replace("//", "//app:wrong@"))


@pytest.mark.parametrize(
    "url",
    [
        "redis://",
        "redis:///0",
        "memcached://host",
        "redis+sentinel://host",
        "redis+cluster://",
        "redis+cluster://host:port",
        "redis+cluster://a:1,:2",
        "redis://host:port/0",
        "redis://host/nine",
        "redis+cluster://host:1/0",
    ],
)
async def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="store url"):
        await RedisLink.open(url)


@pytest.mark.parametrize("scheme", ["redis", "redis+cluster"])
async def test_a_redis_that_is_not_there_is_told(scheme: str) -> None:
    url = f"{scheme}://127.0.0.1:{free_port()}"
    with pytest.raises(StoreUnavailable, match="can't be reached"):
        await RedisLink.open(url, wait_seconds=0.1)


async def test_a_redis_that_only_listens_is_told() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        url = f"redis://127.0.0.1:{deaf.getsockname()[1]}/0"
        with pytest.raises(StoreUnavailable, match="can't be reached"):
            await RedisLink.open(url, wait_seconds=0.1, timeout_seconds=1.0)


async def test_a_redis_that_comes_a_little_late_is_waited_for(tmp_path: Path) -> None:
    server = RedisServer(tmp_path)
    opening = asyncio.create_task(RedisLink.open(server.url, wait_seconds=20))
    try:
        await asyncio.to_thread(server.start)
        async with await opening as link:
            await link.run(PUT, ["a"], [1, 1])
    finally:
        server.stop()


async def test_a_write_that_too_few_replicas_have_is_uncertain(tmp_path: Path) -> None:
    with redis_server(tmp_path / "master") as master:
        async with await RedisLink.open(master.url, replicas=1, timeout_seconds=2.0) as link:
            with pytest.raises(StoreUnavailable):
                await link.run(PUT, ["a"], [1, 1])
            options = ("--replicaof", "127.0.0.1", str(master.port))
            with redis_server(tmp_path / "replica", *options) as replica:
                await eventually_put(link, "a", 2)
                assert b"1" == replica.client().hget("a", "2")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with redis_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


async def test_a_url_of_the_other_kind_is_told(server: RedisServer, cluster: Cluster) -> None:
    with pytest.raises(ValueError, match=r"must be redis\+cluster"):
        await RedisLink.open(cluster.servers[0].url)
    with pytest.raises(StoreUnavailable, match="luster"):
        await RedisLink.open(server.url.replace("redis:", "redis+cluster:")[:-2], wait_seconds=0.5)


async def test_a_node_that_comes_back_a_little_later_is_waited_for(cluster: Cluster) -> None:
    cluster.servers[1].kill()
    try:
        opening = asyncio.create_task(RedisLink.open(cluster.url, wait_seconds=30))
        await asyncio.sleep(0.5)  # it is to meet the others first
        assert not opening.done()
    finally:
        await asyncio.to_thread(cluster.servers[1].start)
    async with await opening as link:
        for key in ("a", "b", "c", "d"):
            await eventually_put(link, key, 1)


async def test_a_slot_that_moves_under_load_loses_no_write(cluster: Cluster) -> None:
    """Its keys move one by one: nodes answer ASK and TRYAGAIN, then MOVED."""
    cluster.flush()
    source, target = cluster.servers[0], cluster.servers[1]
    async with await RedisLink.open(cluster.url) as link:
        tag, slot = next((tag, slot) for tag, slot in slots() if slot < 5_000)
        moved = [f"{{{tag}}}:{number}" for number in range(20)]
        stop = asyncio.Event()
        put = dict.fromkeys(moved, 0)

        async def write(key: str) -> None:
            while not stop.is_set():
                await link.run(PUT, [key], [put[key], 1])
                put[key] += 1

        writers = [asyncio.create_task(write(key)) for key in moved]
        await asyncio.sleep(0.2)
        await asyncio.to_thread(move_slot, slot, source, target)
        await asyncio.sleep(0.3)
        stop.set()
        await asyncio.gather(*writers)
        assert {key: await link.call("HLEN", key) for key in moved} == put
        assert all(put.values())


async def test_a_cluster_that_was_away_altogether_comes_back(tmp_path: Path) -> None:
    with redis_cluster(tmp_path) as cluster:
        async with await RedisLink.open(cluster.url, timeout_seconds=2.0) as link:
            keys = [f"k{number}" for number in range(20)]
            await asyncio.gather(*(eventually_put(link, key, 1) for key in keys))
            for server in cluster.servers:
                server.kill()
            for _ in range(2):
                outcomes = await asyncio.gather(
                    *(link.run(PUT, [key], [2, 1]) for key in keys), return_exceptions=True
                )
                assert all(isinstance(outcome, ServiceError) for outcome in outcomes)
            for server in cluster.servers:
                await asyncio.to_thread(server.start)
            for key in keys:
                await eventually_put(link, key, 3)
                assert [b"1", b"1"] == await link.call("HMGET", key, 1, 3)


async def test_a_script_that_only_reads_waits_for_no_replica(server: RedisServer) -> None:
    reads = Script("reads", "return redis.call('GET', KEYS[1])", writes=False)
    server.command("SET", "a", "1")
    async with await RedisLink.open(server.url, replicas=1, timeout_seconds=2.0) as link:
        assert b"1" == await link.run(reads, ("a",))


@pytest.mark.timeout(120)
async def test_what_a_replica_has_survives_the_loss_of_its_master(tmp_path: Path) -> None:
    with redis_cluster(tmp_path, replicas=True) as cluster:
        async with await RedisLink.open(cluster.url, replicas=1) as link:
            keys = [f"k{number}" for number in range(30)]
            stop = asyncio.Event()
            put: dict[str, list[int]] = {key: [] for key in keys}

            async def write(key: str) -> None:
                number = 0
                while not stop.is_set():
                    number += 1
                    try:
                        await link.run(PUT, [key], [number, 1])
                    except ServiceError:
                        await asyncio.sleep(0.1)
                    else:
                        put[key].append(number)

            writers = [asyncio.create_task(write(key)) for key in keys]
            await asyncio.sleep(0.5)
            lost, heir = cluster.servers[0], cluster.replicas[0]
            lost.kill()
            await until(lambda: b"master" in role(heir))
            mine = [key for key in keys if slot_of(key) < 5_000]
            await eventually_read(link, mine[0])
            lost.start()  # as the replica of its heir
            before = {key: len(put[key]) for key in mine}
            await until(lambda: all(len(put[key]) > before[key] for key in mine))
            stop.set()
            await asyncio.gather(*writers)
            for key in keys:
                there = {int(field) for field in await link.call("HKEYS", key)}
                assert set(put[key]) <= there


def role(server: RedisServer) -> list[Any]:
    found: Any = server.command("ROLE")
    return list(found)


async def until(done: Callable[[], bool]) -> None:
    for _ in range(600):
        if done():
            return
        await asyncio.sleep(0.1)
    pytest.fail("it does not come to pass")


async def eventually_read(link: RedisLink, key: str) -> None:
    """Read once it is possible."""
    for _ in range(10):
        try:
            await link.call("HLEN", key)
        except ServiceError:
            continue
        return
    pytest.fail("it can't be read")


async def eventually_put(link: RedisLink, key: str, field: int) -> None:
    """Put once it is possible."""
    for _ in range(100):
        try:
            await link.run(PUT, [key], [field, 1])
        except ServiceError:
            await asyncio.sleep(0.05)
        else:
            return
    pytest.fail("it does not come back")


def slots() -> Iterator[tuple[str, int]]:
    for number in range(1_000):
        yield f"t{number}", slot_of(f"t{number}")


def slot_of(key: str) -> int:
    return key_slot(key.encode())


def text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
