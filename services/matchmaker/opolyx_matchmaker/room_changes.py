"""Everything that can happen to a room; pure.

A transition takes a room and returns the room after it, or a `RoomRefusal`. The store runs them
inside its transactions, so a transition must depend on its arguments alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.names import told_apart
from opolyx_matchmaker.room import OPEN_SEAT, Occupant, Room, RoomState, Seat
from opolyx_matchmaker.room_refusal import RefusalKind, RoomRefusal

_MOST_REQUESTS: Final = 16
_NO_RATINGS: Final[Mapping[str, int]] = {}


def join(room: Room, seat: Seat, ratings: Mapping[str, int] = _NO_RATINGS) -> Room | RoomRefusal:
    """Give `seat` the first open place; an account that is in already keeps the one it has.

    Args:
        room: the room.
        seat: who joins.
        ratings: those that are known; if others are needed, the refusal says whose.
    """
    if room.seat_of(seat.player_id) is not None and room.state is not RoomState.CLOSED:
        return room
    if refusal := _not_open(room):
        return refusal
    return _seated(room, seat, None, ratings)


def leave(room: Room, player_id: str) -> Room | RoomRefusal:
    """Take an account out; the creator's role passes on, the last person closes the room."""
    number = room.seat_of(player_id)
    if number is None:
        return RoomRefusal(RefusalKind.NOT_IN_ROOM)
    if refusal := _not_open(room):
        return refusal
    return _without(room, number)


def kick(room: Room, caller_id: str, player_id: str) -> Room | RoomRefusal:
    """Take a person out, by the creator's will."""
    if refusal := _not_creators(room, caller_id):
        return refusal
    number = room.seat_of(player_id)
    if number is None or room.seats[number].occupant is not Occupant.PERSON:
        return RoomRefusal(RefusalKind.NOT_IN_ROOM)
    return _without(room, number)


def add_bot(
    room: Room,
    caller_id: str,
    bot: Seat,
    number: int | None,
    ratings: Mapping[str, int] = _NO_RATINGS,
    request: str = "",
) -> Room | RoomRefusal:
    """Seat a bot, by the creator's will; on the first open seat if `number` is None.

    Args:
        room: the room.
        caller_id: who asks.
        bot: the bot.
        number: the seat.
        ratings: as for `join`.
        request: one that the room remembers changes nothing; empty for one that is like no other.
    """
    if request in room.requests:
        return room
    if refusal := _not_creators(room, caller_id):
        return refusal
    if bot.player_id and room.seat_of(bot.player_id) is not None:
        return RoomRefusal(RefusalKind.BOT_UNAVAILABLE)
    seated = _seated(room, bot, number, ratings)
    if not request or isinstance(seated, RoomRefusal):
        return seated
    return replace(seated, requests=(*room.requests, request)[-_MOST_REQUESTS:])


def remove_bot(room: Room, caller_id: str, number: int) -> Room | RoomRefusal:
    """Unseat a bot, by the creator's will."""
    if refusal := _not_creators(room, caller_id):
        return refusal
    if number >= len(room.seats) or not room.seats[number].is_bot:
        return RoomRefusal(RefusalKind.INVALID_FIELD, seat=number)
    return _without(room, number)


def withdraw(room: Room, player_id: str) -> Room | RoomRefusal:
    """Take a bot out of an open room because its offer ended; others stay, and so does a game."""
    number = room.seat_of(player_id)
    if number is None or room.state is not RoomState.OPEN or not room.seats[number].offered:
        return room
    return _without(room, number)


def show_grant(room: Room, player_id: str, grant: SeatGrant) -> Room | RoomRefusal:
    """Show what an account brings, if it still sits there and the start has not begun."""
    number = room.seat_of(player_id)
    if number is None or room.state is not RoomState.OPEN or room.seats[number].grant == grant:
        return room
    seat = replace(room.seats[number], grant=grant)
    return _changed(room, seats=(*room.seats[:number], seat, *room.seats[number + 1 :]))


def begin_start(room: Room, caller_id: str) -> Room | RoomRefusal:
    """Begin to start the game; a room that has begun or started stays as it is."""
    if room.state in (RoomState.STARTING, RoomState.STARTED):
        if room.seat_of(caller_id) is None:
            return RoomRefusal(RefusalKind.NOT_CREATOR)
        return room
    if refusal := _not_creators(room, caller_id):
        return refusal
    if room.open_seats:
        return RoomRefusal(RefusalKind.SEATS_OPEN, seat=_first_open(room))
    return _changed(room, state=RoomState.STARTING)


def finish_start(room: Room, grants: Sequence[SeatGrant]) -> Room | RoomRefusal:
    """The game exists, with these grants by seat; they are what the room shows from now on."""
    if room.state is not RoomState.STARTING:
        return room
    seats = tuple(
        replace(seat, grant=grant) for seat, grant in zip(room.seats, grants, strict=True)
    )
    return _changed(room, state=RoomState.STARTED, seats=seats)


