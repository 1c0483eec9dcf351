"""The store on SQLite: dies before every statement, and loses and doubles nothing; case A-43."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from opolyx_progression.audit import audit
from opolyx_progression.awards import CURRENT
from opolyx_progression.deliveries import Delivery, Outcome
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.store.ledger import apply_all
from opolyx_progression.store.schema import COMPONENT, STEPS
from opolyx_progression.store.sqlite import SqliteStore
from opolyx_servicekit.migrations import migrate
from support_history import PLAYERS, deliveries
from support_progression import duel, everything, finished_fact, open_store


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    async with open_store(tmp_path / "progression.db") as opened:
        yield opened


async def test_fact_that_breaks_the_settlement_is_undone_and_buried(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError("bug")

    delivery = delivery_of(finished_fact(1, duel("g1", "p_a", "p_b")))
    with monkeypatch.context() as patched:
        patched.setattr("opolyx_progression.store.ledger.put_scores", broken)
        assert [Outcome.BURIED] == await store.apply([delivery], now_ms=1)
    assert 0 == (await store.profile("p_a")).standing.games
    assert 1 == await store.dead_letter_count()

    assert [Outcome.SETTLED] == await store.apply([delivery], now_ms=1)
    assert 0 == await store.dead_letter_count()


class Crash(BaseException):
    """The process is gone."""


class CrashingConnection:
    """A connection whose process dies instead of running its n-th statement."""

    def __init__(self, connection: sqlite3.Connection, statements: int) -> None:
        self._connection = connection
        self._left = statements

    def execute(self, *args: Any) -> Any:
        if self._left == 0:
            raise Crash
        self._left -= 1
        return self._connection.execute(*args)


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def transactions() -> Iterator[list[Delivery]]:
    """The history in the consumer's batches."""
    waiting = deliveries()
    while waiting:
        yield waiting[:2]
        waiting = waiting[2:]


@pytest.mark.rule("XP-7")
async def test_a_43_crash_before_any_statement_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Dies before the n-th statement, for every n, and goes on from the stored cursor."""
    path = tmp_path / "crashing.db"
    with closing(connect(path)) as connection:
        connection.execute("BEGIN")
        migrate(connection, COMPONENT, STEPS)
        connection.execute("COMMIT")

    crashes = 0
    for batch in transactions():
        statements = 0
        while not _survives(path, batch, statements):
            crashes += 1
            statements += 1
            await_first = batch[0].number - 1
            with closing(connect(path)) as connection:
                cursor = connection.execute("SELECT fact_number FROM progression_cursor")
                assert await_first == cursor.fetchone()[0]
    assert crashes > 300

    async with open_store(tmp_path / "smooth.db") as smooth, open_store(path) as crashed:
        await smooth.apply(deliveries(), now_ms=1)
        assert await everything(smooth, PLAYERS) == await everything(crashed, PLAYERS)
        assert 0 == (await audit(crashed)).drift


def _survives(path: Path, batch: list[Delivery], statements: int) -> bool:
    with closing(connect(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            apply_all(
                CrashingConnection(connection, statements),  # type: ignore[arg-type]
                batch,
                1,
                CURRENT,
            )
        except Crash:
            return False  # closed without a commit, as a killed process leaves it
        connection.execute("COMMIT")
    return True
