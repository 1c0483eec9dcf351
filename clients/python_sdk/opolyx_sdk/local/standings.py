"""What many games say about their players: win rates and ratings, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from opolyx_sdk.local._thinking import ThinkingTime
from opolyx_sdk.local.ratings import Interval, rate

_Z: Final = 1.959964  # 95 % of a normal distribution lie within so many deviations
_KEPT_NOTES: Final = 5


@dataclass(slots=True)
class SeatRow:
    """One player in one game."""

    entrant: int
    """Which of the arena's entrants."""

    place: int
    """Place from 1; a side shares its place."""

    net_worth: int
    """Net worth at the end, in k."""

    decisions: int = 0
    """Decisions answered."""

    refusals: int = 0
    """Answers that were refused."""

    failures: int = 0
    """Times that the bot raised or was too slow."""

    fallbacks: int = 0
    """Decisions that were answered for the bot."""

    notes: tuple[str, ...] = ()
    """The first few of what was refused or failed."""

    thinking: ThinkingTime = field(default_factory=ThinkingTime)
    """How long it thought."""


@dataclass(slots=True)
class GameRow:
    """One game."""

    number: int
    """Which of the arena's games, from 0."""

    game_id: str
    """Its id."""

    seats: tuple[SeatRow, ...]
    """Who sat where and how they did, in seat order."""

    rounds: int
    """Round of the end."""

    actions: int
    """Actions in all."""

    digest: str
    """Digest of the whole game (`GameRecord.digest`)."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How one entrant did over all games."""

    name: str
    """Its name."""

    games: int
    """Games played."""

    wins: int
    """Games in first place."""

    win_rate: Interval
    """Share of games won, with the interval of Wilson."""

    mean_place: float
    """Average place."""

    mean_net_worth: float
    """Average net worth at the end, in k."""

    rating: Interval
    """Strength (`ratings`): 1000 on average, 400 more are odds of ten to one in a pair."""

    decisions: int
    """Decisions answered."""

    refusals: int
    """Answers that were refused."""

    failures: int
    """Times that the bot raised or was too slow."""

    fallbacks: int
    """Decisions that were answered for the bot."""

    notes: tuple[str, ...]
    """The first few of what was refused or failed."""

    mean_thinking_s: float
    """Average time of a decision on this machine, seconds; 0 for built-in bots."""

    p99_thinking_s: float
    """What 99 % of its decisions did not exceed, seconds."""


def standings(names: Sequence[str], games: Sequence[GameRow]) -> tuple[Standing, ...]:
    """How every entrant did, the best rating first.

    Args:
        names: the entrants'.
        games: what was played, in any order.
    """
    placings = [tuple((seat.entrant, seat.place) for seat in game.seats) for game in games]
    ratings = rate(len(names), placings)
    lines = [
        _standing(
            name,
            [row for game in games for row in game.seats if row.entrant == entrant],
            ratings[entrant],
        )
        for entrant, name in enumerate(names)
    ]
    return tuple(sorted(lines, key=lambda line: -line.rating.value))


def wilson(wins: int, games: int) -> Interval:
    """A share and its 95 % interval by Wilson, which holds for few games and shares near 0 or 1."""
    if not games:
        return Interval(0.0, 0.0, 1.0)
    share, square = wins / games, _Z * _Z
    centre = (share + square / (2 * games)) / (1 + square / games)
    spread = share * (1 - share) / games + square / (4 * games * games)
    half = _Z * math.sqrt(spread) / (1 + square / games)
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


def _standing(name: str, rows: Sequence[SeatRow], rating: Interval) -> Standing:
    wins, thinking = sum(row.place == 1 for row in rows), ThinkingTime()
    for row in rows:
        thinking.add(row.thinking)
    return Standing(
        name=name,
        games=len(rows),
        wins=wins,
        win_rate=wilson(wins, len(rows)),
        mean_place=_mean([row.place for row in rows]),
        mean_net_worth=_mean([row.net_worth for row in rows]),
        rating=rating,
        decisions=sum(row.decisions for row in rows),
        refusals=sum(row.refusals for row in rows),
        failures=sum(row.failures for row in rows),
        fallbacks=sum(row.fallbacks for row in rows),
        notes=tuple([note for row in rows for note in row.notes][:_KEPT_NOTES]),
        mean_thinking_s=thinking.mean_s,
        p99_thinking_s=thinking.percentile_s(0.99),
    )


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
