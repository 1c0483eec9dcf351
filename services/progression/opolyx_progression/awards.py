"""Awards: what one finished game pays each seat, with its terms. Pure; rules XP-1 to XP-4.

Recomputable for ever: an award names the version of the table it was made by, and no table
that was released is ever changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from opolyx_progression.games import FinishedGame, FinishedSeat, Scheme, SeatKind


class TermKind(IntEnum):
    """What a term is for. Stored, and as on the wire: never renumber."""

    PLACE = 1
    GROUPS = 2
    SURVIVAL = 3
    WIN = 4
    FEW_PEOPLE = 5


class ZeroReason(IntEnum):
    """Why an award is zero. Stored, and as on the wire: never renumber."""

    NOT_ZERO = 0
    SHORT_GAME = 1
    BOT = 2
    SCHEME = 3
    NOT_WINNER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class AwardTable:
    """The amounts, all in XP. Released ones are frozen: a change is a new version."""

    version: int
    """Its number, stored with each award."""

    first_place: int
    """For place 1."""

    last_place: int
    """For the last place; those between fall evenly."""

    full_group: int
    """For each full colour group held at the end."""

    survival: int
    """For being in the game at its end."""

    win: int
    """For the winner, under the winner scheme."""

    last_unpaid_round: int
    """A game that ends in this round or before pays nothing."""

    fewest_people: int
    """With fewer human accounts a game pays half."""


TABLES: Final[Mapping[int, AwardTable]] = MappingProxyType(
    {
        1: AwardTable(
            version=1,
            first_place=200,
            last_place=40,
            full_group=25,
            survival=50,
            win=200,
            last_unpaid_round=20,
            fewest_people=2,
        )
    }
)
"""Every table there ever was, by version."""

CURRENT: Final = TABLES[max(TABLES)]
"""The table that new games are paid by."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term of an award."""

    kind: TermKind
    """What for."""

    xp: int
    """How much; below 0 for a halving."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """What one seat of one game was awarded."""

    game_id: str
    """The game."""

    seat: int
    """The seat."""

    player_id: str
    """The account; empty for a built-in bot."""

    terms: tuple[Term, ...]
    """What it is the sum of; empty for a zero."""

    zero_reason: ZeroReason
    """Why it is zero."""

    ruleset: str
    """The game's ruleset."""

    table_version: int
    """The table it was made by."""

    at_unix_ms: int
    """When the game ended."""

    place: int
    """The seat's place."""

    @property
    def xp(self) -> int:
        """XP in all, never below 0."""
        return sum(term.xp for term in self.terms)


def awards_of(game: FinishedGame, table: AwardTable = CURRENT) -> list[Award]:
    """One award a seat, in seat order."""
    return [_award(game, seat, table) for seat in game.seats]


def _award(game: FinishedGame, seat: FinishedSeat, table: AwardTable) -> Award:
    reason = _zero_reason(game, seat, table)
    return Award(
        game_id=game.game_id,
        seat=seat.seat,
        player_id=seat.player_id,
        terms=_terms(game, seat, table) if reason is ZeroReason.NOT_ZERO else (),
        zero_reason=reason,
        ruleset=game.ruleset,
        table_version=table.version,
        at_unix_ms=game.ended_unix_ms,
        place=seat.place,
    )


def _zero_reason(game: FinishedGame, seat: FinishedSeat, table: AwardTable) -> ZeroReason:
    """The most lasting reason first: a bot's game could be as long as it likes."""
    if seat.kind is not SeatKind.PERSON:
        return ZeroReason.BOT
    if game.scheme is Scheme.NONE:
        return ZeroReason.SCHEME
    if game.round <= table.last_unpaid_round:
        return ZeroReason.SHORT_GAME
    if game.scheme is Scheme.WINNER and seat.place != 1:
        return ZeroReason.NOT_WINNER
    return ZeroReason.NOT_ZERO


def _terms(game: FinishedGame, seat: FinishedSeat, table: AwardTable) -> tuple[Term, ...]:
    if game.scheme is Scheme.WINNER:
        earned = [Term(TermKind.WIN, table.win)]
    else:
        earned = [
            Term(TermKind.PLACE, place_xp(seat.place, game.places, table)),
            Term(TermKind.GROUPS, table.full_group * seat.full_groups),
            Term(TermKind.SURVIVAL, table.survival if seat.survived else 0),
        ]
    if game.people < table.fewest_people:
        whole = sum(term.xp for term in earned)
        earned.append(Term(TermKind.FEW_PEOPLE, whole // 2 - whole))
    return tuple(term for term in earned if term.xp)


def place_xp(place: int, places: int, table: AwardTable = CURRENT) -> int:
    """XP for a place: the first's, less an even share of the fall to the last's (XP-1).

    The share is rounded down, as every division in the rules. Four places: 200, 147, 94, 40.
    """
    fall = table.first_place - table.last_place
    return table.first_place - fall * (place - 1) // (places - 1)
