"""Games in a SQLite file, which may be shared with other services."""

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Self

from opolyx_engine.store.base import (
    RESERVED,
    RUNNING,
    Append,
    Fenced,
    NewFact,
    Record,
    Reservation,
    StoreConflict,
    StoredFact,
    StoredGame,
    StoredSnapshot,
)
from opolyx_engine.store.owners import NOBODY
from opolyx_engine.store.sqlite_owners import OWNERS, SqliteOwners
from opolyx_servicekit.sqlite_file import SqliteFile

_STEPS: Final = (
    """
    CREATE TABLE engine_games (
        game_id TEXT PRIMARY KEY,
        request_id TEXT NOT NULL UNIQUE,
        state INTEGER NOT NULL,
        ruleset TEXT NOT NULL DEFAULT '',
        watchable INTEGER NOT NULL DEFAULT 0,
        secret BLOB NOT NULL,
        header BLOB NOT NULL DEFAULT x'',
        reserved_ms INTEGER NOT NULL,
        started_ms INTEGER NOT NULL DEFAULT 0,
        ended_ms INTEGER NOT NULL DEFAULT 0,
        seq INTEGER NOT NULL DEFAULT -1,
        end_reason TEXT NOT NULL DEFAULT ''
    ) STRICT;
    CREATE INDEX engine_games_by_start ON engine_games (state, started_ms, game_id);
    CREATE TABLE engine_records (
        game_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        command_id TEXT NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (game_id, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX engine_records_by_command
        ON engine_records (game_id, command_id) WHERE command_id <> '';
    CREATE TABLE engine_snapshots (
        game_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (game_id, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE engine_facts (
        number INTEGER PRIMARY KEY,
        game_id TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
    """,
    OWNERS,
)
_GAME: Final = (
    "SELECT game_id, state, ruleset, watchable, secret, header, started_ms, seq, end_reason, owner,"
    " epoch FROM engine_games"
)


