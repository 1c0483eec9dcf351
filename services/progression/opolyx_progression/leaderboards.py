"""Leaderboards: which there are, and how rows are ranked. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from opolyx_progression.ratings import Rating
from opolyx_progression.settlement import Settlement, Standing

XP_BOARD: Final = "xp"
"""The board of people by XP."""


@dataclass(frozen=True, slots=True)
class Score:
    """A player's score on a board."""

    board: str
    """The board's name."""

    player_id: str
    """The player."""

    score: int
    """What is ranked, greater first."""


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One row of a leaderboard."""

    rank: int
    """From 1; equal scores share it."""

    player_id: str
    """The player."""

    name: str
    """The name shown."""

    score: int
    """The score."""


@dataclass(frozen=True, slots=True)
class BoardPage:
    """Some rows of a leaderboard in order."""

    rows: tuple[BoardRow, ...]
    """In the order of `place_of`."""

    players: int
    """Players on the whole board."""


def place_of(score: int, player_id: str) -> tuple[int, bytes]:
    """What rows are sorted by on every store: greater scores first, equal ones by player id.

    So a sorted set of the first values orders its members; an index over (score DESC, player id)
    does the same.
    """
    return -score, player_id.encode()


def rating_board(mode: str, *, bots: bool) -> str:
    """The board of a mode's ratings, of people or of bots."""
    return f"rating/{'bots' if bots else 'people'}/{mode}"


def scores_of(settlement: Settlement, mode: str) -> list[Score]:
    """The scores that a settlement changes: XP for people only, as bots earn none (XP-4)."""
    scores: list[Score] = []
    for standing in settlement.standings:
        scores += standing_scores(standing)
        rating = settlement.ratings.get(standing.player_id)
        if rating is not None:
            scores.append(rating_score(standing, mode, rating))
    return scores


def standing_scores(standing: Standing) -> list[Score]:
    """A player's score on the board of XP; none for a bot."""
    return [Score(XP_BOARD, standing.player_id, standing.xp)] if standing.person else []


def rating_score(standing: Standing, mode: str, rating: Rating) -> Score:
    """A player's score on the board of a mode."""
    board = rating_board(mode, bots=not standing.person)
    return Score(board, standing.player_id, rating.ordinal)


def ranked(
    rows: Sequence[tuple[str, str, int]], first_rank: int, next_rank: int
) -> tuple[BoardRow, ...]:
    """Neighbouring rows (player id, name, score) with their ranks.

    Args:
        rows: in the board's order.
        first_rank: rank of the first row's score.
        next_rank: rank of the first score below that one.
    """
    alike = sum(row[2] == rows[0][2] for row in rows)
    ranks: list[int] = []
    for index, row in enumerate(rows):
        if index < alike:
            ranks.append(first_rank)
        elif row[2] == rows[index - 1][2]:
            ranks.append(ranks[-1])
        else:
            ranks.append(next_rank + index - alike)
    return tuple(BoardRow(rank, *row) for rank, row in zip(ranks, rows, strict=True))
