"""Who owns which game in a SQLite file, and which replicas live."""

import sqlite3
import time
from collections.abc import Callable, Collection
from typing import Final

from opolyx_engine.replica import Replica
from opolyx_engine.store.base import RUNNING
from opolyx_engine.store.owners import RollCall, decode_replica, encode_replica
from opolyx_servicekit.sqlite_file import SqliteFile

_FOR_EVER_MS: Final = 1 << 62
OWNERS: Final = """
    ALTER TABLE engine_games ADD COLUMN owner TEXT NOT NULL DEFAULT '';
    ALTER TABLE engine_games ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE engine_replicas (
        replica_id TEXT PRIMARY KEY,
        dead_ms INTEGER NOT NULL,
        about TEXT NOT NULL
    ) STRICT;
    """
"""What the tables of before there were owners lack."""


class SqliteOwners:
    """The `OwnerStore` on a SQLite file."""

    def __init__(self, file: SqliteFile) -> None:
        """Use `file`, whose tables must be there."""
        self._file = file

    async def claim(self, game_id: str, epoch: int, owner: str) -> int | None:
        """Change the owner, if the epoch is as told."""
        return await self._file.write(lambda db: _claim(db, game_id, epoch, owner))

    async def owned_by(self, owner: str, wanted: Callable[[str], bool]) -> list[str]:
        """Running games of an owner."""
        return [each for each, of in await self._owned() if of == owner and wanted(each)]

    async def strays(self, owners: Collection[str]) -> list[str]:
        """Running games of none of the owners."""
        return [each for each, of in await self._owned() if of not in owners]

    async def beat(self, replica: Replica, ttl_ms: int, lives: int = 0) -> RollCall:
        """Note that a replica lives."""
        return await self._file.write(lambda db: _beat(db, replica, ttl_ms, lives))

    async def leave(self, replica_id: str, *, if_dead: bool = False) -> None:
        """Forget a replica."""
        until_ms = _now_ms() if if_dead else _FOR_EVER_MS

        def forget(db: sqlite3.Connection) -> None:
            db.execute(
                "DELETE FROM engine_replicas WHERE replica_id = ? AND dead_ms <= ?",
                (replica_id, until_ms),
            )

        await self._file.write(forget)

    async def _owned(self) -> list[tuple[str, str]]:
        """All running games with their owners, by their start."""
        return await self._file.read(
            lambda db: [
                (str(game_id), str(owner))
                for game_id, owner in db.execute(
                    "SELECT game_id, owner FROM engine_games WHERE state = ?"
                    " ORDER BY started_ms, game_id",
                    (RUNNING,),
                )
            ]
        )


def _claim(db: sqlite3.Connection, game_id: str, epoch: int, owner: str) -> int | None:
    db.execute(
        "UPDATE engine_games SET owner = ?, epoch = epoch + 1"
        " WHERE game_id = ? AND epoch = ? AND state = ?",
        (owner, game_id, epoch, RUNNING),
    )
    done = db.execute(
        "SELECT 1 FROM engine_games WHERE game_id = ? AND epoch = ? AND owner = ? AND state = ?",
        (game_id, epoch + 1, owner, RUNNING),
    ).fetchone()
    return epoch + 1 if done else None


def _beat(db: sqlite3.Connection, replica: Replica, ttl_ms: int, lives: int) -> RollCall:
    now_ms = _now_ms()
    goes_on = db.execute(
        "SELECT 1 FROM engine_replicas WHERE replica_id = ? AND dead_ms > ?",
        (replica.replica_id, now_ms),
    ).fetchone()
    db.execute(
        "INSERT OR REPLACE INTO engine_replicas (replica_id, dead_ms, about) VALUES (?, ?, ?)",
        (replica.replica_id, now_ms + ttl_ms, encode_replica(replica)),
    )
    rows = db.execute(
        "SELECT replica_id, dead_ms > ?, about FROM engine_replicas ORDER BY replica_id", (now_ms,)
    ).fetchall()
    return RollCall(
        living=tuple(decode_replica(each, about) for each, alive, about in rows if alive),
        dead=tuple(str(each) for each, alive, _ in rows if not alive),
        lives=max(lives, 1) if goes_on else lives + 1,
    )


def _now_ms() -> int:
    """The time of this machine, on which all are that share a file."""
    return time.time_ns() // 1_000_000
