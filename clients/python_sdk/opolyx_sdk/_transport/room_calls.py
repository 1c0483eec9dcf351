"""Calls of the matchmaker."""

import uuid
from collections.abc import AsyncGenerator

import grpc

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx_sdk._convert import read, read_all
from opolyx_sdk._transport.channel import Calls
from opolyx_sdk.matches import CurrentGame, Found, MatchProgress, Waiting, Widened
from opolyx_sdk.rooms import Room, RoomOptions


class RoomCalls(Calls):
    """Rooms, and finding a game."""

    async def create_room(
        self,
        ruleset: str,
        seats: int,
        *,
        public: bool = False,
        options: RoomOptions | None = None,
        nonce: bytes = b"",
        request_id: str | None = None,
    ) -> Room:
        """Open a room with the caller on its first seat.

        Args:
            ruleset: "mode@edition".
            seats: 2 to 6.
            public: listed; else joined by its code.
            options: what the house changes.
            nonce: the caller's share in the dice, up to 64 bytes.
            request_id: the same id again gets the same room; made when absent.
        """
        request = pb.CreateRoomRequest(
            request_id=request_id or uuid.uuid4().hex,
            ruleset=ruleset,
            seats=seats,
            public=public,
            options=_write_options(options or RoomOptions()),
            nonce=nonce,
        )
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.CreateRoom, request, repeatable=True
        )
        return read(response.room, Room)

    async def join_room(
        self, room_id: str = "", *, code: str = "", nonce: bytes = b""
    ) -> tuple[Room, int]:
        """Take a seat by the room's id or code; the room and the caller's seat."""
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.JoinRoom,
            pb.JoinRoomRequest(room_id=room_id, code=code, nonce=nonce),
            repeatable=True,
        )
        return read(response.room, Room), response.seat

    async def leave_room(self, room_id: str) -> None:
        """Leave a room that has not started."""
        await self._transport.call(
            lambda stubs: stubs.matchmaker.LeaveRoom,
            pb.LeaveRoomRequest(room_id=room_id),
            repeatable=True,
        )

    async def get_room(self, room_id: str) -> Room:
        """Read one room."""
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.GetRoom,
            pb.GetRoomRequest(room_id=room_id),
            repeatable=True,
        )
        return read(response.room, Room)

    async def list_rooms(self, *, ruleset: str = "", most: int = 50) -> tuple[Room, ...]:
        """Public rooms with an open seat, oldest first; at most `most`, 1 to 100."""
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.ListRooms,
            pb.ListRoomsRequest(page_size=most, ruleset=ruleset),
            repeatable=True,
        )
        return read_all(response.rooms, Room)

    async def watch_room(self, room_id: str) -> AsyncGenerator[Room, None]:
        """The room now and after each change, until it has started or is closed."""
        call = self._transport.stubs.matchmaker.WatchRoom(
            pb.WatchRoomRequest(room_id=room_id), metadata=self._transport.metadata()
        )
        try:
            async for response in call:
                yield read(response.room, Room)
        except grpc.aio.AioRpcError as error:
            raise self._transport.failure(error) from None
        finally:
            call.cancel()

    async def add_bot(
        self,
        room_id: str,
        *,
        policy: str = "",
        player_id: str = "",
        seat: int | None = None,
    ) -> Room:
        """Seat a bot: a built-in policy ("random", "steady", "trader") or an offered bot."""
        request = pb.AddBotRequest(room_id=room_id, seat=seat)
        if player_id:
            request.player_id = player_id
        else:
            request.policy = policy
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.AddBot, request, repeatable=False
        )
        return read(response.room, Room)

    async def remove_bot(self, room_id: str, seat: int) -> Room:
        """Unseat a bot. Creator only."""
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.RemoveBot,
            pb.RemoveBotRequest(room_id=room_id, seat=seat),
            repeatable=False,
        )
        return read(response.room, Room)

    async def kick(self, room_id: str, player_id: str) -> Room:
        """Unseat a person. Creator only."""
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.Kick,
            pb.KickRequest(room_id=room_id, player_id=player_id),
            repeatable=True,
        )
        return read(response.room, Room)

    async def start_game(self, room_id: str) -> str:
        """Start the game; its id. Creator only, every seat filled."""
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.StartGame,
            pb.StartGameRequest(room_id=room_id),
            repeatable=True,
        )
        return response.game_id

    async def rematch(self, game_id: str, *, nonce: bytes = b"") -> Room:
        """Open, or join, the room with the same table after a game."""
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.Rematch,
            pb.RematchRequest(game_id=game_id, nonce=nonce),
            repeatable=True,
        )
        return read(response.room, Room)

    async def quick_match(
        self, ruleset: str, seats: int, *, allow_bots: bool = False, nonce: bytes = b""
    ) -> AsyncGenerator[MatchProgress, None]:
        """Look for a game; the last value is `Found`. Stopping the iteration ends the search."""
        request = pb.QuickMatchRequest(
            ruleset=ruleset, seats=seats, allow_bots=allow_bots, nonce=nonce
        )
        call = self._transport.stubs.matchmaker.QuickMatch(
            request, metadata=self._transport.metadata()
        )
        try:
            async for response in call:
                match response.WhichOneof("kind"):
                    case "waiting":
                        yield read(response.waiting, Waiting)
                    case "widened":
                        yield read(response.widened, Widened)
                    case "found":
                        yield read(response.found, Found)
        except grpc.aio.AioRpcError as error:
            raise self._transport.failure(error) from None
        finally:
            call.cancel()

    async def current_game(self) -> CurrentGame:
        """Where the caller is: in a room, in a game, or free."""
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.GetCurrentGame,
            pb.GetCurrentGameRequest(),
            repeatable=True,
        )
        return read(response, CurrentGame)


def _write_options(options: RoomOptions) -> pb.RoomOptions:
    return pb.RoomOptions(
        start_cash=options.start_cash,
        round_cap=options.round_cap,
        turn_seconds=options.turn_seconds,
        watchable=options.watchable,
    )
