"""Why a room can't change as somebody wants, as a value."""

from dataclasses import dataclass
from enum import StrEnum


class RefusalKind(StrEnum):
    """Why a room can't change so; each is a reason of the wire's error enum."""

    ROOM_NOT_FOUND = "ROOM_NOT_FOUND"
    ROOM_FULL = "ROOM_FULL"
    ROOM_STARTED = "ROOM_STARTED"
    ALREADY_PLAYING = "ALREADY_PLAYING"
    NOT_CREATOR = "NOT_CREATOR"
    NOT_IN_ROOM = "NOT_IN_ROOM"
    SEATS_OPEN = "SEATS_OPEN"
    BOT_UNAVAILABLE = "BOT_UNAVAILABLE"
    INVALID_FIELD = "INVALID_FIELD"


@dataclass(frozen=True, slots=True)
class RoomRefusal:
    """A change that was refused; nothing happened."""

    kind: RefusalKind
    """Why."""

    room_id: str = ""
    """The room that the player is in already, for ALREADY_PLAYING."""

    game_id: str = ""
    """The game that the player is in already, for ALREADY_PLAYING."""

    seat: int = -1
    """The seat that is in the way, if one is."""

    unrated: frozenset[str] = frozenset()
    """Accounts whose ratings must be known first, because a bot plays some ratings only."""
