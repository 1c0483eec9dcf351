"""A SQLite file shared by tasks and services: one writer, group commit, acknowledged means stored.

Threads: the writer (jobs that wait together share one transaction), the reader (its own
connection, each read a consistent snapshot), and the checkpointer, which copies the write-ahead
log back in the background so that no commit pays for it.
"""

import asyncio
import contextlib
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Final, Generic, Literal, Self, TypeVar

import structlog

from opolyx_servicekit.errors import ServiceError, StoreBusy, StoreUnavailable
from opolyx_servicekit.migrations import migrate

_log = structlog.get_logger(__name__)

T = TypeVar("T")

_SCHEME: Final = "sqlite:///"
_MOST_JOBS_A_COMMIT: Final = 1_000
_CHECKPOINT_SECONDS: Final = 0.5
_CHECKPOINT_BYTES: Final = 4 << 20
_LARGEST_LOG_BYTES: Final = 64 << 20  # past it the writer itself lets the log start over
_AWAY: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    }
)


def sqlite_path(store_url: str) -> Path:
    """The file of `sqlite:///relative.db` or `sqlite:////absolute.db`; raises ValueError."""
    path = store_url.removeprefix(_SCHEME)
    if path == store_url or not path:
        raise ValueError(f"store url {store_url!r} is not {_SCHEME}<file>")
    return Path(path)


class _Job(Generic[T]):
    """One function waiting for the writer, and where its caller waits."""

    __slots__ = ("error", "loop", "result", "waiter", "work")

    def __init__(self, work: Callable[[sqlite3.Connection], T]) -> None:
        self.work = work
        self.loop = asyncio.get_running_loop()
        self.waiter: asyncio.Future[T] = self.loop.create_future()
        self.error: BaseException | None = None
        self.result: T | None = None

    def settle(self) -> None:
        """On the caller's loop: hand over the outcome."""
        if self.waiter.done():
            return
        if self.error is not None:
            self.waiter.set_exception(self.error)
        else:
            self.waiter.set_result(self.result)  # type: ignore[arg-type]


