"""One Redis, or one Redis Cluster: jobs that wait together share a pipeline.

A job is a command or a script. Each node has a lane (`redis_lane.py`), so that a node that is away
holds up its own jobs only. A job whose answer got lost is sent again until its time is over; whoever
sends it must bear that, see `Script.repeatable`.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final, Self

import structlog

from opolyx_servicekit.errors import StoreBusy, StoreUnavailable
from opolyx_servicekit.redis_client import Client, open_client
from opolyx_servicekit.redis_job import Job, Script, Value
from opolyx_servicekit.redis_lane import Lane, node_of, unavailable
from opolyx_servicekit.tasks import TaskOwner

_log = structlog.get_logger(__name__)

_COPY_PART: Final = 0.2  # of a job's time: less than an answer is waited for


class RedisLink:
    """A connection to Redis for one event loop; safe to share between its tasks."""

    def __init__(
        self,
        client: Client,
        *,
        timeout_seconds: float,
        most_waiting: int,
        replicas: int = 0,
    ) -> None:
        """Send through `client`; see `open`."""
        self.observe_wait: Callable[[float], object] = _nobody
        """Told how many seconds each script waited before it was sent."""
        self._client = client
        self._timeout_seconds = timeout_seconds
        self._most_waiting = most_waiting
        self._replicas = replicas
        self._waiting = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._lanes: dict[str, Lane] = {}
        self._tasks = TaskOwner("redis")
        self._closed = False

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        require_durable: bool = True,
        replicas: int = 0,
        timeout_seconds: float = 5.0,
        wait_seconds: float = 60.0,
        most_waiting: int = 10_000,
    ) -> Self:
        """Connect, and see whether this Redis keeps what it acknowledges.

        Args:
            url: `redis://[user:password@]host:port/db`, `rediss://…` with TLS, or
                `redis+cluster://host:port[,host:port…]`, `rediss+cluster://…`.
            require_durable: refuse a Redis that may forget; otherwise only warn.
            replicas: on how many replicas a write must be before it counts as stored.
            timeout_seconds: how long a job may take, tries again included.
            wait_seconds: how long to wait for a Redis that isn't there yet.
            most_waiting: jobs that may wait; one more is refused with `StoreBusy`.

        Raises:
            ValueError: the URL is none, or this Redis isn't durable, or refuses us.
            StoreUnavailable: it can't be reached.
        """
        client = await open_client(
            url,
            require_durable=require_durable,
            timeout_seconds=timeout_seconds,
            wait_seconds=wait_seconds,
        )
        return cls(
            client,
            timeout_seconds=timeout_seconds,
            most_waiting=most_waiting,
            replicas=replicas,
        )

    @property
    def waiting(self) -> int:
        """How many jobs wait now, those being done included."""
        return self._waiting

    async def run(self, script: Script, keys: Iterable[str], args: Iterable[Value] = ()) -> Any:
        """Run a script and return its answer: bytes, ints, lists and None.

        What it wrote is stored as `open` was told. If this call is cancelled it may still happen.

        Raises:
            StoreBusy: nothing was done: too many jobs wait, Redis is full, or isn't ready.
            StoreUnavailable: whether it was done is unknown; or the link is closed.
        """
        named = tuple(keys)
        return await self._do(
            Job(("EVALSHA", script.sha, len(named), *named, *args), named[0], script)
        )

    async def call(self, *command: Value, key: str = "") -> Any:
        """Do one command that may be done twice, most often a read; its answer as Redis gave it.

        Args:
            command: its name and arguments.
            key: the key it is about; the first argument if empty.

        Raises:
            StoreBusy: as `run`.
            StoreUnavailable: as `run`.
        """
        return await self._do(Job(command, key or str(command[1]), None))

    async def close(self) -> None:
        """Let what waits be finished, within the time of a job, then disconnect."""
        self._closed = True
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._idle.wait()
        except TimeoutError:
            _log.warning("store_closed_with_jobs", waiting=self._waiting)
        await self._tasks.close()
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        """The link itself; it is open already."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        await self.close()

    async def _do(self, job: Job) -> Any:
        if self._closed:
            raise StoreUnavailable("STORE_UNAVAILABLE", "store is closed")
        if self._waiting >= self._most_waiting:
            raise StoreBusy("STORE_UNAVAILABLE", f"{self._most_waiting} jobs wait for the store")
        self._waiting += 1
        self._idle.clear()
        try:
            async with asyncio.timeout(self._timeout_seconds):
                self._lane_of(job).put(job)
                return await job.waiter
        except TimeoutError:
            if job.sent:
                raise unavailable("store did not answer in time") from None
            raise StoreBusy("STORE_UNAVAILABLE", "store could not be asked in time") from None
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._idle.set()

    def _lane_of(self, job: Job) -> Lane:
        node = node_of(self._client, job.key)
        name = "" if node is None else node.name
        lane = self._lanes.get(name)
        if lane is None:
            copies = (self._replicas, int(self._timeout_seconds * _COPY_PART * 1_000))
            lane = self._lanes[name] = Lane(self._client, name, copies, self._begun)
            self._tasks.start(lane.run(), name=f"redis lane {name}")
        return lane

    def _begun(self, job: Job) -> None:
        if job.script is not None:
            self.observe_wait(time.perf_counter() - job.asked)


def _nobody(seconds: float) -> None:
    """Who is told of waits when nobody asked."""
