"""Calls of the matchmaker."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Final

import grpc

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx_sdk._convert import read, read_all, write
from opolyx_sdk._transport.channel import Calls
from opolyx_sdk.errors import WrongState
from opolyx_sdk.matches import CurrentGame, Found, MatchProgress, Waiting, Widened
from opolyx_sdk.offers import BotOffer, BotReleased, BotSeated, OfferNews, OfferTaken
from opolyx_sdk.rooms import Room, RoomOptions

_OfferCall = grpc.aio.StreamStreamCall[pb.OfferBotRequest, pb.OfferBotResponse]

_STARTING_S: Final = 0.25


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
        """The room now and after each change, until it has started or is closed.

        Outages are bridged: each room is newer than the one before it.
        """
        rooms = self._transport.stream(
            lambda stubs: stubs.matchmaker.WatchRoom, pb.WatchRoomRequest(room_id=room_id)
        )
        revision = 0
        async with aclosing(rooms):
            async for response in rooms:
                if response is not None and response.room.revision > revision:
                    revision = response.room.revision
                    yield read(response.room, Room)

    async def add_bot(
        self,
        room_id: str,
        *,
        policy: str = "",
        player_id: str = "",
        seat: int | None = None,
        request_id: str | None = None,
    ) -> Room:
        """Seat a bot: a built-in policy ("random", "steady", "trader") or an offered bot.

        Args:
            room_id: the room; only its creator may.
            policy: of a built-in bot.
            player_id: of an offered bot.
            seat: the first open one when absent.
            request_id: the same id again seats no second bot; made when absent.
        """
        request = pb.AddBotRequest(
            room_id=room_id, seat=seat, request_id=request_id or uuid.uuid4().hex
        )
        if player_id:
            request.player_id = player_id
        else:
            request.policy = policy
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.AddBot, request, repeatable=True
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
        """Look for a game; the last value is `Found`. Stopping the iteration ends the search.

        A search that an outage cut off is taken up again; its wait begins anew. A game that was
        found meanwhile is the last value, too.
        """
        request = pb.QuickMatchRequest(
            ruleset=ruleset, seats=seats, allow_bots=allow_bots, nonce=nonce
        )
        searching = self._transport.stream(lambda stubs: stubs.matchmaker.QuickMatch, request)
        lost = False
        try:
            async with aclosing(searching):
                async for response in searching:
                    if response is not None:
                        yield _progress(response)
                        continue
                    lost = True
        except WrongState:
            # Whom the server has seated it lets search no more: that is how a match looks now.
            found = await self._found_meanwhile() if lost else None
            if found is None:
                raise
            yield found

    async def _found_meanwhile(self) -> Found | None:
        """The game that was found while the search was cut off, once it has started."""
        give_up = time.monotonic() + self._transport.options.call_timeout_s
        while True:
            where = await self.current_game()
            if where.game_id:
                return Found(where.game_id, where.seat or 0)
            if not where.room_id or time.monotonic() > give_up:
                return None
            await asyncio.sleep(_STARTING_S)

    async def offer_bot(self, offer: BotOffer) -> AsyncGenerator[OfferNews, None]:
        """Offer the calling bot for seats; stopping the iteration withdraws the offer. Bots only.

        Outages are bridged: the offer is made again, and games that the bot is in are told again.
        `BotHost` plays the games.
        """
        said = pb.OfferBotRequest(offer=pb.BotOffer())
        said.offer.CopyFrom(write(offer))  # type: ignore[arg-type]
        offering = self._transport.stream(
            lambda stubs: (
                lambda request, metadata=None: _Offering(
                    stubs.matchmaker.OfferBot(metadata=metadata), request
                )
            ),
            said,
        )
        async with aclosing(offering):
            async for response in offering:
                if response is None:
                    continue
                match response.WhichOneof("kind"):
                    case "offer_taken":
                        yield read(response.offer_taken, OfferTaken)
                    case "seated":
                        yield read(response.seated, BotSeated)
                    case "released":
                        yield read(response.released, BotReleased)

    async def current_game(self) -> CurrentGame:
        """Where the caller is: in a room, in a game, or free."""
        response = await self._transport.call(
            lambda stubs: stubs.matchmaker.GetCurrentGame,
            pb.GetCurrentGameRequest(),
            repeatable=True,
        )
        return read(response, CurrentGame)


class _Offering:
    """One call that offers a bot, and says that it is ready for each game that it is told of.

    It writes for itself: gRPC leaves a task behind that reads requests out of a generator, when
    the call ends before they do.
    """

    def __init__(self, call: _OfferCall, offer: pb.OfferBotRequest) -> None:
        self._call = call
        self._offer = offer

    async def __aiter__(self) -> AsyncGenerator[pb.OfferBotResponse | None, None]:
        await self._say(self._offer)
        responses: AsyncIterator[pb.OfferBotResponse | None] = aiter(self._call)
        async for response in responses:
            if response is not None and response.WhichOneof("kind") == "seated":
                ready = pb.BotReady(game_id=response.seated.game_id)
                await self._say(pb.OfferBotRequest(ready=ready))
            yield response

    def cancel(self) -> bool:
        return self._call.cancel()

    async def _say(self, request: pb.OfferBotRequest) -> None:
        """A call that has ended is the reader's business."""
        with suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError, grpc.aio.BaseError):
            await self._call.write(request)


def _progress(response: pb.QuickMatchResponse) -> MatchProgress:
    match response.WhichOneof("kind"):
        case "widened":
            return read(response.widened, Widened)
        case "found":
            return read(response.found, Found)
        case _:  # also what is newer than this SDK: the search goes on
            return read(response.waiting, Waiting)


def _write_options(options: RoomOptions) -> pb.RoomOptions:
    return pb.RoomOptions(
        start_cash=options.start_cash,
        round_cap=options.round_cap,
        turn_seconds=options.turn_seconds,
        watchable=options.watchable,
    )