class SqliteGameStore(SqliteOwners):
    """The `GameStore` on one SQLite file; appends of many games share a commit."""

    def __init__(self, file: SqliteFile, *, owns_file: bool = False) -> None:
        """Use `file`, whose tables must be there; see `open`."""
        super().__init__(file)
        self._owns_file = owns_file
        self._observe_wait: Callable[[float], object] = _nobody

    @classmethod
    async def open(cls, file: SqliteFile, *, owns_file: bool = False) -> Self:
        """Bring the tables up to date and return the store.

        Args:
            file: the file.
            owns_file: whether closing the store closes the file.
        """
        await file.migrate("engine", _STEPS)
        return cls(file, owns_file=owns_file)

    async def close(self) -> None:
        """Close the file, if it is the store's own."""
        if self._owns_file:
            await self._file.close()

    async def count(self) -> int:
        """How many games were ever reserved."""
        return await self._file.read(
            lambda db: int(db.execute("SELECT count(*) FROM engine_games").fetchone()[0])
        )

    async def reserve(self, reservation: Reservation) -> Reservation | None:
        """Keep the reservation, or find the earlier one of its request."""
        return await self._file.write(lambda db: _reserve(db, reservation))

    async def create(
        self,
        game_id: str,
        ruleset: str,
        watchable: bool,
        header: bytes,
        first: Append,
        owner: str = NOBODY,
    ) -> StoredGame | None:
        """Start a reserved game, or find it started."""
        about = (ruleset, int(watchable), header, first.records[0].at_ms, owner)
        return await self._file.write(lambda db: _create(db, game_id, about, first))

    def tell_waits(self, observe: Callable[[float], object]) -> None:
        """Tell how long appends wait until the writer begins with them."""
        self._observe_wait = observe

    async def append(self, append: Append) -> None:
        """Add to the log of a running game."""
        asked = time.perf_counter()

        def begun(db: sqlite3.Connection) -> None:
            self._observe_wait(time.perf_counter() - asked)
            _append(db, append)

        await self._file.write(begun)

    async def game(self, game_id: str) -> StoredGame | None:
        """The game, reserved ones included."""
        return await self._file.read(lambda db: _game(db, game_id))

    async def snapshot(self, game_id: str, up_to_seq: int) -> StoredSnapshot | None:
        """The latest snapshot at or before a record."""
        return await self._file.read(lambda db: _snapshot(db, game_id, up_to_seq))

    async def records(self, game_id: str, after_seq: int, limit: int) -> list[Record]:
        """Records after one, in order."""
        return await self._file.read(
            lambda db: [
                Record(*row)
                for row in db.execute(
                    "SELECT seq, at_ms, command_id, body FROM engine_records"
                    " WHERE game_id = ? AND seq > ? ORDER BY seq LIMIT ?",
                    (game_id, after_seq, limit),
                )
            ]
        )

    async def command(self, game_id: str, command_id: str) -> Record | None:
        """The record that a command caused."""
        if not command_id:
            return None
        return await self._file.read(lambda db: _command(db, game_id, command_id))

    async def running(self) -> list[str]:
        """Ids of all running games, oldest first."""
        return await self._file.read(
            lambda db: [
                str(row[0])
                for row in db.execute(
                    "SELECT game_id FROM engine_games WHERE state = ? ORDER BY started_ms, game_id",
                    (RUNNING,),
                )
            ]
        )

    async def list_games(
        self, before: tuple[int, str] | None, limit: int, ruleset: str
    ) -> list[StoredGame]:
        """Watchable running games, newest first."""
        started, game_id = before or (1 << 62, "")
        return await self._file.read(
            lambda db: [
                _stored(row)
                for row in db.execute(
                    f"{_GAME} WHERE state = ? AND watchable = 1 AND (? = '' OR ruleset = ?)"
                    " AND (started_ms, game_id) < (?, ?)"
                    " ORDER BY started_ms DESC, game_id DESC LIMIT ?",
                    (RUNNING, ruleset, ruleset, started, game_id, limit),
                )
            ]
        )

    async def facts(self, after: int, limit: int) -> list[StoredFact]:
        """Facts after a number, in order."""
        return await self._file.read(
            lambda db: [
                StoredFact(number, game_id, NewFact(kind, at_ms, body))
                for number, game_id, at_ms, kind, body in db.execute(
                    "SELECT number, game_id, at_ms, kind, body FROM engine_facts"
                    " WHERE number > ? ORDER BY number LIMIT ?",
                    (after, limit),
                )
            ]
        )


def _nobody(seconds: float) -> None:
    """Who is told of waits when nobody asked."""


# What runs on the file's threads, inside one transaction.


def _reserve(db: sqlite3.Connection, reservation: Reservation) -> Reservation | None:
    row = db.execute(
        "SELECT request_id, game_id, secret, reserved_ms FROM engine_games WHERE request_id = ?",
        (reservation.request_id,),
    ).fetchone()
    if row is not None:
        return Reservation(*row)
    if _game(db, reservation.game_id) is not None:
        return None
    db.execute(
        "INSERT INTO engine_games (game_id, request_id, state, secret, reserved_ms)"
        " VALUES (?, ?, ?, ?, ?)",
        (
            reservation.game_id,
            reservation.request_id,
            RESERVED,
            reservation.secret,
            reservation.at_ms,
        ),
    )
    return reservation


def _create(
    db: sqlite3.Connection, game_id: str, about: tuple[str, int, bytes, int, str], first: Append
) -> StoredGame | None:
    game = _game(db, game_id)
    if game is None or game.state != RESERVED:
        return game
    db.execute(
        "UPDATE engine_games SET state = ?, ruleset = ?, watchable = ?, header = ?, started_ms = ?,"
        " owner = ? WHERE game_id = ?",
        (RUNNING, *about, game_id),
    )
    _append(db, first)
    db.execute(
        "UPDATE engine_games SET epoch = 1 WHERE game_id = ? AND owner <> ?", (game_id, NOBODY)
    )
    return _game(db, game_id)


