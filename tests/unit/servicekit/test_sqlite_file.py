"""The SQLite file: acknowledged means stored, whoever shares it and whatever fails."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from opolyx_servicekit import sqlite_file
from opolyx_servicekit.errors import StoreBusy, StoreUnavailable
from opolyx_servicekit.migrations import SchemaMismatch
from opolyx_servicekit.sqlite_file import SqliteFile, sqlite_path

NOTES = ["CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"]


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[SqliteFile]:
    async with SqliteFile(tmp_path / "made" / "store.db") as opened:
        await opened.migrate("notes", NOTES)
        yield opened


def add(text: str) -> Callable[[sqlite3.Connection], int]:
    def work(connection: sqlite3.Connection) -> int:
        cursor = connection.execute("INSERT INTO notes (text) VALUES (?)", (text,))
        return cursor.lastrowid or 0

    return work


def texts(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT text FROM notes ORDER BY id")]


class Gate:
    """Holds the writer inside a job until it is opened."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.opened = threading.Event()

    def work(self, _: sqlite3.Connection) -> None:
        self.entered.set()
        assert self.opened.wait(10)

    async def hold(self, file: SqliteFile) -> "asyncio.Task[None]":
        task = asyncio.create_task(file.write(self.work))
        assert await asyncio.to_thread(self.entered.wait, 10)
        return task


async def test_nobody_else_on_the_machine_can_read_what_is_stored(file: SqliteFile) -> None:
    await file.write(add("secret"))

    stored = sorted(file.path.parent.iterdir())

    assert ["store.db", "store.db-shm", "store.db-wal"] == [path.name for path in stored]
    assert {0o600} == {path.stat().st_mode & 0o777 for path in stored}


async def test_a_write_returns_its_result_and_is_read_at_once(file: SqliteFile) -> None:
    assert await file.write(add("a")) == 1
    assert await file.write(add("b")) == 2

    assert await file.read(texts) == ["a", "b"]


async def test_writes_that_wait_together_share_one_commit(tmp_path: Path) -> None:
    statements: list[str] = []
    gate = Gate()
    async with SqliteFile(tmp_path / "s.db") as file:
        await file.migrate("notes", NOTES)
        await file.write(lambda connection: connection.set_trace_callback(statements.append))
        held = await gate.hold(file)
        waiting = [asyncio.create_task(file.write(add(str(n)))) for n in range(50)]
        await asyncio.sleep(0)
        assert file.waiting == 50
        gate.opened.set()
        await asyncio.gather(held, *waiting)

        assert await file.read(texts) == [str(n) for n in range(50)]
    assert statements.count("BEGIN IMMEDIATE") == 2, "the held one, and one for fifty"


async def test_a_failed_job_fails_its_caller_alone(file: SqliteFile) -> None:
    def add_then_fail(connection: sqlite3.Connection) -> None:
        add("undone")(connection)
        raise LookupError("mine")

    gate = Gate()
    held = await gate.hold(file)
    jobs = [
        file.write(add("a")),
        file.write(add_then_fail),
        file.write(add("a")),
        file.write(add("b")),
    ]
    tasks = [asyncio.ensure_future(job) for job in jobs]
    await asyncio.sleep(0)
    gate.opened.set()
    await held
    first, failed, duplicate, last = await asyncio.gather(*tasks, return_exceptions=True)

    assert (first, last) == (1, 2)
    assert isinstance(failed, LookupError)
    assert isinstance(duplicate, sqlite3.IntegrityError)
    assert await file.read(texts) == ["a", "b"]


async def test_a_job_that_commits_by_itself_is_an_error_and_the_writer_lives_on(
    file: SqliteFile,
) -> None:
    with pytest.raises(RuntimeError, match="must not commit"):
        await file.write(lambda connection: connection.execute("COMMIT"))

    assert await file.write(add("after")) == 1


async def test_a_job_that_stops_iteration_does_not_lose_its_caller(file: SqliteFile) -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await file.write(lambda connection: next(iter(())))


