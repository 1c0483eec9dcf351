"""Leaderboards of every store: the same rows, ranks and neighbours, ties in the same order."""

import random

import pytest

from opolyx_progression.deliveries import Delivery
from opolyx_progression.leaderboards import XP_BOARD, BoardRow, place_of, rating_board
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.store.base import Store
from support_progression import duel, finished_fact

PLAYERS = [
    f"p_{name}" for name in ("a", "A", "aa", "é", "z", "Z", "龍", "𝔭", "-", "{x}", "0", "00")
]
"""Ids whose order differs by how they are compared."""

BOARDS = (XP_BOARD, rating_board("classic", bots=False))


def history() -> list[Delivery]:
    """Duels of everybody, and of a few once more: so that many have the same scores."""
    chance = random.Random(7)
    order = chance.sample(PLAYERS, len(PLAYERS)) + chance.sample(PLAYERS, 6)
    pairs = zip(order[::2], order[1::2], strict=True)
    return [
        delivery_of(finished_fact(number, duel(f"g{number}", *pair)))
        for number, pair in enumerate(pairs, 1)
    ]


async def expected(store: Store, board: str) -> list[BoardRow]:
    """All rows, the slow way, out of the profiles."""
    scores: dict[str, int] = {}
    for player_id in PLAYERS:
        profile = await store.profile(player_id)
        if profile.standing.games:
            rating = profile.ratings["classic"]
            scores[player_id] = profile.standing.xp if board == XP_BOARD else rating.ordinal
    return [
        BoardRow(1 + sum(other > score for other in scores.values()), player, player.upper(), score)
        for player, score in sorted(scores.items(), key=lambda entry: place_of(entry[1], entry[0]))
    ]


@pytest.mark.parametrize("board", BOARDS)
async def test_every_page_of_a_board_agrees_with_counting(store: Store, board: str) -> None:
    for delivery in history():
        await store.apply([delivery], now_ms=1)
    rows = await expected(store, board)
    assert len(PLAYERS) == len(rows)
    assert len({row.score for row in rows}) < len(rows)

    for limit in (1, 2, 5, 100):
        top = await store.top(board, limit)
        assert (tuple(rows[:limit]), len(rows)) == (top.rows, top.players)
        for place, row in enumerate(rows):
            page = await store.around(board, row.player_id, limit)
            assert page is not None
            first = max(0, min(place - (limit - 1) // 2, len(rows) - limit))
            assert (tuple(rows[first : first + limit]), len(rows)) == (page.rows, page.players)


async def test_nobody_is_on_an_empty_board(store: Store) -> None:
    page = await store.top(XP_BOARD, 5)
    assert ((), 0) == (page.rows, page.players)
    assert await store.around(XP_BOARD, "p_a", 5) is None


def test_rows_are_ordered_by_score_and_then_by_the_bytes_of_the_id() -> None:
    rows = [(5, "p_b"), (9, "p_é"), (9, "p_z"), (-1, "p_a"), (9, "p_Z")]
    assert [(9, "p_Z"), (9, "p_z"), (9, "p_é"), (5, "p_b"), (-1, "p_a")] == sorted(
        rows, key=lambda row: place_of(*row)
    )
