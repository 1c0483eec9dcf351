"""Rooms and seats in the form that the scripts are told of them."""

from collections.abc import Sequence
from typing import Any, Final

from opolyx_matchmaker.room import Room, RoomState
from opolyx_matchmaker.room_refusal import RefusalKind, RoomRefusal
from opolyx_matchmaker.store.base import Placement
from opolyx_matchmaker.store.redis_keys import listing
from opolyx_servicekit.redis_job import Value

_PHASES: Final = {RoomState.OPEN: 1, RoomState.STARTING: 2, RoomState.STARTED: 3}
_ENDED_PHASE: Final = 4


def sheet(room: Room) -> tuple[Value, ...]:
    """What the scripts' `file` wants to know of a room."""
    ended = room.state is RoomState.CLOSED or room.over
    phase = _ENDED_PHASE if ended else _PHASES[room.state]
    by_expiry = ended or room.state is RoomState.OPEN
    return (
        room.room_id,
        phase,
        room.expires_ms if by_expiry else room.created_ms,
        int(is_listed(room)),
        listing("", room.created_ms, room.room_id),
        listing(room.ruleset, room.created_ms, room.room_id),
    )


def is_listed(room: Room) -> bool:
    """Whether the public list shows the room."""
    return room.public and room.state is RoomState.OPEN and room.open_seats > 0


def place(room: Room, number: int) -> str:
    """A seat of a room, as it is kept with its player."""
    return f"{number} {room.room_id}"


def placement(player_id: str, game_id: bytes, place_of: bytes) -> Placement:
    """A player's seat, from what is kept of it."""
    number, _, room_id = place_of.decode().partition(" ")
    return Placement(player_id, room_id, game_id.decode(), int(number))


def already_playing(details: Sequence[Any]) -> RoomRefusal:
    """From what a script says of who is placed."""
    placed = placement("", details[1], details[2])
    return RoomRefusal(RefusalKind.ALREADY_PLAYING, room_id=placed.room_id, game_id=placed.game_id)