def _append(db: sqlite3.Connection, append: Append) -> None:
    last_seq = append.expected_seq + len(append.records)
    ended_ms = 0 if append.ends_as == RUNNING else append.at_ms
    changed = db.execute(
        "UPDATE engine_games SET seq = ?, state = ?, ended_ms = ?, end_reason = ?"
        " WHERE game_id = ? AND seq = ? AND state = ? AND epoch = ?",
        (
            last_seq,
            append.ends_as,
            ended_ms,
            append.end_reason,
            append.game_id,
            append.expected_seq,
            RUNNING,
            append.epoch,
        ),
    )
    if changed.rowcount != 1:
        game = _game(db, append.game_id)
        if game is not None and game.epoch != append.epoch:
            raise Fenced(f"game {append.game_id} has another epoch than {append.epoch}")
        raise StoreConflict(f"game {append.game_id} is not running at {append.expected_seq}")
    _insert_records(db, append.game_id, append.records)
    _insert_facts(db, append.game_id, append.facts)
    if append.snapshot is not None:
        db.execute(
            "INSERT INTO engine_snapshots (game_id, seq, body) VALUES (?, ?, ?)",
            (append.game_id, append.snapshot.seq, append.snapshot.body),
        )


def _insert_records(db: sqlite3.Connection, game_id: str, records: Sequence[Record]) -> None:
    try:
        for record in records:
            db.execute(
                "INSERT INTO engine_records (game_id, seq, at_ms, command_id, body)"
                " VALUES (?, ?, ?, ?, ?)",
                (game_id, record.seq, record.at_ms, record.command_id, record.body),
            )
    except sqlite3.IntegrityError as error:
        raise StoreConflict(f"game {game_id} has that record or command already") from error


def _insert_facts(db: sqlite3.Connection, game_id: str, facts: Iterable[NewFact]) -> None:
    for fact in facts:
        db.execute(
            "INSERT INTO engine_facts (game_id, at_ms, kind, body) VALUES (?, ?, ?, ?)",
            (game_id, fact.at_ms, fact.kind, fact.body),
        )


def _game(db: sqlite3.Connection, game_id: str) -> StoredGame | None:
    row = db.execute(f"{_GAME} WHERE game_id = ?", (game_id,)).fetchone()
    return None if row is None else _stored(row)


def _stored(row: Sequence[object]) -> StoredGame:
    (
        game_id,
        state,
        ruleset,
        watchable,
        secret,
        header,
        started_ms,
        seq,
        end_reason,
        owner,
        epoch,
    ) = row
    return StoredGame(
        game_id=str(game_id),
        state=int(state),  # type: ignore[call-overload]
        ruleset=str(ruleset),
        watchable=bool(watchable),
        secret=bytes(secret),  # type: ignore[call-overload]
        header=bytes(header),  # type: ignore[call-overload]
        started_ms=int(started_ms),  # type: ignore[call-overload]
        seq=int(seq),  # type: ignore[call-overload]
        end_reason=str(end_reason),
        owner=str(owner),
        epoch=int(epoch),  # type: ignore[call-overload]
    )


def _snapshot(db: sqlite3.Connection, game_id: str, up_to_seq: int) -> StoredSnapshot | None:
    row = db.execute(
        "SELECT seq, body FROM engine_snapshots WHERE game_id = ? AND seq <= ?"
        " ORDER BY seq DESC LIMIT 1",
        (game_id, up_to_seq),
    ).fetchone()
    return None if row is None else StoredSnapshot(*row)


def _command(db: sqlite3.Connection, game_id: str, command_id: str) -> Record | None:
    row = db.execute(
        "SELECT seq, at_ms, command_id, body FROM engine_records"
        " WHERE game_id = ? AND command_id = ?",
        (game_id, command_id),
    ).fetchone()
    return None if row is None else Record(*row)
