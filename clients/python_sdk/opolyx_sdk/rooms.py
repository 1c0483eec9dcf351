"""A game before its start."""

from dataclasses import dataclass

from opolyx_sdk.enums import Occupant, RoomState
from opolyx_sdk.seats import SeatCard


@dataclass(frozen=True, slots=True)
class RoomOptions:
    """What a house may change of a ruleset; absent fields are the ruleset's own."""

    start_cash: int | None = None
    """Start cash in k."""

    round_cap: int | None = None
    """Round cap."""

    turn_seconds: int | None = None
    """Seconds a turn."""

    watchable: bool | None = None
    """Whether spectators may watch; when absent, yes for a public room and no for a private one."""


@dataclass(frozen=True, slots=True)
class RoomSeat:
    """One seat of a room."""

    seat: int
    """The seat."""

    occupant: Occupant
    """Who has it."""

    player_id: str
    """The account; empty for an open seat and for a built-in bot."""

    name: str
    """The name shown; empty for an open seat."""

    policy: str
    """The built-in bot's policy; empty for others."""

    cards: tuple[SeatCard, ...] = ()
    """Collection cards of its player: those of now until the start, then those of the game (RENT-5).

    They come a moment after their player, and not at all where the server can't find them out;
    what counts is what the game has.
    """

    vip: bool = False
    """Whether its player may finance (FIN-1); known as the cards are."""


@dataclass(frozen=True, slots=True)
class Room:
    """A game before its start."""

    room_id: str
    """Its id."""

    code: str
    """The code to join a private room by; only shown to those in it."""

    ruleset: str
    """The ruleset, "mode@edition"."""

    seats: tuple[RoomSeat, ...]
    """The seats in seat order."""

    creator_id: str
    """The creator."""

    public: bool
    """Whether it is listed."""

    options: RoomOptions
    """What the house changed."""

    state: RoomState
    """Its life."""

    game_id: str
    """The game it has reserved, and after the start the game it became."""

    commitment: bytes
    """SHA-256 of the engine's secret for the game (fair dice)."""

    created_unix_ms: int
    """When it was opened, Unix milliseconds."""

    expires_unix_ms: int
    """When it closes if nothing happens, Unix milliseconds."""

    revision: int
    """Rises with every change."""

    @property
    def full(self) -> bool:
        """Whether every seat is taken."""
        return all(seat.occupant is not Occupant.UNSPECIFIED for seat in self.seats)
