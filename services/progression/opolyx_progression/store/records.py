"""What is read back from SQLite, as values."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from opolyx_progression.awards import Award, Term, TermKind, ZeroReason
from opolyx_progression.cards import Card, Rarity, best_bonuses
from opolyx_progression.games import FinishedGame
from opolyx_progression.leaderboards import Score
from opolyx_progression.ratings import Rating
from opolyx_progression.settlement import Standing
from opolyx_progression.store.base import (
    Grant,
    LedgerEntry,
    Profile,
    StoredRating,
    StoredResult,
    StoredScore,
    StoredStanding,
)
from opolyx_progression.store.ledger import load_standings, standing_of

_AWARDS: Final = (
    "SELECT sequence, game_id, seat, player_id, xp, terms, zero_reason, ruleset, table_version,"
    " at_unix_ms, place FROM progression_awards"
)
_CARDS: Final = "SELECT card_id, player_id, square, rarity, game_id, level FROM progression_cards"


def profile(connection: sqlite3.Connection, player_id: str) -> Profile:
    """What a player has earned; all zero for an unknown one."""
    found = load_standings(connection, [player_id])
    owned = connection.execute(
        "SELECT count(*) FROM progression_cards WHERE player_id = ?", (player_id,)
    ).fetchone()
    return Profile(
        standing=found.get(player_id, Standing(player_id=player_id)),
        cards=int(owned[0]),
        ratings=_ratings_of(connection, player_id),
        vip=_is_vip(connection, player_id),
    )


def awards(
    connection: sqlite3.Connection, player_id: str, game_id: str, before: int, limit: int
) -> list[LedgerEntry]:
    """Awards, newest first; see `Store.awards`."""
    conditions: dict[str, Any] = {}
    if player_id:
        conditions["player_id = ?"] = player_id
    if game_id:
        conditions["game_id = ?"] = game_id
    if before:
        conditions["sequence < ?"] = before
    rows = connection.execute(
        f"{_AWARDS} WHERE {' AND '.join(conditions)} ORDER BY sequence DESC, seat LIMIT ?",
        [*conditions.values(), limit],
    ).fetchall()
    return _entries(connection, rows)


def ledger(connection: sqlite3.Connection, after: int, until: int) -> list[LedgerEntry]:
    """Awards of games with `after` < sequence ≤ `until`."""
    rows = connection.execute(
        f"{_AWARDS} WHERE sequence > ? AND sequence <= ? ORDER BY sequence, seat", (after, until)
    ).fetchall()
    return _entries(connection, rows)


def cards(connection: sqlite3.Connection, player_id: str) -> list[Card]:
    """A player's cards, oldest first."""
    rows = connection.execute(
        f"{_CARDS} WHERE player_id = ? ORDER BY sequence, level", (player_id,)
    )
    return [_card(row) for row in rows]


def grant(connection: sqlite3.Connection, player_id: str) -> Grant:
    """What a player brings to a table."""
    return Grant(
        player_id=player_id,
        vip=_is_vip(connection, player_id),
        bonuses=best_bonuses(cards(connection, player_id)),
        ratings=_ratings_of(connection, player_id),
    )


def results(connection: sqlite3.Connection, after: int, limit: int) -> list[StoredResult]:
    """Settled results, ascending."""
    rows = connection.execute(
        "SELECT sequence, table_version, game_id, result FROM progression_results"
        " WHERE sequence > ? ORDER BY sequence LIMIT ?",
        (after, limit),
    )
    return [
        StoredResult(sequence=row[0], table_version=row[1], game_id=row[2], game=_game(row[3]))
        for row in rows
    ]


def standings(connection: sqlite3.Connection, after: str, limit: int) -> list[StoredStanding]:
    """Totals by player id, ascending."""
    rows = connection.execute(
        "SELECT player_id, name, person, xp, games, wins, sequence FROM progression_players"
        " WHERE player_id > ? ORDER BY player_id LIMIT ?",
        (after, limit),
    )
    return [
        StoredStanding(player_id=row[0], sequence=row[6], standing=standing_of(row[:6]))
        for row in rows
    ]


