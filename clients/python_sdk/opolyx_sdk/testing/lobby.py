"""The rooms of a scripted server: just enough to create, fill and start one."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from opolyx_sdk.accounts import Account
from opolyx_sdk.enums import Occupant, Role, RoomState
from opolyx_sdk.matches import CurrentGame
from opolyx_sdk.rooms import Room, RoomOptions, RoomSeat

_OVER = frozenset({RoomState.STARTED, RoomState.CLOSED})


class Lobby:
    """Rooms with one player: whoever calls."""

    def __init__(self, started: Callable[[str, Room], None]) -> None:
        """Call `started` with the game's id and the room when a game starts."""
        self._tell_started = started
        self.account = Account("p_scripted", "Ada", Role.PLAYER, "")
        """Who the caller is."""
        self.rooms: dict[str, Room] = {}
        """The rooms by id."""
        self._where = CurrentGame("", "", None)
        self._changed: list[Room] = []
        self._requests: set[str] = set()

    def put(self, room: Room) -> Room:
        """Take a room, or a newer state of it."""
        self.rooms[room.room_id] = room
        return room

    def place(self, game_id: str, seat: int) -> None:
        """The caller is in a game now."""
        self._where = CurrentGame("", game_id, seat)

    def is_over(self, room: Room) -> bool:
        """Whether the room won't change any more."""
        return room.state in _OVER

    def take_changed(self) -> list[Room]:
        """Rooms that have changed since this was asked last."""
        changed, self._changed = self._changed, []
        return changed

    def answer(self, method: str, request: Any) -> dict[str, object] | None:
        """The fields of the response; None for what isn't known here.

        Raises:
            LookupError: there is no such room, or no open seat.
        """
        match method:
            case "CreateRoom":
                return {"room": self._create(request.ruleset, request.seats, request.public)}
            case "GetRoom":
                return {"room": self.rooms[request.room_id]}
            case "ListRooms":
                return {"rooms": [one for one in self.rooms.values() if one.public]}
            case "JoinRoom":
                return self._join(request.room_id, request.code)
            case "AddBot":
                if request.request_id not in self._requests:
                    self._add_bot(request.room_id, request.policy or "offered")
                self._requests |= {request.request_id} - {""}
                return {"room": self.rooms[request.room_id]}
            case "StartGame":
                return {"game_id": self._start(request.room_id)}
            case "GetCurrentGame":
                where = self._where
                return {"room_id": where.room_id, "game_id": where.game_id, "seat": where.seat}
            case "LeaveRoom":
                self._where = CurrentGame("", "", None)
                return {}
        return None

    def _create(self, ruleset: str, seats: int, public: bool) -> Room:
        number = len(self.rooms) + 1
        now_ms = round(time.time() * 1000)
        open_seats = [RoomSeat(seat, Occupant.UNSPECIFIED, "", "", "") for seat in range(seats)]
        room = Room(
            room_id=f"r{number}",
            code=f"CODE{number}",
            ruleset=ruleset,
            seats=(self._person(0), *open_seats[1:]),
            creator_id=self.account.player_id,
            public=public,
            options=RoomOptions(),
            state=RoomState.OPEN,
            game_id=f"g_r{number}",
            commitment=b"",
            created_unix_ms=now_ms,
            expires_unix_ms=now_ms + 1_800_000,
            revision=1,
        )
        self._where = CurrentGame(room.room_id, "", 0)
        return self.put(room)

    def _join(self, room_id: str, code: str) -> dict[str, object]:
        by_code = {one.code: one for one in self.rooms.values()}
        room = self.rooms[room_id] if room_id else by_code[code]
        seat = self._first_open(room)
        self._where = CurrentGame(room.room_id, "", seat)
        return {"room": self._seat(room, self._person(seat)), "seat": seat}

    def _add_bot(self, room_id: str, policy: str) -> None:
        room = self.rooms[room_id]
        seat = self._first_open(room)
        name = f"{policy.capitalize()} {seat}"
        self._seat(room, RoomSeat(seat, Occupant.BUILT_IN, "", name, policy))

    def _start(self, room_id: str) -> str:
        room = self.rooms[room_id]
        room = replace(room, state=RoomState.STARTED, revision=room.revision + 1)
        self._changed.append(self.put(room))
        self._tell_started(room.game_id, room)
        self.place(room.game_id, self._where.seat or 0)
        return room.game_id

    def _seat(self, room: Room, taken: RoomSeat) -> Room:
        seats = [taken if one.seat == taken.seat else one for one in room.seats]
        room = replace(room, seats=tuple(seats), revision=room.revision + 1)
        self._changed.append(room)
        return self.put(room)

    def _first_open(self, room: Room) -> int:
        seats = (one.seat for one in room.seats if one.occupant is Occupant.UNSPECIFIED)
        if (seat := next(seats, None)) is None:
            raise LookupError("no seat is open")
        return seat

    def _person(self, seat: int) -> RoomSeat:
        me = self.account
        return RoomSeat(seat, Occupant.PERSON, me.player_id, me.name, "")