async def test_more_than_the_bound_is_refused_at_once(tmp_path: Path) -> None:
    gate = Gate()
    async with SqliteFile(tmp_path / "s.db", most_waiting=2) as file:
        await file.migrate("notes", NOTES)
        held = await gate.hold(file)
        waiting = [asyncio.create_task(file.write(add(str(n)))) for n in range(2)]
        await asyncio.sleep(0)

        with pytest.raises(StoreBusy) as caught:
            await file.write(add("too many"))

        gate.opened.set()
        await asyncio.gather(held, *waiting)
        assert await file.read(texts) == ["0", "1"]
    assert caught.value.retry_after_ms == 200


async def test_reads_are_bounded_too(tmp_path: Path) -> None:
    gate = Gate()
    async with SqliteFile(tmp_path / "s.db", most_waiting=1) as file:
        reading = asyncio.create_task(file.read(gate.work))
        await asyncio.sleep(0)
        with pytest.raises(StoreBusy):
            await file.read(gate.work)
        gate.opened.set()
        await reading


async def test_a_read_sees_one_snapshot_and_cannot_write(file: SqliteFile) -> None:
    entered, opened = threading.Event(), threading.Event()

    def read_twice(connection: sqlite3.Connection) -> tuple[list[str], list[str]]:
        before = texts(connection)
        entered.set()
        assert opened.wait(10)
        return before, texts(connection)

    await file.write(add("a"))
    reading = asyncio.create_task(file.read(read_twice))
    assert await asyncio.to_thread(entered.wait, 10)
    await file.write(add("b"))
    opened.set()

    assert await reading == (["a"], ["a"])
    assert await file.read(texts) == ["a", "b"]
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await file.read(add("c"))


async def test_a_cancelled_caller_does_not_disturb_the_others(file: SqliteFile) -> None:
    gate = Gate()
    held = await gate.hold(file)
    cancelled = asyncio.create_task(file.write(add("cancelled")))
    kept = asyncio.create_task(file.write(add("kept")))
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.sleep(0)
    gate.opened.set()
    await asyncio.gather(held, kept)

    assert cancelled.cancelled()
    assert await file.read(texts) == ["kept"]


async def test_close_finishes_what_waits_and_refuses_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    gate = Gate()
    file = SqliteFile(path)
    await file.migrate("notes", NOTES)
    held = await gate.hold(file)
    waiting = asyncio.create_task(file.write(add("waiting")))
    closing = asyncio.create_task(file.close())
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    with pytest.raises(StoreUnavailable):
        await file.write(add("late"))
    gate.opened.set()
    await asyncio.gather(held, waiting, closing)
    with pytest.raises(StoreUnavailable):
        await file.read(texts)
    await file.close()

    assert not path.with_name("s.db-wal").exists(), "the log was not folded into the file"
    async with SqliteFile(path) as again:
        assert await again.read(texts) == ["waiting"]


async def test_another_process_that_keeps_writing_is_an_outage(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    async with SqliteFile(path, busy_timeout_ms=10) as file:
        await file.migrate("notes", NOTES)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable) as caught:
            await file.write(add("a"))
        other.execute("ROLLBACK")
        other.close()

        assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
        assert await file.write(add("a")) == 1


