"""What operators see to, in SQLite: dead letters, and what players are entitled to."""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from opolyx_progression.store.base import DeadLetter, EntitlementChange

_DEAD_LETTERS: Final = (
    "SELECT fact_number, game_id, at_unix_ms, problem, raw FROM progression_dead_letters"
)
_CHANGES: Final = (
    "SELECT number, player_id, vip, reason, operator, at_unix_ms"
    " FROM progression_entitlement_changes"
)
_ABOVE_ALL: Final = 1 << 62


def dead_letters(connection: sqlite3.Connection, after: int, limit: int) -> list[DeadLetter]:
    """Facts that couldn't be processed, ascending."""
    rows = connection.execute(
        f"{_DEAD_LETTERS} WHERE fact_number > ? ORDER BY fact_number LIMIT ?", (after, limit)
    )
    return [_dead_letter(row) for row in rows]


def dead_letter(connection: sqlite3.Connection, number: int) -> DeadLetter | None:
    """The fact of that number, if it couldn't be processed."""
    row = connection.execute(f"{_DEAD_LETTERS} WHERE fact_number = ?", (number,)).fetchone()
    return None if row is None else _dead_letter(row)


def put_vip(
    connection: sqlite3.Connection,
    player_id: str,
    vip: bool,
    reason: str,
    operator: str,
    now_ms: int,
) -> None:
    """Set whether a player is a VIP, and note who said so."""
    connection.execute(
        "INSERT OR REPLACE INTO progression_entitlements VALUES (?, ?)", (player_id, vip)
    )
    connection.execute(
        "INSERT INTO progression_entitlement_changes"
        " (player_id, vip, reason, operator, at_unix_ms) VALUES (?, ?, ?, ?, ?)",
        (player_id, vip, reason, operator, now_ms),
    )


def entitlement_changes(
    connection: sqlite3.Connection, player_id: str, before: int, limit: int
) -> list[EntitlementChange]:
    """Who set entitlements, newest first; see `Store.entitlement_changes`."""
    whose = "player_id = ? AND" if player_id else ""
    rows = connection.execute(
        f"{_CHANGES} WHERE {whose} number < ? ORDER BY number DESC LIMIT ?",
        [*([player_id] if player_id else []), before or _ABOVE_ALL, limit],
    )
    return [
        EntitlementChange(
            number=row[0],
            player_id=row[1],
            vip=bool(row[2]),
            reason=row[3],
            operator=row[4],
            at_unix_ms=row[5],
        )
        for row in rows
    ]


def strayed_entitlements(
    connection: sqlite3.Connection,
) -> list[tuple[str, bool | None, bool | None]]:
    """Players whose entitlement isn't what was last said; None where there is none."""
    stored = _flags(connection, "SELECT player_id, vip FROM progression_entitlements")
    said = _flags(
        connection,
        # SQLite takes the other columns from the row of the maximum.
        "SELECT player_id, vip, max(number) FROM progression_entitlement_changes"
        " GROUP BY player_id",
    )
    return [
        (player_id, stored.get(player_id), said.get(player_id))
        for player_id in sorted(stored.keys() | said.keys())
        if stored.get(player_id) != said.get(player_id)
    ]


def _flags(connection: sqlite3.Connection, query: str) -> dict[str, bool]:
    return {row[0]: bool(row[1]) for row in connection.execute(query)}


def _dead_letter(row: Sequence[Any]) -> DeadLetter:
    number, game_id, at_ms, problem, raw = row
    return DeadLetter(number=number, game_id=game_id, at_unix_ms=at_ms, problem=problem, raw=raw)
