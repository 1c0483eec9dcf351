"""The other services, as the matchmaker sees them; `rpc` has the ones that speak gRPC."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Protocol

from opolyx_matchmaker.grants import NO_GRANT, SeatGrant
from opolyx_matchmaker.room import Room, RoomOptions

NEWCOMER_RATING: Final = 1000
"""The rating shown of somebody who was never rated in a mode; progression's own."""


class EngineUnavailable(Exception):
    """The engine gave no answer; what was asked may have happened."""


class EngineRefused(Exception):
    """The engine said no, and nothing happened."""

    def __init__(self, reason: str, message: str, fields: Mapping[str, str] | None = None) -> None:
        """Keep the engine's own words.

        Args:
            reason: of its error enum, without the prefix.
            message: its text.
            fields: what is wrong with which field.
        """
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.fields = dict(fields or {})


@dataclass(frozen=True, slots=True)
class Reservation:
    """A game that can be started later."""

    game_id: str
    """Its id."""

    commitment: bytes
    """SHA-256 of the secret that its dice come from."""


@dataclass(frozen=True, slots=True)
class PlayerGrant:
    """What progression knows of a player."""

    seat: SeatGrant = NO_GRANT
    """What the player brings to any table."""

    ratings: Mapping[str, int] = field(default_factory=dict)
    """The rating shown, by mode; absent for one never played."""


def rating_in(known: Mapping[str, PlayerGrant], player_id: str, ruleset: str) -> int:
    """A player's rating in the mode of a ruleset; a newcomer's if nothing is known."""
    mode = ruleset.partition("@")[0]
    grant = known.get(player_id, PlayerGrant())
    return grant.ratings.get(mode, NEWCOMER_RATING)


class FactKind(Enum):
    """What became of a game or a seat."""

    SEAT_RELEASED = "seat_released"
    GAME_OVER = "game_over"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of the engine's."""

    number: int
    """Its number, rising."""

    game_id: str
    """The game."""

    kind: FactKind
    """What it is; OTHER for kinds that concern nobody here."""

    player_id: str = ""
    """The player set free, for SEAT_RELEASED; empty for a built-in bot."""


class GameLife(Enum):
    """What the engine says of a game."""

    RUNNING = "running"
    OVER = "over"
    GONE = "gone"


class Engine(Protocol):
    """The engine. Each call but `facts` raises EngineUnavailable or EngineRefused."""

    async def check_table(self, ruleset: str, seats: int, options: RoomOptions) -> None:
        """Ask whether a game could be played so; EngineRefused if not, and why."""
        ...

    async def reserve(self, request_id: str) -> Reservation:
        """Reserve a game; the same request gets the same game."""
        ...

    async def create(self, room: Room, grants: Sequence[SeatGrant]) -> None:
        """Start the room's game; the same again is no second game."""
        ...

    async def life(self, game_id: str) -> GameLife:
        """What became of a game; GONE if the engine knows none."""
        ...

    def facts(self, after: int) -> AsyncGenerator[list[Fact], None]:
        """Facts after a number, in order, in batches; goes on until it raises StreamLost."""
        ...


class Progression(Protocol):
    """The progression service."""

    async def grants(self, player_ids: Sequence[str]) -> Mapping[str, PlayerGrant]:
        """What is known of the players; those unknown, or all in case of trouble, are absent."""
        ...


class NoProgression:
    """Stands in where there is no progression service: nobody brings anything."""

    async def grants(self, player_ids: Sequence[str]) -> Mapping[str, PlayerGrant]:
        """Nothing."""
        return {}
