"""Who takes a seat."""

from typing import Final

from opolyx_matchmaker.names import shown_name
from opolyx_matchmaker.refusals import bad_field
from opolyx_matchmaker.room import Occupant, Seat
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import PermissionDenied

BOT_ROLE: Final = "bot"

_LONGEST_NONCE: Final = 64


def seat_for(caller: Principal, nonce: bytes) -> Seat:
    """The caller on a seat; raises InvalidArgument for a bad nonce."""
    if len(nonce) > _LONGEST_NONCE:
        raise bad_field("nonce", f"must have at most {_LONGEST_NONCE} bytes")
    if caller.role not in ("player", BOT_ROLE):
        raise PermissionDenied("NOT_IN_ROOM", f"a {caller.role} takes no seat")
    occupant = Occupant.BOT if caller.role == BOT_ROLE else Occupant.PERSON
    name = shown_name(caller.name, caller.subject)
    return Seat(occupant=occupant, player_id=caller.subject, name=name, nonce=nonce)
