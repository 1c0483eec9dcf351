"""Offered bots as their authors see them."""

import asyncio
from typing import Any

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx_matchmaker.bots import BotDirectory, BotNews, BotNewsKind, OfferStream, seated
from opolyx_matchmaker.lobby import Lobby
from opolyx_matchmaker.refusals import bad_field
from opolyx_matchmaker.rooms import RoomState
from opolyx_matchmaker.rpc import convert
from opolyx_matchmaker.rpc.answers import StreamCheck, streams
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.watch import StreamLimit
from opolyx_servicekit.access import current_principal
from opolyx_servicekit.errors import ServiceError


class OfferedBotHandlers:
    """The RPC of offered bots; mixed into the servicer."""

    _bots: BotDirectory
    _lobby: Lobby
    _store: Store
    _streams: StreamLimit
    _check: StreamCheck
    _check_seconds: float

    @streams
    async def OfferBot(self, requests: Any, context: Any) -> None:
        """Offer the calling bot for as long as the stream is open."""
        caller = current_principal()
        with self._streams.stream(caller.subject):
            first = await anext(aiter(requests), None)
            if first is None or first.WhichOneof("kind") != "offer":
                raise bad_field("offer", "must be the first message")
            offer = convert.offer_of(first.offer)
            with self._bots.offering(caller.subject, caller.name or caller.subject) as stream:
                stream.offer = offer
                try:
                    await self._serve(requests, context, stream)
                finally:
                    if self._bots.is_current(stream):
                        stream.offer = None
                        await asyncio.shield(self._lobby.withdraw(caller.subject))

    async def _serve(self, requests: Any, context: Any, stream: OfferStream) -> None:
        caller = current_principal()
        await self._confirm(context, stream)
        await self._catch_up(stream)
        listening = asyncio.create_task(self._listen(requests, context, stream))
        try:
            while not listening.done():
                news = await stream.next(self._check_seconds)
                self._check.check(caller)
                if news is not None:
                    await context.write(_news_message(news))
            await listening
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _listen(self, requests: Any, context: Any, stream: OfferStream) -> None:
        """Take what the bot says until it says no more, then wake the sender."""
        try:
            async for request in requests:
                kind = request.WhichOneof("kind")
                if kind == "offer":
                    stream.offer = convert.offer_of(request.offer)
                    await self._confirm(context, stream)
                elif kind == "ready":
                    stream.ready_games += 1
                else:
                    raise bad_field("kind", "offer or ready must be given")
        except ServiceError as error:
            stream.end(error)
        else:
            stream.finish()

    async def _confirm(self, context: Any, stream: OfferStream) -> None:
        games = len(await self._store.placements(stream.player_id))
        taken = pb.OfferTaken(games=games)
        await context.write(pb.OfferBotResponse(offer_taken=taken))

    async def _catch_up(self, stream: OfferStream) -> None:
        """Tell of the games that the bot is in already, so that it can go on with them."""
        for placement in await self._store.placements(stream.player_id):
            room = await self._store.get_room(placement.room_id)
            if room is not None and room.state is RoomState.STARTED:
                stream.tell(seated(room, placement.seat))


def _news_message(news: BotNews) -> pb.OfferBotResponse:
    if news.kind is BotNewsKind.RELEASED:
        return pb.OfferBotResponse(released=pb.BotReleased(game_id=news.game_id))
    return pb.OfferBotResponse(
        seated=pb.BotSeated(game_id=news.game_id, seat=news.seat, ruleset=news.ruleset)
    )