async def test_a_full_disk_is_an_outage_and_undoes_the_job(file: SqliteFile) -> None:
    def fill(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        add("x" * 1_000_000)(connection)

    with pytest.raises(StoreUnavailable):
        await file.write(fill)
    await file.write(lambda connection: list(connection.execute("PRAGMA max_page_count = 100000")))

    await file.write(add("a"))
    assert await file.read(texts) == ["a"]


async def test_callers_on_two_loops_share_the_file(file: SqliteFile) -> None:
    def other_loop() -> int:
        return asyncio.run(file.write(add("other")))

    await asyncio.gather(asyncio.to_thread(other_loop), file.write(add("mine")))

    assert sorted(await file.read(texts)) == ["mine", "other"]


async def test_a_job_that_stops_an_iteration_fails_and_hangs_nobody(file: SqliteFile) -> None:
    """A future can't hold a StopIteration: its waiter would wait for ever."""

    def stop(connection: sqlite3.Connection) -> str:
        return next(iter([""][1:]))

    for call in (file.read, file.write):
        with pytest.raises(RuntimeError, match="StopIteration"):
            async with asyncio.timeout(5):
                await call(stop)


async def test_the_log_stays_small_under_steady_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_LARGEST_LOG_BYTES", 1 << 20)
    path = tmp_path / "s.db"
    async with SqliteFile(path, synchronous="NORMAL") as file:
        await file.migrate("notes", NOTES)
        for number in range(200):
            await file.write(add(str(number) + "x" * 100_000))
        log_bytes = path.with_name("s.db-wal").stat().st_size

    assert log_bytes < 5 << 20, f"20 MB written, {log_bytes} in the log"


async def test_a_caller_whose_loop_is_gone_does_not_stop_the_writer(file: SqliteFile) -> None:
    gate = Gate()
    held = await gate.hold(file)

    async def give_up() -> None:
        task = asyncio.create_task(file.write(add("from a closed loop")))
        await asyncio.sleep(0)
        assert file.waiting == 1
        task.cancel()

    await asyncio.to_thread(asyncio.run, give_up())
    gate.opened.set()
    await held

    assert await file.write(add("after")) == 1


async def test_components_count_their_own_steps(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    more = [
        *NOTES,
        "ALTER TABLE notes ADD COLUMN b TEXT DEFAULT 'a;b'; CREATE INDEX i ON notes (b)",
    ]
    async with SqliteFile(path) as file:
        await file.migrate("notes", NOTES)
        await file.migrate("other", ["CREATE TABLE other (id INTEGER)"])
        await file.write(add("kept"))
        await file.migrate("notes", more)
        await file.migrate("notes", more)

        rows = await file.read(lambda c: c.execute("SELECT text, b FROM notes").fetchall())
        assert rows == [("kept", "a;b")]


async def test_steps_of_a_newer_or_other_program_are_refused(file: SqliteFile) -> None:
    with pytest.raises(SchemaMismatch):
        await file.migrate("notes", [])
    with pytest.raises(SchemaMismatch):
        await file.migrate("notes", ["CREATE TABLE edited (id INTEGER)"])


async def test_a_failed_step_leaves_nothing_behind(file: SqliteFile) -> None:
    with pytest.raises(sqlite3.OperationalError):
        await file.migrate("bad", ["CREATE TABLE half (id INTEGER); CREATE TABL oops"])

    await file.migrate("bad", ["CREATE TABLE half (id INTEGER)"])


async def test_triggers_are_one_statement(file: SqliteFile) -> None:
    await file.migrate(
        "trigger",
        [
            "CREATE TRIGGER t AFTER INSERT ON notes WHEN new.text = 'a'"
            " BEGIN INSERT INTO notes (text) VALUES ('b'); END;"
        ],
    )
    await file.write(add("a"))

    assert await file.read(texts) == ["a", "b"]


@pytest.mark.parametrize(
    ("url", "path"), [("sqlite:///a.db", "a.db"), ("sqlite:////var/a.db", "/var/a.db")]
)
def test_the_path_in_a_store_url(url: str, path: str) -> None:
    assert sqlite_path(url) == Path(path)


@pytest.mark.parametrize("url", ["redis://host", "sqlite:///", "a.db"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is not sqlite"):
        sqlite_path(url)


CHILD = """
import asyncio, itertools, sys
from pathlib import Path
from opolyx_servicekit.sqlite_file import SqliteFile

async def main():
    file = SqliteFile(Path(sys.argv[1]))
    await file.migrate("notes", ["CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)"])
    numbers = itertools.count(1)
    async def load():
        for number in numbers:
            await file.write(lambda c: c.execute("INSERT INTO notes VALUES (?, 'x')", (number,)) and None)
            print(number, flush=True)
    await asyncio.gather(*[load() for _ in range(50)])

asyncio.run(main())
"""


async def test_kill_9_loses_no_acknowledged_write(tmp_path: Path) -> None:
    """A child acknowledges writes on its standard output and is killed while it does."""
    path = tmp_path / "s.db"
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(path), stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    acknowledged: set[int] = set()
    while len(acknowledged) < 1_000:
        line = await child.stdout.readline()
        assert line, "the child ended by itself"
        acknowledged.add(int(line))
    child.kill()
    rest, _ = await child.communicate()
    complete = rest[: rest.rfind(b"\n") + 1]
    acknowledged.update(int(line) for line in complete.split())

    async with SqliteFile(path) as file:
        stored = await file.read(lambda c: {row[0] for row in c.execute("SELECT id FROM notes")})

    assert acknowledged <= stored
