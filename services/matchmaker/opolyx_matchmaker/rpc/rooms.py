"""Rooms as callers see them."""

from collections.abc import AsyncIterator
from typing import Any, Final

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx_matchmaker.lobby import Lobby
from opolyx_matchmaker.refusals import bad_field
from opolyx_matchmaker.room import Room, RoomState
from opolyx_matchmaker.room_wish import RoomWish
from opolyx_matchmaker.rpc import convert
from opolyx_matchmaker.rpc.stream_check import StreamCheck
from opolyx_matchmaker.watch import RoomBoard, StreamLimit
from opolyx_servicekit.access import Principal, current_principal

_LARGEST_PAGE: Final = 100
_PAGE: Final = 50
_ENDED: Final = (RoomState.STARTED, RoomState.CLOSED)


class RoomHandlers:
    """The RPCs about rooms; mixed into the servicer."""

    _lobby: Lobby
    _board: RoomBoard
    _streams: StreamLimit
    _check: StreamCheck
    _check_seconds: float

    async def CreateRoom(
        self, request: pb.CreateRoomRequest, context: Any
    ) -> pb.CreateRoomResponse:
        """Open a room."""
        caller = current_principal()
        wish = RoomWish(
            request_id=request.request_id,
            ruleset=request.ruleset,
            seats=request.seats,
            public=request.public,
            options=convert.options_of(request.options),
            nonce=request.nonce,
        )
        return pb.CreateRoomResponse(room=_shown(await self._lobby.create(caller, wish), caller))

    async def JoinRoom(self, request: pb.JoinRoomRequest, context: Any) -> pb.JoinRoomResponse:
        """Take a seat."""
        caller = current_principal()
        room, seat = await self._lobby.join(caller, request.room_id, request.code, request.nonce)
        return pb.JoinRoomResponse(room=_shown(room, caller), seat=seat)

    async def LeaveRoom(self, request: pb.LeaveRoomRequest, context: Any) -> pb.LeaveRoomResponse:
        """Leave a room."""
        await self._lobby.leave(current_principal(), request.room_id)
        return pb.LeaveRoomResponse()

    async def GetRoom(self, request: pb.GetRoomRequest, context: Any) -> pb.GetRoomResponse:
        """Read a room."""
        room = await self._lobby.get(request.room_id)
        return pb.GetRoomResponse(room=_shown(room, current_principal()))

    async def ListRooms(self, request: pb.ListRoomsRequest, context: Any) -> pb.ListRoomsResponse:
        """List public rooms with an open seat."""
        if request.page_size > _LARGEST_PAGE:
            raise bad_field("page_size", f"must be 0 to {_LARGEST_PAGE}")
        limit = request.page_size or _PAGE
        after = convert.read_page_token(request.page_token)
        found = await self._lobby.listed(request.ruleset, after, limit + 1)
        page, caller = found[:limit], current_principal()
        return pb.ListRoomsResponse(
            rooms=[_shown(room, caller) for room in page],
            next_page_token=convert.page_token(page[-1]) if len(found) > limit else "",
        )

    async def WatchRoom(
        self, request: pb.WatchRoomRequest, context: Any
    ) -> AsyncIterator[pb.WatchRoomResponse]:
        """Send the room now and after each change, until it has started or is closed."""
        caller = current_principal()
        with (
            self._streams.stream(caller.subject),
            self._board.watching(request.room_id) as watcher,
        ):
            sent = 0
            room = await self._lobby.get(request.room_id)
            while True:
                if room.revision > sent:
                    sent = room.revision
                    yield pb.WatchRoomResponse(room=_shown(room, caller))
                if room.state in _ENDED:
                    return
                changed = await watcher.next(self._check_seconds)
                self._check.check(caller)
                room = changed or await self._lobby.get(request.room_id)

    async def AddBot(self, request: pb.AddBotRequest, context: Any) -> pb.AddBotResponse:
        """Seat a bot."""
        caller = current_principal()
        seat = request.seat if request.HasField("seat") else None
        room_id, request_id = request.room_id, request.request_id
        kind = request.WhichOneof("bot")
        if kind == "policy":
            add = self._lobby.add_built_in(caller, room_id, request.policy, seat, request_id)
        elif kind == "player_id":
            add = self._lobby.add_offered(caller, room_id, request.player_id, seat, request_id)
        else:
            raise bad_field("policy", "policy or player_id must be given")
        return pb.AddBotResponse(room=_shown(await add, caller))

    async def RemoveBot(self, request: pb.RemoveBotRequest, context: Any) -> pb.RemoveBotResponse:
        """Unseat a bot."""
        caller = current_principal()
        room = await self._lobby.remove_bot(caller, request.room_id, request.seat)
        return pb.RemoveBotResponse(room=_shown(room, caller))

    async def Kick(self, request: pb.KickRequest, context: Any) -> pb.KickResponse:
        """Unseat a person."""
        caller = current_principal()
        room = await self._lobby.kick(caller, request.room_id, request.player_id)
        return pb.KickResponse(room=_shown(room, caller))

    async def StartGame(self, request: pb.StartGameRequest, context: Any) -> pb.StartGameResponse:
        """Start the game."""
        game_id = await self._lobby.start(current_principal(), request.room_id)
        return pb.StartGameResponse(game_id=game_id)

    async def Rematch(self, request: pb.RematchRequest, context: Any) -> pb.RematchResponse:
        """Play again with the same table."""
        caller = current_principal()
        room = await self._lobby.rematch(caller, request.game_id, request.nonce)
        return pb.RematchResponse(room=_shown(room, caller))

    async def GetCurrentGame(
        self, request: pb.GetCurrentGameRequest, context: Any
    ) -> pb.GetCurrentGameResponse:
        """Where the caller is."""
        found = await self._lobby.whereabouts(current_principal())
        if found is None:
            return pb.GetCurrentGameResponse()
        placement, room = found
        if room.state is RoomState.STARTED:
            return pb.GetCurrentGameResponse(game_id=room.game_id, seat=placement.seat)
        return pb.GetCurrentGameResponse(room_id=room.room_id, seat=placement.seat)


def _shown(room: Room, caller: Principal) -> pb.Room:
    return convert.room_message(room, caller.subject)
