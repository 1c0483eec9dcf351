"""Leaderboards in SQLite: exact ranks without counting every player above.

Beside the ordered scores stand counts of players a bucket, in buckets of 1, 64, 4096 and 262144
points. A rank is the sum of the whole buckets above, at most 64 a width: as fast with a million
players as with ten.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from opolyx_progression.leaderboards import BoardPage, BoardRow, Score, ranked

SHIFTS: Final = (0, 6, 12, 18)
"""Buckets are as wide as 2 to the power of these. Stored: never change."""

_Row: TypeAlias = tuple[str, str, int]
_SELECT: Final = (
    "SELECT s.player_id, p.name, s.score FROM progression_scores s"
    " JOIN progression_players p ON p.player_id = s.player_id WHERE s.board = ?"
)


def put_scores(connection: sqlite3.Connection, scores: Iterable[Score]) -> None:
    """Set scores, and keep the counts in step."""
    for score in scores:
        old = find_score(connection, score.board, score.player_id)
        if old == score.score:
            continue
        if old is not None:
            _count(connection, score.board, old, -1)
        _count(connection, score.board, score.score, 1)
        connection.execute(
            "INSERT OR REPLACE INTO progression_scores VALUES (?, ?, ?)",
            (score.board, score.player_id, score.score),
        )


def find_score(connection: sqlite3.Connection, board: str, player_id: str) -> int | None:
    """A player's score on a board; None if the player isn't on it."""
    row = connection.execute(
        "SELECT score FROM progression_scores WHERE board = ? AND player_id = ?",
        (board, player_id),
    ).fetchone()
    return None if row is None else int(row[0])


def read_top(connection: sqlite3.Connection, board: str, limit: int) -> BoardPage:
    """The first rows of a board."""
    rows = connection.execute(
        f"{_SELECT} ORDER BY s.score DESC, s.player_id LIMIT ?", (board, limit)
    ).fetchall()
    return _page(connection, board, rows)


def read_around(
    connection: sqlite3.Connection, board: str, player_id: str, limit: int
) -> BoardPage | None:
    """A player's row amid its neighbours, `limit` rows if the board has as many."""
    score = find_score(connection, board, player_id)
    if score is None:
        return None
    above = _above(connection, board, player_id, score, limit - 1)
    below = _from(connection, board, player_id, score, limit)
    wanted_above = max((limit - 1) // 2, limit - len(below))
    kept = above[max(0, len(above) - wanted_above) :]
    return _page(connection, board, (kept + below)[:limit])


def miscounted(connection: sqlite3.Connection) -> list[str]:
    """Boards whose counts don't agree with their scores; reads every score, once a width."""
    wrong: set[str] = set()
    for shift in SHIFTS:
        rows = connection.execute(
            "SELECT board, bucket, sum(players) FROM ("
            "  SELECT board, score >> ?1 AS bucket, count(*) AS players"
            "  FROM progression_scores GROUP BY board, bucket"
            "  UNION ALL"
            "  SELECT board, bucket, -players FROM progression_score_counts WHERE shift = ?1"
            ") GROUP BY board, bucket HAVING sum(players) <> 0",
            (shift,),
        )
        wrong |= {str(row[0]) for row in rows}
    return sorted(wrong)


def _above(
    connection: sqlite3.Connection, board: str, player_id: str, score: int, limit: int
) -> list[_Row]:
    """The rows just above a player's, in order."""
    rows = connection.execute(
        f"{_SELECT} AND s.score = ? AND s.player_id < ? ORDER BY s.player_id DESC LIMIT ?",
        (board, score, player_id, limit),
    ).fetchall()
    rows += connection.execute(
        f"{_SELECT} AND s.score > ? ORDER BY s.score, s.player_id DESC LIMIT ?",
        (board, score, limit - len(rows)),
    ).fetchall()
    return rows[::-1]


def _from(
    connection: sqlite3.Connection, board: str, player_id: str, score: int, limit: int
) -> list[_Row]:
    """A player's row and those just below, in order."""
    rows: list[_Row] = connection.execute(
        f"{_SELECT} AND s.score = ? AND s.player_id >= ? ORDER BY s.player_id LIMIT ?",
        (board, score, player_id, limit),
    ).fetchall()
    rows += connection.execute(
        f"{_SELECT} AND s.score < ? ORDER BY s.score DESC, s.player_id LIMIT ?",
        (board, score, limit - len(rows)),
    ).fetchall()
    return rows


def _page(connection: sqlite3.Connection, board: str, rows: Sequence[_Row]) -> BoardPage:
    page: tuple[BoardRow, ...] = ()
    if rows:
        first_score = rows[0][2]
        first_rank = 1 + _players_above(connection, board, first_score)
        next_rank = 1 + _players_above(connection, board, first_score - 1)
        page = ranked(rows, first_rank, next_rank)
    return BoardPage(page, _players(connection, board))


def _count(connection: sqlite3.Connection, board: str, score: int, change: int) -> None:
    for shift in SHIFTS:
        connection.execute(
            "INSERT INTO progression_score_counts VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET players = players + excluded.players",
            (board, shift, score >> shift, change),
        )


def _players_above(connection: sqlite3.Connection, board: str, score: int) -> int:
    """How many players have a greater score: whole wide buckets first, then ever narrower ones."""
    total = 0
    for shift, wider in zip(SHIFTS, (*SHIFTS[1:], None), strict=True):
        low = (score >> shift) + 1
        high = None if wider is None else ((score >> wider) + 1) << (wider - shift)
        total += _sum(connection, board, shift, low, high)
    return total


def _players(connection: sqlite3.Connection, board: str) -> int:
    return _sum(connection, board, SHIFTS[-1], None, None)


def _sum(
    connection: sqlite3.Connection, board: str, shift: int, low: int | None, high: int | None
) -> int:
    """Players in the buckets `low` ≤ bucket < `high` of a width."""
    row = connection.execute(
        "SELECT coalesce(sum(players), 0) FROM progression_score_counts"
        " WHERE board = ? AND shift = ? AND bucket >= ? AND bucket < ?",
        (board, shift, -(1 << 62) if low is None else low, 1 << 62 if high is None else high),
    ).fetchone()
    return int(row[0])
