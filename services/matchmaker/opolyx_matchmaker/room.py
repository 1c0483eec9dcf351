"""A room and its seats, as values."""

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Final

from opolyx_matchmaker.grants import NO_GRANT, SeatGrant

LEAST_SEATS: Final = 2
MOST_SEATS: Final = 6


class Occupant(IntEnum):
    """Who has a seat. Stored, and equal to the wire's: never renumber."""

    NOBODY = 0
    PERSON = 1
    BOT = 2
    BUILT_IN = 3


class RoomState(IntEnum):
    """The life of a room. Stored, and equal to the wire's: never renumber."""

    OPEN = 1
    STARTING = 2
    STARTED = 3
    CLOSED = 4


@dataclass(frozen=True, slots=True)
class Seat:
    """One place at the table."""

    occupant: Occupant = Occupant.NOBODY
    """Who has it."""

    player_id: str = ""
    """The account; empty for an open seat and a built-in bot."""

    name: str = ""
    """The name shown."""

    policy: str = ""
    """The built-in bot's policy."""

    nonce: bytes = field(default=b"", repr=False)
    """The player's share in the dice; never shown."""

    offered: bool = False
    """Whether it has the seat by an offer, and loses it with that until the start."""

    bots_only: bool = False
    """Whether this bot doesn't play with people."""

    people_only: bool = False
    """Whether this bot doesn't play with other bots."""

    min_rating: int | None = None
    """The lowest rating that this bot plays with."""

    max_rating: int | None = None
    """The highest rating that this bot plays with."""

    grant: SeatGrant = NO_GRANT
    """What the player brings, as far as it is known: shown until the start, then what counts."""

    @property
    def is_bot(self) -> bool:
        """Whether a bot of either kind has it."""
        return self.occupant in (Occupant.BOT, Occupant.BUILT_IN)

    @property
    def has_range(self) -> bool:
        """Whether it matters to this bot how its opponents are rated."""
        return self.min_rating is not None or self.max_rating is not None

    def takes_rating(self, rating: int) -> bool:
        """Whether this bot plays an opponent of this rating."""
        low = self.min_rating is None or self.min_rating <= rating
        return low and (self.max_rating is None or rating <= self.max_rating)


OPEN_SEAT: Final = Seat()


@dataclass(frozen=True, slots=True)
class RoomOptions:
    """What the house changed of the ruleset; None is the ruleset's own."""

    start_cash: int | None = None
    """Start cash in k."""

    round_cap: int | None = None
    """Round cap."""

    turn_seconds: int | None = None
    """Seconds a turn."""

    watchable: bool | None = None
    """Whether spectators may watch."""


@dataclass(frozen=True, slots=True)
class Room:
    """A game before its start."""

    room_id: str
    """Its id."""

    code: str = field(repr=False)
    """The code that a private room is joined by."""

    ruleset: str
    """The ruleset, `mode@edition`."""

    seats: tuple[Seat, ...]
    """The seats in seat order."""

    creator_id: str
    """Who may start it."""

    public: bool
    """Whether it is listed."""

    options: RoomOptions
    """What the house changed."""

    state: RoomState
    """Its life."""

    game_id: str
    """The reserved game."""

    commitment: bytes
    """SHA-256 of the engine's secret for the game."""

    created_ms: int
    """When it was opened, Unix milliseconds."""

    expires_ms: int
    """When it closes if nothing happens, Unix milliseconds."""

    revision: int = 1
    """Rises with every change."""

    over: bool = False
    """Whether its game is over."""

    requests: tuple[str, ...] = ()
    """The newest requests that seated a bot; the same again seats none."""

    def seat_of(self, player_id: str) -> int | None:
        """The account's seat, if it has one."""
        for number, seat in enumerate(self.seats):
            if player_id and seat.player_id == player_id:
                return number
        return None

    def lasting(self, until_ms: int) -> "Room":
        """The same room, with its expiry put off to `until_ms` if it is open."""
        if self.state is not RoomState.OPEN:
            return self
        return replace(self, expires_ms=max(until_ms, self.expires_ms))

    @property
    def open_seats(self) -> int:
        """How many seats nobody has."""
        return sum(seat.occupant is Occupant.NOBODY for seat in self.seats)

    @property
    def holds(self) -> dict[int, Seat]:
        """The seats, by number, whose accounts this room keeps busy."""
        if self.state is RoomState.CLOSED or self.over:
            return {}
        return {number: seat for number, seat in enumerate(self.seats) if seat.player_id}
