"""Finding a game, and where a player is now."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Waiting:
    """The search goes on."""

    players: int
    """Players found so far, the caller included."""

    waited_ms: int
    """How long the caller has waited, milliseconds."""


@dataclass(frozen=True, slots=True)
class Widened:
    """The search now takes a wider range of ratings."""

    window: int
    """Rating points to either side."""


@dataclass(frozen=True, slots=True)
class Found:
    """A game was found and has started."""

    game_id: str
    """The game."""

    seat: int
    """The caller's seat."""


MatchProgress: TypeAlias = Waiting | Widened | Found
"""How a search goes."""


@dataclass(frozen=True, slots=True)
class CurrentGame:
    """Where a player is: in a room, in a game, or free."""

    room_id: str
    """The open room; empty when in none."""

    game_id: str
    """The unfinished game; empty when in none."""

    seat: int | None
    """The caller's seat in it."""
