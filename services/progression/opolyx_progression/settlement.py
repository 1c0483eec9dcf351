"""The settlement of a finished game: all that it changes, computed from what was. Pure.

The store applies it once a game, the audit computes it again: both from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from opolyx_progression.awards import CURRENT, Award, AwardTable, ZeroReason, awards_of
from opolyx_progression.cards import WINNERS_LEVEL, Card, draw_card, dropping_levels
from opolyx_progression.games import FinishedGame, FinishedSeat, Scheme, SeatKind
from opolyx_progression.levels import level_of
from opolyx_progression.ratings import Rating, rated_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A player's totals."""

    player_id: str
    """The player."""

    name: str = ""
    """The name shown in the last game."""

    person: bool = True
    """Whether it is a person's account, rather than a bot's; that of its first game, for ever."""

    xp: int = 0
    """All XP."""

    games: int = 0
    """Finished games."""

    wins: int = 0
    """Games won."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """All that one finished game changes."""

    awards: tuple[Award, ...]
    """One a seat, in seat order."""

    standings: tuple[Standing, ...]
    """New totals of each account at the table, in seat order."""

    cards: tuple[Card, ...]
    """New cards."""

    ratings: Mapping[str, Rating]
    """New ratings in the game's mode, by player id."""


def settle(
    game: FinishedGame,
    standings: Mapping[str, Standing],
    ratings: Mapping[str, Rating],
    table: AwardTable = CURRENT,
) -> Settlement:
    """What `game` changes.

    Args:
        game: a checked result.
        standings: totals before, by player id; who is absent has none.
        ratings: ratings in the game's mode before, by player id.
        table: the award table.
    """
    awards = awards_of(game, table)
    cards: list[Card] = []
    after: list[Standing] = []
    for seat, award in zip(game.seats, awards, strict=True):
        if not seat.player_id:
            continue
        before = standings.get(seat.player_id) or Standing(
            player_id=seat.player_id, person=seat.kind is SeatKind.PERSON
        )
        after.append(_standing(before, seat, award))
        cards += _cards(game, award, level_of(before.xp), level_of(after[-1].xp))
    return Settlement(
        awards=tuple(awards),
        standings=tuple(after),
        cards=tuple(cards),
        ratings=rated_after(game, ratings),
    )


def _standing(before: Standing, seat: FinishedSeat, award: Award) -> Standing:
    return replace(
        before,
        name=seat.name or before.name,
        xp=before.xp + award.xp,
        games=before.games + 1,
        wins=before.wins + (seat.place == 1),
    )


def _cards(game: FinishedGame, award: Award, level: int, reached: int) -> list[Card]:
    """A winner's card under the winner scheme (XP-3), then those of the levels (XP-6)."""
    levels = dropping_levels(level, reached)
    if game.scheme is Scheme.WINNER and award.zero_reason is ZeroReason.NOT_ZERO:
        levels.insert(0, WINNERS_LEVEL)
    return [draw_card(game.game_id, award.player_id, level) for level in levels]
