"""Rooms and grants as the text that is stored."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.room import Occupant, Room, RoomOptions, RoomState, Seat


def room_body(room: Room) -> str:
    """What of a room has no column of its own."""
    return json.dumps(_body(room), separators=(",", ":"))


ROOM_COLUMNS = (
    "room_id, code, game_id, ruleset, public, state, over, created_ms, expires_ms, revision, body"
)
"""The columns that `read_room` wants, in its order."""


def read_room(row: Sequence[Any]) -> Room:
    """The room of a row of `ROOM_COLUMNS`."""
    return _room((*row[:10], json.loads(row[10])))


def room_text(room: Room) -> str:
    """All of a room."""
    columns = (
        room.room_id,
        room.code,
        room.game_id,
        room.ruleset,
        int(room.public),
        int(room.state),
        int(room.over),
        room.created_ms,
        room.expires_ms,
        room.revision,
        _body(room),
    )
    return json.dumps(columns, separators=(",", ":"))


def read_room_text(text: str | bytes) -> Room:
    """The room of `room_text`."""
    return _room(json.loads(text))


def grants_text(grants: Sequence[SeatGrant]) -> str:
    """Grants by seat."""
    return json.dumps([_grant_fields(grant) for grant in grants], separators=(",", ":"))


def read_grants(text: str | bytes) -> list[SeatGrant]:
    """Grants by seat, from `grants_text`."""
    return [_read_grant(fields) for fields in json.loads(text)]


def _body(room: Room) -> dict[str, Any]:
    return {
        "creator": room.creator_id,
        "options": asdict(room.options),
        "commitment": room.commitment.hex(),
        "seats": [
            {
                "occupant": int(seat.occupant),
                "player": seat.player_id,
                "name": seat.name,
                "policy": seat.policy,
                "nonce": seat.nonce.hex(),
                "offered": seat.offered,
                "bots_only": seat.bots_only,
                "people_only": seat.people_only,
                "min_rating": seat.min_rating,
                "max_rating": seat.max_rating,
                "grant": _grant_fields(seat.grant),
            }
            for seat in room.seats
        ],
        "requests": room.requests,
    }


def _room(columns: Sequence[Any]) -> Room:
    """The room of the columns, the last of which is its body."""
    body = columns[10]
    return Room(
        room_id=columns[0],
        code=columns[1],
        game_id=columns[2],
        ruleset=columns[3],
        public=bool(columns[4]),
        state=RoomState(columns[5]),
        over=bool(columns[6]),
        created_ms=columns[7],
        expires_ms=columns[8],
        revision=columns[9],
        creator_id=body["creator"],
        options=RoomOptions(**body["options"]),
        commitment=bytes.fromhex(body["commitment"]),
        seats=tuple(_read_seat(seat) for seat in body["seats"]),
        requests=tuple(body.get("requests", ())),  # absent in older rooms
    )


def _read_seat(seat: dict[str, Any]) -> Seat:
    return Seat(
        occupant=Occupant(seat["occupant"]),
        player_id=seat["player"],
        name=seat["name"],
        policy=seat["policy"],
        nonce=bytes.fromhex(seat["nonce"]),
        bots_only=seat["bots_only"],
        offered=seat.get("offered", False),  # this and those below are absent in older rooms
        people_only=seat.get("people_only", False),
        min_rating=seat.get("min_rating"),
        max_rating=seat.get("max_rating"),
        grant=_read_grant(seat.get("grant", (False, ()))),
    )


def _grant_fields(grant: SeatGrant) -> list[Any]:
    return [grant.vip, grant.cards]


def _read_grant(fields: Sequence[Any]) -> SeatGrant:
    vip, cards = fields
    return SeatGrant(vip=vip, cards=tuple((square, bonus) for square, bonus in cards))
