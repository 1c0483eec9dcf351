"""One Redis, or one Redis Cluster: jobs that wait together share a pipeline.

A job is a command or a script. Each node has a lane: one pipeline at a time, in which all jobs go
that came in meanwhile (group commit), so that a node that is away holds up its own jobs only. A job
whose answer got lost is sent again until its time is over; whoever sends it must bear that, see
`Script.repeatable`.
"""

import asyncio
import hashlib
import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

import structlog
from redis import exceptions
from redis.asyncio import RedisCluster
from redis.asyncio.cluster import ClusterNode

from opolyx_servicekit.errors import StoreBusy, StoreUnavailable
from opolyx_servicekit.redis_client import FAULTS, Client, open_client
from opolyx_servicekit.tasks import TaskOwner

_log = structlog.get_logger(__name__)

Value = bytes | str | int
"""What a command may be made of."""

_MOST_A_PIPELINE: Final = 200
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5
_COPY_PART: Final = 0.2  # of a job's time: less than an answer is waited for
# Codes of Redis for "not now": nothing was done. In scripts they stand within the message.
_NOT_NOW: Final = re.compile(
    r"(?:^|-)(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|BUSY|NOREPLICAS)\b"
)
_FULL: Final = re.compile(r"(?:^|-)(?:OOM|MISCONF)\b")
_NOT_NOW_ERRORS: Final = (
    exceptions.BusyLoadingError,
    exceptions.ReadOnlyError,
    exceptions.MasterDownError,
    exceptions.ClusterDownError,
    exceptions.TryAgainError,
    exceptions.AskError,  # and MovedError, its child
)
_LOST_ERRORS: Final = (
    exceptions.ConnectionError,
    exceptions.TimeoutError,
    exceptions.RedisClusterException,
    OSError,
)


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script, atomic where it runs; all its keys must be in one slot."""

    name: str
    """For logs."""

    lua: str
    """Its text."""

    repeatable: bool = True
    """Whether running it twice is as good as once. If not, a lost answer is `StoreUnavailable`."""

    writes: bool = True
    """Whether it may write; if not, no replica is waited for."""

    sha: str = field(init=False)
    """What Redis knows it by."""

    def __post_init__(self) -> None:
        """Hash the text."""
        digest = hashlib.sha1(self.lua.encode(), usedforsecurity=False).hexdigest()
        object.__setattr__(self, "sha", digest)


class _Job:
    """What is to be sent, and where its caller waits."""

    __slots__ = ("asked", "command", "key", "script", "sent", "unsure", "waiter")

    def __init__(self, command: tuple[Value, ...], key: str, script: Script | None) -> None:
        self.asked = time.perf_counter()
        self.command = command
        self.key = key
        self.script = script
        self.sent = False
        self.unsure = False
        self.waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    @property
    def repeatable(self) -> bool:
        return self.script is None or self.script.repeatable

    @property
    def writes(self) -> bool:
        return self.script is not None and self.script.writes

    def as_source(self) -> None:
        """Send the script's text instead of its hash: the node doesn't have it (any more)."""
        if self.script is not None:
            self.command = ("EVAL", self.script.lua, *self.command[2:])

    def succeed(self, answer: object) -> None:
        if not self.waiter.done():
            self.waiter.set_result(answer)

    def fail(self, error: BaseException) -> None:
        if not self.waiter.done():
            self.waiter.set_exception(error)


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
        self._lanes: dict[str, _Lane] = {}
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
            _Job(("EVALSHA", script.sha, len(named), *named, *args), named[0], script)
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
        return await self._do(_Job(command, key or str(command[1]), None))

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

    async def _do(self, job: _Job) -> Any:
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
                raise _unavailable("store did not answer in time") from None
            raise StoreBusy("STORE_UNAVAILABLE", "store could not be asked in time") from None
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._idle.set()

    def _lane_of(self, job: _Job) -> "_Lane":
        node = _node_of(self._client, job.key)
        name = "" if node is None else node.name
        lane = self._lanes.get(name)
        if lane is None:
            copies = (self._replicas, int(self._timeout_seconds * _COPY_PART * 1_000))
            lane = self._lanes[name] = _Lane(self._client, name, copies, self._begun)
            self._tasks.start(lane.run(), name=f"redis lane {name}")
        return lane

    def _begun(self, job: _Job) -> None:
        if job.script is not None:
            self.observe_wait(time.perf_counter() - job.asked)


class _Lane:
    """The jobs of one node, and the task that sends them."""

    def __init__(
        self, client: Client, name: str, copies: tuple[int, int], begun: Callable[[_Job], None]
    ) -> None:
        self._client = client
        self._begun = begun
        self._name = name
        self._replicas, self._copy_ms = copies
        self._jobs: deque[_Job] = deque()
        self._wake = asyncio.Event()
        self._away = False

    def put(self, job: _Job) -> None:
        self._jobs.append(job)
        self._wake.set()

    async def run(self) -> None:
        """Send what is there, again and again."""
        pause_s = 0.0
        while True:
            await self._wake.wait()
            self._wake.clear()
            while jobs := self._next_jobs():
                try:
                    again = await self._send(jobs)
                except Exception as error:  # a bug, but not the end of the lane
                    _log.exception("store_lane_failed", node=self._name)
                    again = []
                    for job in jobs:
                        job.fail(_unavailable("store can't be used", error))
                self._jobs.extendleft(reversed(again))
                pause_s = min(pause_s * 2 or _FIRST_PAUSE_S, _LONGEST_PAUSE_S) if again else 0.0
                if pause_s:
                    await asyncio.sleep(pause_s)

    def _next_jobs(self) -> list[_Job]:
        """The next ones that somebody still waits for."""
        jobs: list[_Job] = []
        while self._jobs and len(jobs) < _MOST_A_PIPELINE:
            job = self._jobs.popleft()
            if not job.waiter.done():
                jobs.append(job)
        return jobs

    async def _send(self, jobs: list[_Job]) -> list[_Job]:
        """Send them in one pipeline; those to be sent again."""
        answers = await self._answers(jobs)
        unknown = [
            job
            for job, answer in zip(jobs, answers, strict=True)
            if isinstance(answer, exceptions.NoScriptError)
        ]
        if unknown:  # nothing is wrong with the node: no reason to pause
            for job in unknown:
                job.as_source()
            missed = iter(await self._answers(unknown))
            answers = [
                next(missed) if isinstance(answer, exceptions.NoScriptError) else answer
                for answer in answers
            ]
        again = [job for job, answer in zip(jobs, answers, strict=True) if self._open(job, answer)]
        if again:
            await self._look_around(next(each for each in answers if isinstance(each, Exception)))
        elif self._away:
            _log.info("store_back", node=self._name)
            self._away = False
        return again

    async def _answers(self, jobs: list[_Job]) -> list[Any]:
        """What the node says to each; an exception where it is none."""
        pipeline = self._client.pipeline(transaction=False)
        for job in jobs:
            if not job.sent:
                job.sent = True
                self._begun(job)
            pipeline.execute_command(*job.command)
        copied = self._with_copies(pipeline, jobs)
        try:
            answers: list[Any] = await pipeline.execute(raise_on_error=False)
        except FAULTS as error:
            return [error] * len(jobs)
        if not copied:
            return answers
        *answers, touched, reached = answers
        if (
            not isinstance(touched, Exception)
            and isinstance(reached, int)
            and reached >= self._replicas
        ):
            return answers
        return [_short_of(self._replicas, answer) for answer in answers]

    def _with_copies(self, pipeline: Any, jobs: list[_Job]) -> bool:
        """Let the pipeline end by waiting for replicas, if it writes and they are asked for.

        Redis waits for what its connection wrote. A job that was done before, on a connection that
        broke, writes nothing now: so something is always written, behind it.
        """
        if not self._replicas or not any(job.writes for job in jobs):
            return False
        key = jobs[0].key
        pipeline.execute_command("SET", f"{_tagged_like(key)}:touched", 1, "PX", 1)
        node = _node_of(self._client, key)
        where = {} if node is None else {"target_nodes": node}
        pipeline.execute_command("WAIT", self._replicas, self._copy_ms, **where)
        return True

    def _open(self, job: _Job, answer: Any) -> bool:
        """Settle a job, unless it must be sent again: then True."""
        if not isinstance(answer, Exception):
            job.succeed(answer)
            return False
        if isinstance(answer, _LOST_ERRORS) and not isinstance(answer, _NOT_NOW_ERRORS):
            job.unsure = True
            if job.repeatable:
                return True
            job.fail(_unavailable("store did not answer", answer))
        elif isinstance(answer, _NOT_NOW_ERRORS) or _NOT_NOW.search(str(answer)):
            return True
        elif isinstance(answer, exceptions.OutOfMemoryError) or _FULL.search(str(answer)):
            busy = StoreBusy("STORE_UNAVAILABLE", "store takes nothing at the moment")
            busy.__cause__ = answer
            job.fail(_unavailable("store takes nothing", answer) if job.unsure else busy)
        elif isinstance(answer, exceptions.ResponseError):
            job.fail(answer)  # a bug in a script
        else:
            job.fail(_unavailable("store can't be used", answer))
        return False

    async def _look_around(self, error: Exception) -> None:
        """After a failure: where is the node now, who is the master?"""
        if not self._away:
            _log.warning("store_away", node=self._name, error=str(error), kind=type(error).__name__)
            self._away = True
        try:
            if isinstance(self._client, RedisCluster):
                await self._client.nodes_manager.initialize()
            else:
                await self._client.connection_pool.disconnect()
        except FAULTS as trouble:
            _log.debug("store_still_away", node=self._name, error=str(trouble))


def _node_of(client: Client, key: str) -> ClusterNode | None:
    """The node of a cluster that a key is on, if there is one now."""
    if not isinstance(client, RedisCluster):
        return None
    try:
        return client.get_node_from_key(key)
    except exceptions.SlotNotCoveredError:
        return None


def _nobody(seconds: float) -> None:
    """Who is told of waits when nobody asked."""


def _tagged_like(key: str) -> str:
    """A key's hash tag, with its braces: what begins with it is in the same slot."""
    tag = key.partition("{")[2].partition("}")[0]
    return f"{{{tag or key}}}"


def _short_of(replicas: int, answer: Any) -> Any:
    """A write that too few replicas have may get lost with its node."""
    if isinstance(answer, Exception):
        return answer
    return exceptions.ConnectionError(f"fewer than {replicas} replicas have the write")


def _unavailable(message: str, cause: Exception | None = None) -> StoreUnavailable:
    error = StoreUnavailable("STORE_UNAVAILABLE", message)
    error.__cause__ = cause
    return error
