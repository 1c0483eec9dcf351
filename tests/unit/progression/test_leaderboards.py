"""Leaderboards: exact ranks, ties alike in a fixed order, neighbours."""

import random
import sqlite3
from pathlib import Path

import pytest

from opolyx_progression.leaderboards import Score, rating_board
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.store.schema import STEPS
from opolyx_progression.store.scores import put_scores, read_around, read_top
from support_progression import bot, duel, finished_fact, finished_game, open_store, person

BOARD = "xp"


@pytest.fixture
def connection() -> sqlite3.Connection:
    opened = sqlite3.connect(":memory:")
    opened.executescript(STEPS[0])
    return opened


def put(connection: sqlite3.Connection, scores: dict[str, int]) -> None:
    for player_id in scores:
        connection.execute(
            "INSERT OR IGNORE INTO progression_players VALUES (?, ?, 1, 0, 0, 0, 0)",
            (player_id, player_id.upper()),
        )
    put_scores(connection, [Score(BOARD, player, score) for player, score in scores.items()])


def expected(scores: dict[str, int]) -> list[tuple[int, str, int]]:
    """All rows, the slow way."""
    ordered = sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
    return [
        (1 + sum(other > score for other in scores.values()), player, score)
        for player, score in ordered
    ]


def test_top_ranks_ties_alike_in_the_order_of_ids(connection: sqlite3.Connection) -> None:
    put(connection, {"p_d": 50, "p_b": 70, "p_c": 70, "p_a": 90, "p_e": 50, "p_f": 10})

    page = read_top(connection, BOARD, 5)

    assert [(1, "p_a"), (2, "p_b"), (2, "p_c"), (4, "p_d"), (4, "p_e")] == [
        (row.rank, row.player_id) for row in page.rows
    ]
    assert 6 == page.players
    assert "P_A" == page.rows[0].name


def test_empty_board_has_no_rows(connection: sqlite3.Connection) -> None:
    page = read_top(connection, BOARD, 5)

    assert ((), 0) == (page.rows, page.players)
    assert read_around(connection, BOARD, "p_a", 5) is None


@pytest.mark.parametrize("spread", [3, 200, 100_000])
@pytest.mark.parametrize("limit", [1, 2, 7, 100])
def test_ranks_and_neighbours_agree_with_counting(
    connection: sqlite3.Connection, spread: int, limit: int
) -> None:
    chance = random.Random(spread)
    scores = {f"p_{number}": 0 for number in range(60)}
    for _ in range(4):  # scores move up and down, and below zero
        scores = {player: chance.randint(-spread, spread) for player in scores}
        put(connection, scores)
    rows = expected(scores)

    top = read_top(connection, BOARD, limit)
    assert rows[:limit] == [(row.rank, row.player_id, row.score) for row in top.rows]

    for place, (_, player_id, _) in enumerate(rows):
        page = read_around(connection, BOARD, player_id, limit)
        assert page is not None
        start = max(0, min(place - (limit - 1) // 2, len(rows) - limit))
        assert rows[start : start + limit] == [
            (row.rank, row.player_id, row.score) for row in page.rows
        ]


def test_every_query_follows_an_index(connection: sqlite3.Connection) -> None:
    """Nothing is sorted or scanned, so that a million players cost as little as ten."""
    put(connection, {f"p_{number}": number % 7 for number in range(20)})
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    read_top(connection, BOARD, 10)
    read_around(connection, BOARD, "p_5", 10)
    connection.set_trace_callback(None)

    assert len(statements) > 10
    for statement in statements:
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
        assert all("SEARCH" in step for step in plan), (statement, plan)


async def test_people_and_bots_have_boards_of_their_own(tmp_path: Path) -> None:
    async with open_store(tmp_path / "p.db") as store:
        mixed = finished_game(
            person("p_a", 1), bot("b_a", 2), person("p_b", 3), bot("b_b", 4), game_id="g2"
        )
        for number, game in enumerate([duel("g1", "p_a", "p_b"), mixed], start=1):
            await store.apply([delivery_of(finished_fact(number, game))], now_ms=1)

        xp = await store.top("xp", 10)
        people = await store.top(rating_board("classic", bots=False), 10)
        bots = await store.top(rating_board("classic", bots=True), 10)

    assert ["p_a", "p_b"] == [row.player_id for row in xp.rows]
    assert ["p_a", "p_b"] == [row.player_id for row in people.rows]
    assert ["b_a", "b_b"] == [row.player_id for row in bots.rows]
