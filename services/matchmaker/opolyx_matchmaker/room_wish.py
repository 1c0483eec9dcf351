"""The room that somebody asks for."""

from dataclasses import dataclass

from opolyx_matchmaker.room import RoomOptions


@dataclass(frozen=True, slots=True)
class RoomWish:
    """The room that somebody wants to open."""

    request_id: str
    """Made by the caller; the same again gets the same room."""

    ruleset: str
    """The ruleset."""

    seats: int
    """How many seats."""

    public: bool
    """Whether it is listed."""

    options: RoomOptions
    """What the house changes."""

    nonce: bytes
    """The caller's share in the dice."""