class SqliteFile:
    """One SQLite file in WAL mode; safe to share between tasks, loops and services."""

    def __init__(
        self,
        path: Path,
        *,
        synchronous: Literal["FULL", "NORMAL"] = "FULL",
        most_waiting: int = 10_000,
        busy_timeout_ms: int = 5_000,
    ) -> None:
        """Open the file, made if absent, and start the threads.

        Args:
            path: made for its owner's eyes only, and its directory, if absent.
            synchronous: FULL survives a power cut; NORMAL a killed process only.
            most_waiting: writes, and reads, that may wait; one more is refused with `StoreBusy`.
            busy_timeout_ms: how long to wait for another process that writes.

        Raises:
            sqlite3.Error: it can't be opened.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_private(path)
        self.path = path
        self._most_waiting = most_waiting
        self._busy_timeout_ms = busy_timeout_ms
        self._wal = path.with_name(path.name + "-wal")
        self._writing = self._connect(synchronous)
        self._reading = self._connect(synchronous)
        self._reading.execute("PRAGMA query_only = ON")
        self._jobs: deque[_Job[object]] = deque()
        self._wake = threading.Condition()
        self._closing = threading.Event()
        self._reads_waiting = 0
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="sqlite-reader")
        self._writer_thread = threading.Thread(
            target=self._write_loop, name="sqlite-writer", daemon=True
        )
        self._checkpointer_thread = threading.Thread(
            target=self._checkpoint_loop, name="sqlite-checkpointer", daemon=True
        )
        self._writer_thread.start()
        self._checkpointer_thread.start()

    @property
    def waiting(self) -> int:
        """How many writes wait now."""
        return len(self._jobs)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction and return its result once that is on disk.

        `work` runs on the writer's thread and must neither commit nor wait. If it raises, what it
        changed is undone and its error is raised here; others in the same commit aren't touched.
        If this call is cancelled the write may still happen.

        Raises:
            StoreBusy: too many writes wait; nothing was done.
            StoreUnavailable: the commit failed, or the file is closed.
        """
        job = _Job(work)
        with self._wake:
            if self._closing.is_set():
                raise StoreUnavailable("STORE_UNAVAILABLE", "store is closed")
            if len(self._jobs) >= self._most_waiting:
                raise StoreBusy(
                    "STORE_UNAVAILABLE", f"{self._most_waiting} writes wait for the store"
                )
            self._jobs.append(job)  # type: ignore[arg-type]
            self._wake.notify()
        return await job.waiter

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on the reader's thread, on a consistent snapshot.

        The snapshot has all that was acknowledged before. A write in it raises
        sqlite3.OperationalError.

        Raises:
            StoreBusy: too many reads wait.
            StoreUnavailable: the file can't be read, or is closed.
        """
        if self._closing.is_set():
            raise StoreUnavailable("STORE_UNAVAILABLE", "store is closed")
        if self._reads_waiting >= self._most_waiting:
            raise StoreBusy("STORE_UNAVAILABLE", f"{self._most_waiting} reads wait for the store")
        self._reads_waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._reader, self._read_snapshot, work)
        finally:
            self._reads_waiting -= 1

    async def migrate(self, component: str, steps: Iterable[str]) -> None:
        """Bring the component's tables up to date; see `migrations.migrate`."""
        scripts = list(steps)
        await self.write(lambda connection: migrate(connection, component, scripts))

    async def close(self) -> None:
        """Finish what waits, then close; later calls are refused. May be called again."""
        with self._wake:
            self._closing.set()
            self._wake.notify()
        await asyncio.to_thread(self._join)

    async def __aenter__(self) -> Self:
        """The file itself; it is open already."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        await self.close()

    def _join(self) -> None:
        self._reader.shutdown()
        self._writer_thread.join()
        self._checkpointer_thread.join()
        self._reading.close()
        self._writing.close()

    def _connect(self, synchronous: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=self._busy_timeout_ms / 1000,
            isolation_level=None,  # transactions are opened by hand
            check_same_thread=False,  # opened here, then used by one thread only
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"PRAGMA journal_size_limit = {_CHECKPOINT_BYTES}")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def _read_snapshot(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            self._reading.execute("BEGIN")
            try:
                return work(self._reading)
            finally:
                if self._reading.in_transaction:
                    self._reading.execute("ROLLBACK")
        except Exception as error:
            translated = _translated(error)
            if translated is error:
                raise
            raise translated from error

    # The writer's thread.

    def _write_loop(self) -> None:
        while jobs := self._next_jobs():
            self._commit(jobs)
            for loop in {job.loop for job in jobs}:
                _hand_over(loop, [job for job in jobs if job.loop is loop])
            if self._log_bytes() > _LARGEST_LOG_BYTES:
                _checkpoint(self._writing, "PASSIVE")

    def _next_jobs(self) -> list[_Job[object]]:
        """Wait for jobs and take those there; none once the file closes and all are done."""
        with self._wake:
            while not self._jobs and not self._closing.is_set():
                self._wake.wait()
            count = min(len(self._jobs), _MOST_JOBS_A_COMMIT)
            return [self._jobs.popleft() for _ in range(count)]

    def _commit(self, jobs: list[_Job[object]]) -> None:
        """All jobs in one transaction; a failed one alone is undone."""
        try:
            self._writing.execute("BEGIN IMMEDIATE")
            for job in jobs:
                self._run(job)
            self._writing.execute("COMMIT")
        except Exception as error:
            self._abandon(jobs, error)

    def _run(self, job: _Job[object]) -> None:
        if job.waiter.cancelled():
            return
        self._writing.execute("SAVEPOINT job")
        try:
            job.result = job.work(self._writing)
        except Exception as error:
            job.error = _translated(error)
            if not self._writing.in_transaction:
                raise  # SQLite gave up the whole transaction
            self._writing.execute("ROLLBACK TO job")
        if not self._writing.in_transaction:
            job.error = RuntimeError("a write must not commit")
            raise job.error
        self._writing.execute("RELEASE job")

    def _abandon(self, jobs: list[_Job[object]], error: Exception) -> None:
        _log.error("store_commit_failed", jobs=len(jobs), error=str(error))
        try:
            if self._writing.in_transaction:
                self._writing.execute("ROLLBACK")
        except sqlite3.Error:
            _log.exception("store_rollback_failed")
        for job in jobs:
            if job.error is None:
                job.error = StoreUnavailable("STORE_UNAVAILABLE", "store could not commit")
                job.error.__cause__ = error

    # The checkpointer's thread.

    def _checkpoint_loop(self) -> None:
        connection = self._connect("FULL")
        try:
            while not self._closing.wait(_CHECKPOINT_SECONDS):
                if self._log_bytes() > _CHECKPOINT_BYTES // 2:
                    _checkpoint(connection, "PASSIVE")
            self._writer_thread.join()
            _checkpoint(connection, "TRUNCATE")
        finally:
            connection.close()

    def _log_bytes(self) -> int:
        try:
            return self._wal.stat().st_size
        except OSError:
            return 0


def _checkpoint(connection: sqlite3.Connection, mode: str) -> None:
    try:
        connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
    except sqlite3.Error as error:  # a later one will do
        _log.warning("store_checkpoint_failed", mode=mode, error=str(error))


def _make_private(path: Path) -> None:
    """Make the file, if absent, for its owner alone; the files beside it take after it.

    What can't be done here SQLite says when it opens the file.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _hand_over(loop: asyncio.AbstractEventLoop, jobs: list[_Job[object]]) -> None:
    """One wake-up a loop, however many jobs of it were committed."""

    def settle_all() -> None:
        for job in jobs:
            job.settle()

    try:
        loop.call_soon_threadsafe(settle_all)
    except RuntimeError:  # the loop is closed, nobody waits any more
        _log.warning("store_caller_gone", jobs=len(jobs))


def _translated(error: Exception) -> Exception:
    """The environment's failures as ServiceErrors; a caller's own error as it is."""
    if isinstance(error, StopIteration):  # a future can't hold one
        return RuntimeError("a store job raised StopIteration")
    if isinstance(error, ServiceError) or not isinstance(error, sqlite3.Error):
        return error
    if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _AWAY:
        return error
    translated = StoreUnavailable("STORE_UNAVAILABLE", "store can't be used")
    translated.__cause__ = error
    return translated