def ratings(
    connection: sqlite3.Connection, after: tuple[str, str], limit: int
) -> list[StoredRating]:
    """Ratings by player id and mode, ascending."""
    rows = connection.execute(
        "SELECT player_id, mode, mu, sigma, games, sequence FROM progression_ratings"
        " WHERE (player_id, mode) > (?, ?) ORDER BY player_id, mode LIMIT ?",
        (*after, limit),
    )
    return [
        StoredRating(
            player_id=row[0], mode=row[1], rating=Rating(row[2], row[3], row[4]), sequence=row[5]
        )
        for row in rows
    ]


def scores(connection: sqlite3.Connection, after: tuple[str, str], limit: int) -> list[StoredScore]:
    """Scores by board and player id, ascending."""
    rows = connection.execute(
        "SELECT s.board, s.player_id, s.score, coalesce(p.sequence, 0) FROM progression_scores s"
        " LEFT JOIN progression_players p ON p.player_id = s.player_id"
        " WHERE (s.board, s.player_id) > (?, ?) ORDER BY s.board, s.player_id LIMIT ?",
        (*after, limit),
    )
    return [
        StoredScore(player_id=row[1], score=Score(row[0], row[1], row[2]), sequence=row[3])
        for row in rows
    ]


def _game(text: str) -> FinishedGame | None:
    """A stored result; None if it makes no sense, which the audit reports."""
    try:
        game = FinishedGame.from_json(text)
        game.check()
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return game


def _entries(connection: sqlite3.Connection, rows: Sequence[Any]) -> list[LedgerEntry]:
    return [_entry(connection, row) for row in rows]


def _entry(connection: sqlite3.Connection, row: Sequence[Any]) -> LedgerEntry:
    """Raises ValueError if the row makes no sense."""
    sequence, game_id, seat, player_id, xp, terms, reason, ruleset, version, at_ms, place = row
    award = Award(
        game_id=game_id,
        seat=seat,
        player_id=player_id,
        terms=_terms(terms),
        zero_reason=ZeroReason(reason),
        ruleset=ruleset,
        table_version=version,
        at_unix_ms=at_ms,
        place=place,
    )
    return LedgerEntry(
        sequence=sequence, award=award, xp=xp, cards=_cards_with(connection, game_id, player_id)
    )


def _terms(text: str) -> tuple[Term, ...]:
    try:
        return tuple(Term(TermKind(kind), amount) for kind, amount in json.loads(text))
    except TypeError as error:
        raise ValueError(f"terms {text!r} are no pairs") from error


def _cards_with(connection: sqlite3.Connection, game_id: str, player_id: str) -> tuple[Card, ...]:
    rows = connection.execute(
        f"{_CARDS} WHERE game_id = ? AND player_id = ? ORDER BY level", (game_id, player_id)
    )
    return tuple(_card(row) for row in rows)


def _card(row: Sequence[Any]) -> Card:
    card_id, player_id, square, rarity, game_id, level = row
    return Card(
        card_id=card_id,
        player_id=player_id,
        square=square,
        rarity=Rarity(rarity),
        game_id=game_id,
        level=level,
    )


def _ratings_of(connection: sqlite3.Connection, player_id: str) -> dict[str, Rating]:
    rows = connection.execute(
        "SELECT mode, mu, sigma, games FROM progression_ratings WHERE player_id = ? ORDER BY mode",
        (player_id,),
    )
    return {row[0]: Rating(row[1], row[2], row[3]) for row in rows}


def _is_vip(connection: sqlite3.Connection, player_id: str) -> bool:
    row = connection.execute(
        "SELECT vip FROM progression_entitlements WHERE player_id = ?", (player_id,)
    ).fetchone()
    return row is not None and bool(row[0])
