"""Ratings by mode: openskill's Plackett-Luce, people and bots apart, a side as a team. Pure.

In a mixed game each ladder sees its own: people are compared with people, bots with bots.
Built-in bots have no account and no rating. Sides of which a ladder sees nobody are left out,
and a ladder that sees fewer than two sides learns nothing from the game.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from openskill.models import PlackettLuce

from opolyx_progression.games import FinishedGame, FinishedSeat, SeatKind, seats_of

_MU: Final = 25.0
_SIGMA: Final = _MU / 3
_SHOWN_START: Final = 1000
_SHOWN_SCALE: Final = 40
_MODEL: Final = PlackettLuce(
    mu=_MU, sigma=_SIGMA, beta=_MU / 6, kappa=0.0001, tau=_MU / 300
)  # stored ratings follow from these: never change


@dataclass(frozen=True, slots=True)
class Rating:
    """What is known of a player's strength in one mode."""

    mu: float = _MU
    """The mean of the estimate."""

    sigma: float = _SIGMA
    """Its standard deviation."""

    games: int = 0
    """Rated games."""

    @property
    def ordinal(self) -> int:
        """The number shown and ranked by: 1000 + 40 × (mu − 3 sigma), rounded down."""
        return _SHOWN_START + math.floor(_SHOWN_SCALE * (self.mu - 3 * self.sigma))


NEWCOMER: Final = Rating()
"""Whoever hasn't been rated in a mode."""


def rated_after(game: FinishedGame, before: Mapping[str, Rating]) -> dict[str, Rating]:
    """New ratings in the game's mode, by player id; only of those whom the game rates.

    Args:
        game: the result.
        before: ratings in that mode by player id; who is absent is a newcomer.
    """
    after: dict[str, Rating] = {}
    for ladder in (SeatKind.PERSON, SeatKind.BOT):
        after.update(_rate(_teams(seats_of(game, (ladder,))), before))
    return after


def _teams(seats: Sequence[FinishedSeat]) -> list[list[FinishedSeat]]:
    """The seats by side, sides ascending."""
    sides: dict[int, list[FinishedSeat]] = {}
    for seat in sorted(seats, key=lambda seat: (seat.side, seat.seat)):
        sides.setdefault(seat.side, []).append(seat)
    return list(sides.values())


def _rate(
    teams: Sequence[Sequence[FinishedSeat]], before: Mapping[str, Rating]
) -> dict[str, Rating]:
    if len(teams) < 2:
        return {}
    old = [[before.get(seat.player_id, NEWCOMER) for seat in team] for team in teams]
    new = _MODEL.rate(
        [[_MODEL.create_rating([one.mu, one.sigma]) for one in team] for team in old],
        ranks=[float(team[0].place) for team in teams],
    )
    return {
        seat.player_id: Rating(rating.mu, rating.sigma, known.games + 1)
        for team, knowns, ratings in zip(teams, old, new, strict=True)
        for seat, known, rating in zip(team, knowns, ratings, strict=True)
    }
