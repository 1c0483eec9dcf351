"""Strength out of results: Bradley-Terry over all pairs of a table, intervals by bootstrap.

A player of strength p finishes before one of strength q with odds p : q. Every pair of a game that
didn't share its place counts, which finds the strengths of the Plackett-Luce model that rankings of
more than two follow. The order of the games plays no part, unlike in ratings that are carried on
from game to game: whose intervals stay wide, because they don't know that nobody changes. Pairs of
one game hang together, so that the intervals come from games drawn anew, not from a formula. Half a
game is added that went the other way round: else a few games that all went alike would seem sure.

Fitted as in D. Hunter, "MM algorithms for generalized Bradley-Terry models" (2004).
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Placing: TypeAlias = tuple[tuple[int, int], ...]
"""Entrant and place of each seat of one game."""

_Wins: TypeAlias = list[list[float]]

_AVERAGE: Final = 1000.0
_SCALE: Final = 400.0  # points for odds of ten to one, as in chess
_PRIOR: Final = 0.5  # of a win against everybody, and of a loss: nobody is infinitely strong
_SURPRISE: Final = 0.5  # of a game that went the other way round, among those drawn from
_DRAWS: Final = 400
_MOST_STEPS: Final = 500
_CLOSE: Final = 1e-5


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, and where the truth is with 95 % confidence."""

    value: float
    """The estimate."""

    low: float
    """Lower end."""

    high: float
    """Upper end."""


def rate(entrants: int, games: Sequence[Placing]) -> list[Interval]:
    """A rating for each entrant: 1000 on average, 400 more are odds of ten to one in a pair.

    The same games give the same ratings.
    """
    outcomes = Counter(games)
    found = _fit(_wins(entrants, outcomes.items()), [1.0] * entrants)
    if not games:
        return [Interval(_AVERAGE, -math.inf, math.inf)] * entrants
    luck = random.Random(0)  # noqa: S311 - draws samples, no secrets
    kinds, weights = _drawn_from(outcomes, len(games))
    drawn: list[list[float]] = []
    for _ in range(_DRAWS):
        sample = Counter(luck.choices(kinds, weights, k=len(games)))
        drawn.append(_shown(_fit(_wins(entrants, sample.items()), found)))
    values = _shown(found)
    columns = [sorted(sample[entrant] for sample in drawn) for entrant in range(entrants)]
    edge = _DRAWS // 40
    return [
        Interval(value, column[edge - 1], column[-edge])
        for value, column in zip(values, columns, strict=True)
    ]


def _drawn_from(outcomes: Counter[Placing], games: int) -> tuple[list[Placing], list[float]]:
    """The games as they went and the other way round, and how likely each of them is drawn."""
    kinds = sorted(outcomes)
    other_way = [tuple((one, -place) for one, place in kind) for kind in kinds]
    weights = [float(outcomes[kind]) for kind in kinds]
    share = _SURPRISE / (games + _SURPRISE)
    return kinds + other_way, weights + [weight * share for weight in weights]


def _wins(entrants: int, outcomes: Iterable[tuple[Placing, int]]) -> _Wins:
    """How often each entrant came before each other."""
    wins = [
        [0.0 if one == other else _PRIOR for other in range(entrants)] for one in range(entrants)
    ]
    for placing, count in outcomes:
        for one, place in placing:
            for other, behind in placing:
                if place < behind:
                    wins[one][other] += count
    return wins


def _fit(wins: _Wins, start: Sequence[float]) -> list[float]:
    """The strengths under which these wins are likeliest; their geometric mean is 1."""
    everybody = range(len(wins))
    total = [sum(line) for line in wins]
    met = [[wins[one][other] + wins[other][one] for other in everybody] for one in everybody]
    now = list(start)
    for _ in range(_MOST_STEPS):
        after = [
            total[one] / sum(met[one][other] / (now[one] + now[other]) for other in everybody)
            for one in everybody
        ]
        mean = math.exp(sum(math.log(one) for one in after) / len(after))
        after = [one / mean for one in after]
        moved = max(abs(one / before - 1) for one, before in zip(after, now, strict=True))
        now = after
        if moved < _CLOSE:
            break
    return now


def _shown(strengths: Sequence[float]) -> list[float]:
    return [round(_AVERAGE + _SCALE * math.log10(one), 1) for one in strengths]
