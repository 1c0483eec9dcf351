"""How deliveries are applied in SQLite: effect, ledger and cursor in the caller's transaction."""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from opolyx_progression.awards import Award, AwardTable
from opolyx_progression.deliveries import (
    Delivery,
    Outcome,
    Unprocessable,
    Unreadable,
    VoidedGame,
    problem_of,
)
from opolyx_progression.games import FinishedGame
from opolyx_progression.leaderboards import scores_of
from opolyx_progression.ratings import Rating
from opolyx_progression.settlement import Settlement, Standing, settle
from opolyx_progression.store.scores import put_scores


def apply_all(
    connection: sqlite3.Connection,
    deliveries: Iterable[Delivery],
    now_ms: int,
    table: AwardTable,
) -> list[Outcome]:
    """Apply deliveries in order and move the cursor; see `Store.apply`.

    Games are settled by `table`, whose version is stored with them.

    Whatever goes wrong in one delivery undoes that one alone, except where the database itself
    fails (sqlite3.OperationalError): then everything is undone, and may be tried again.
    """
    return [_apply_or_bury(connection, delivery, now_ms, table) for delivery in deliveries]


def _apply_or_bury(
    connection: sqlite3.Connection, delivery: Delivery, now_ms: int, table: AwardTable
) -> Outcome:
    connection.execute("SAVEPOINT delivery")
    try:
        outcome = _apply(connection, delivery, table)
        connection.execute(
            "DELETE FROM progression_dead_letters WHERE fact_number = ?", (delivery.number,)
        )
    except sqlite3.OperationalError:
        raise
    except Exception as error:
        connection.execute("ROLLBACK TO delivery")
        _bury(connection, delivery, error, now_ms)
        outcome = Outcome.BURIED
    _move_cursor(connection, delivery.number)
    connection.execute("RELEASE delivery")
    return outcome


def _apply(connection: sqlite3.Connection, delivery: Delivery, table: AwardTable) -> Outcome:
    effect = delivery.effect
    if isinstance(effect, Unreadable):
        raise Unprocessable(effect.problem)
    if isinstance(effect, FinishedGame):
        return _settle_once(connection, delivery.number, effect, table)
    if isinstance(effect, VoidedGame):
        return _void_once(connection, delivery, effect)
    return Outcome.PASSED


def _settle_once(
    connection: sqlite3.Connection, number: int, game: FinishedGame, table: AwardTable
) -> Outcome:
    """One settlement a game, whoever delivers it and however often (XP-7)."""
    if _is_over(connection, game.game_id):
        return Outcome.KNOWN
    game.check()
    accounts = [seat.player_id for seat in game.seats if seat.player_id]
    settlement = settle(
        game,
        load_standings(connection, accounts),
        load_ratings(connection, accounts, game.mode),
        table,
    )
    sequence = _put_result(connection, number, game, table)
    _put_awards(connection, sequence, settlement.awards)
    _put_totals(connection, sequence, game.mode, settlement)
    put_scores(connection, scores_of(settlement, game.mode))
    return Outcome.SETTLED


def _void_once(connection: sqlite3.Connection, delivery: Delivery, voided: VoidedGame) -> Outcome:
    game_id = delivery.game_id
    if _is_over(connection, game_id):
        return Outcome.KNOWN
    connection.execute(
        "INSERT INTO progression_voids VALUES (?, ?, ?)", (game_id, delivery.number, voided.reason)
    )
    return Outcome.VOIDED


def _is_over(connection: sqlite3.Connection, game_id: str) -> bool:
    """Whether the game was settled or voided before."""
    row = connection.execute(
        "SELECT 1 FROM progression_results WHERE game_id = ?1"
        " UNION ALL SELECT 1 FROM progression_voids WHERE game_id = ?1",
        (game_id,),
    ).fetchone()
    return row is not None


def load_standings(
    connection: sqlite3.Connection, player_ids: Iterable[str]
) -> dict[str, Standing]:
    """Totals by player id, of those who have any."""
    found: dict[str, Standing] = {}
    for player_id in player_ids:
        row = connection.execute(
            "SELECT player_id, name, person, xp, games, wins FROM progression_players"
            " WHERE player_id = ?",
            (player_id,),
        ).fetchone()
        if row is not None:
            found[player_id] = standing_of(row)
    return found


def standing_of(row: Sequence[object]) -> Standing:
    """Totals from the columns player_id, name, person, xp, games, wins."""
    player_id, name, person, xp, games, wins = row
    return Standing(
        player_id=str(player_id),
        name=str(name),
        person=bool(person),
        xp=int(str(xp)),
        games=int(str(games)),
        wins=int(str(wins)),
    )


def load_ratings(
    connection: sqlite3.Connection, player_ids: Iterable[str], mode: str
) -> dict[str, Rating]:
    """Ratings in a mode by player id, of those who have one."""
    found: dict[str, Rating] = {}
    for player_id in player_ids:
        row = connection.execute(
            "SELECT mu, sigma, games FROM progression_ratings WHERE player_id = ? AND mode = ?",
            (player_id, mode),
        ).fetchone()
        if row is not None:
            found[player_id] = Rating(*row)
    return found


def _put_result(
    connection: sqlite3.Connection, number: int, game: FinishedGame, table: AwardTable
) -> int:
    inserted = connection.execute(
        "INSERT INTO progression_results (game_id, fact_number, table_version, result)"
        " VALUES (?, ?, ?, ?) RETURNING sequence",
        (game.game_id, number, table.version, game.to_json()),
    )
    return int(inserted.fetchone()[0])


def _put_awards(connection: sqlite3.Connection, sequence: int, awards: Iterable[Award]) -> None:
    for award in awards:
        connection.execute(
            "INSERT INTO progression_awards (game_id, seat, sequence, player_id, xp, terms,"
            " zero_reason, ruleset, table_version, at_unix_ms, place)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                award.game_id,
                award.seat,
                sequence,
                award.player_id,
                award.xp,
                json.dumps([[int(term.kind), term.xp] for term in award.terms]),
                int(award.zero_reason),
                award.ruleset,
                award.table_version,
                award.at_unix_ms,
                award.place,
            ),
        )


def _put_totals(
    connection: sqlite3.Connection, sequence: int, mode: str, settlement: Settlement
) -> None:
    for one in settlement.standings:
        connection.execute(
            "INSERT OR REPLACE INTO progression_players VALUES (?, ?, ?, ?, ?, ?, ?)",
            (one.player_id, one.name, one.person, one.xp, one.games, one.wins, sequence),
        )
    for card in settlement.cards:
        connection.execute(
            "INSERT INTO progression_cards VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                card.card_id,
                card.player_id,
                card.square,
                int(card.rarity),
                card.game_id,
                card.level,
                sequence,
            ),
        )
    for player_id, rating in settlement.ratings.items():
        connection.execute(
            "INSERT OR REPLACE INTO progression_ratings VALUES (?, ?, ?, ?, ?, ?)",
            (player_id, mode, rating.mu, rating.sigma, rating.games, sequence),
        )


def _bury(
    connection: sqlite3.Connection, delivery: Delivery, error: Exception, now_ms: int
) -> None:
    """Keep when it was given up first; the problem is that of the last attempt."""
    connection.execute(
        "INSERT INTO progression_dead_letters VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET problem = excluded.problem",
        (delivery.number, delivery.game_id, now_ms, problem_of(error), delivery.raw),
    )


def _move_cursor(connection: sqlite3.Connection, number: int) -> None:
    """Never back: another consumer may be ahead."""
    connection.execute("UPDATE progression_cursor SET fact_number = max(fact_number, ?)", (number,))
