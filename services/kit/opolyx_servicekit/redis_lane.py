"""The jobs of one node of Redis, in one pipeline at a time.

All jobs go in it that came in meanwhile (group commit). One whose answer got lost is sent again
until its time is over, if it may be.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from typing import Any, Final

import structlog
from redis import exceptions
from redis.asyncio import RedisCluster
from redis.asyncio.cluster import ClusterNode

from opolyx_servicekit.errors import StoreBusy, StoreUnavailable
from opolyx_servicekit.redis_client import FAULTS, Client
from opolyx_servicekit.redis_job import Job

_log = structlog.get_logger(__name__)

_MOST_A_PIPELINE: Final = 200
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5
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


class Lane:
    """The jobs of one node, and the task that sends them."""

    def __init__(
        self, client: Client, name: str, copies: tuple[int, int], begun: Callable[[Job], None]
    ) -> None:
        """No job yet.

        Args:
            client: sends.
            name: of the node; empty if there is only one.
            copies: how many replicas must have a write, and how long they may take, milliseconds.
            begun: told of each job when it is sent for the first time.
        """
        self._client = client
        self._begun = begun
        self._name = name
        self._replicas, self._copy_ms = copies
        self._jobs: deque[Job] = deque()
        self._wake = asyncio.Event()
        self._away = False

    def put(self, job: Job) -> None:
        """Send a job as soon as those before it are through."""
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
                        job.fail(unavailable("store can't be used", error))
                self._jobs.extendleft(reversed(again))
                pause_s = min(pause_s * 2 or _FIRST_PAUSE_S, _LONGEST_PAUSE_S) if again else 0.0
                if pause_s:
                    await asyncio.sleep(pause_s)

    def _next_jobs(self) -> list[Job]:
        """The next ones that somebody still waits for."""
        jobs: list[Job] = []
        while self._jobs and len(jobs) < _MOST_A_PIPELINE:
            job = self._jobs.popleft()
            if not job.waiter.done():
                jobs.append(job)
        return jobs

    async def _send(self, jobs: list[Job]) -> list[Job]:
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

    async def _answers(self, jobs: list[Job]) -> list[Any]:
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

    def _with_copies(self, pipeline: Any, jobs: list[Job]) -> bool:
        """Let the pipeline end by waiting for replicas, if it writes and they are asked for.

        Redis waits for what its connection wrote. A job that was done before, on a connection that
        broke, writes nothing now: so something is always written, behind it.
        """
        if not self._replicas or not any(job.writes for job in jobs):
            return False
        key = jobs[0].key
        pipeline.execute_command("SET", f"{_tagged_like(key)}:touched", 1, "PX", 1)
        node = node_of(self._client, key)
        where = {} if node is None else {"target_nodes": node}
        pipeline.execute_command("WAIT", self._replicas, self._copy_ms, **where)
        return True

    def _open(self, job: Job, answer: Any) -> bool:
        """Settle a job, unless it must be sent again: then True."""
        if not isinstance(answer, Exception):
            job.succeed(answer)
            return False
        if isinstance(answer, _LOST_ERRORS) and not isinstance(answer, _NOT_NOW_ERRORS):
            job.unsure = True
            if job.repeatable:
                return True
            job.fail(unavailable("store did not answer", answer))
        elif isinstance(answer, _NOT_NOW_ERRORS) or _NOT_NOW.search(str(answer)):
            return True
        elif isinstance(answer, exceptions.OutOfMemoryError) or _FULL.search(str(answer)):
            busy = StoreBusy("STORE_UNAVAILABLE", "store takes nothing at the moment")
            busy.__cause__ = answer
            job.fail(unavailable("store takes nothing", answer) if job.unsure else busy)
        elif isinstance(answer, exceptions.ResponseError):
            job.fail(answer)  # a bug in a script
        else:
            job.fail(unavailable("store can't be used", answer))
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


def node_of(client: Client, key: str) -> ClusterNode | None:
    """The node of a cluster that a key is on, if there is one now."""
    if not isinstance(client, RedisCluster):
        return None
    try:
        return client.get_node_from_key(key)
    except exceptions.SlotNotCoveredError:
        return None


def _tagged_like(key: str) -> str:
    """A key's hash tag, with its braces: what begins with it is in the same slot."""
    tag = key.partition("{")[2].partition("}")[0]
    return f"{{{tag or key}}}"


def _short_of(replicas: int, answer: Any) -> Any:
    """A write that too few replicas have may get lost with its node."""
    if isinstance(answer, Exception):
        return answer
    return exceptions.ConnectionError(f"fewer than {replicas} replicas have the write")


def unavailable(message: str, cause: Exception | None = None) -> StoreUnavailable:
    """An error that leaves open whether the job was done."""
    error = StoreUnavailable("STORE_UNAVAILABLE", message)
    error.__cause__ = cause
    return error