def undo_start(room: Room, until_ms: int) -> Room | RoomRefusal:
    """The engine refused the game: the room takes changes again, until `until_ms`."""
    if room.state is not RoomState.STARTING:
        return room
    return _changed(room, state=RoomState.OPEN, expires_ms=until_ms)


def close(room: Room) -> Room | RoomRefusal:
    """Close a room whose game has not started."""
    if room.state is RoomState.STARTED or room.state is RoomState.CLOSED:
        return room
    return _changed(room, state=RoomState.CLOSED)


def close_if_open(room: Room) -> Room | RoomRefusal:
    """Close a room unless its game is being started, or has."""
    return close(room) if room.state is RoomState.OPEN else room


def expire(room: Room, now_ms: int) -> Room | RoomRefusal:
    """Close an open room whose time is up."""
    return room if now_ms < room.expires_ms else close_if_open(room)


def end(room: Room) -> Room | RoomRefusal:
    """The room's game is over, or gone: nobody is kept busy by it any more."""
    if room.over or room.state is RoomState.CLOSED:
        return room
    started = room.state in (RoomState.STARTING, RoomState.STARTED)
    return _changed(room, over=True, state=RoomState.STARTED if started else RoomState.CLOSED)


def _changed(room: Room, **fields: object) -> Room:
    return replace(room, revision=room.revision + 1, **fields)  # type: ignore[arg-type]


def _not_open(room: Room) -> RoomRefusal | None:
    if room.state is RoomState.OPEN:
        return None
    if room.state is RoomState.CLOSED:
        return RoomRefusal(RefusalKind.ROOM_NOT_FOUND)
    return RoomRefusal(RefusalKind.ROOM_STARTED)


def _not_creators(room: Room, caller_id: str) -> RoomRefusal | None:
    if room.state is RoomState.CLOSED:
        return RoomRefusal(RefusalKind.ROOM_NOT_FOUND)
    if caller_id != room.creator_id:
        return RoomRefusal(RefusalKind.NOT_CREATOR)
    return _not_open(room)


def _first_open(room: Room) -> int:
    return next(
        (number for number, seat in enumerate(room.seats) if seat.occupant is Occupant.NOBODY), -1
    )


def _seated(
    room: Room, seat: Seat, number: int | None, ratings: Mapping[str, int]
) -> Room | RoomRefusal:
    if not room.open_seats:
        return RoomRefusal(RefusalKind.ROOM_FULL)
    place = _first_open(room) if number is None else number
    if place >= len(room.seats) or room.seats[place].occupant is not Occupant.NOBODY:
        return RoomRefusal(RefusalKind.INVALID_FIELD, seat=place)
    if refusal := _wrong_company(room, seat) or _wrong_rating(room, seat, ratings):
        return refusal
    others = [other.name for other in room.seats if other.occupant is not Occupant.NOBODY]
    named = replace(seat, name=told_apart(seat.name, others))
    return _changed(room, seats=(*room.seats[:place], named, *room.seats[place + 1 :]))


def _wrong_company(room: Room, newcomer: Seat) -> RoomRefusal | None:
    """Whether a bot would sit with people, or with bots, though it plays without them."""
    table = (*room.seats, newcomer)
    people = sum(seat.occupant is Occupant.PERSON for seat in table)
    bots = sum(seat.is_bot for seat in table)
    shy = people > 0 and any(seat.bots_only for seat in table)
    proud = bots > 1 and any(seat.people_only for seat in table)
    return RoomRefusal(RefusalKind.BOT_UNAVAILABLE) if shy or proud else None


def _wrong_rating(room: Room, newcomer: Seat, ratings: Mapping[str, int]) -> RoomRefusal | None:
    """Whether somebody's rating is out of a bot's range; only the newcomer makes new pairs."""
    others = [seat for seat in room.seats if seat.player_id]
    pairs = [(newcomer, other) for other in others] + [(other, newcomer) for other in others]
    picky = [(bot, other.player_id) for bot, other in pairs if bot.has_range and other.player_id]
    unrated = frozenset(other_id for _, other_id in picky if other_id not in ratings)
    if unrated:
        return RoomRefusal(RefusalKind.BOT_UNAVAILABLE, unrated=unrated)
    if all(bot.takes_rating(ratings[other_id]) for bot, other_id in picky):
        return None
    return RoomRefusal(RefusalKind.BOT_UNAVAILABLE)


def _without(room: Room, number: int) -> Room:
    """The room with an open seat more, and a creator who is in it, or closed if nobody could be."""
    leaver = room.seats[number].player_id
    seats = (*room.seats[:number], OPEN_SEAT, *room.seats[number + 1 :])
    if not leaver or leaver != room.creator_id:
        return _changed(room, seats=seats)
    heirs = [seat.player_id for seat in seats if seat.occupant is Occupant.PERSON]
    if not heirs:
        return _changed(room, seats=seats, state=RoomState.CLOSED)
    return _changed(room, seats=seats, creator_id=heirs[0])
