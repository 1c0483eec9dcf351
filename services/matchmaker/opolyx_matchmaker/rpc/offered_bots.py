"""Offered bots as their authors see them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx_matchmaker.bots import BotDirectory, BotNews, BotNewsKind, OfferStream, seated
from opolyx_matchmaker.limits import MinuteLimit
from opolyx_matchmaker.lobby import Lobby
from opolyx_matchmaker.names import shown_name
from opolyx_matchmaker.refusals import bad_field
from opolyx_matchmaker.room import RoomState
from opolyx_matchmaker.rpc import convert
from opolyx_matchmaker.rpc.stream_check import StreamCheck
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.watch import StreamLimit
from opolyx_servicekit.access import current_principal
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.tasks import TaskOwner


class OfferedBotHandlers:
    """The RPC of offered bots; mixed into the servicer."""

    _bots: BotDirectory
    _lobby: Lobby
    _store: Store
    _streams: StreamLimit
    _tasks: TaskOwner
    _check: StreamCheck
    _check_seconds: float
    _offer_messages: MinuteLimit

    async def OfferBot(self, requests: Any, context: Any) -> AsyncIterator[pb.OfferBotResponse]:
        """Offer the calling bot for as long as the stream is open."""
        caller = current_principal()
        name = shown_name(caller.name, caller.subject)
        with self._streams.stream(caller.subject):
            first = await anext(aiter(requests), None)
            if first is None or first.WhichOneof("kind") != "offer":
                raise bad_field("offer", "must be the first message")
            offer = convert.offer_of(first.offer)
            with self._bots.offering(caller.subject, name) as stream:
                stream.offer = offer
                listening = asyncio.create_task(self._listen(requests, stream))
                try:
                    yield _news_message(await self._offer_taken(stream))
                    await self._catch_up(stream)
                    while (news := await stream.next(self._check_seconds)) or not listening.done():
                        self._check.check(caller)
                        if news is not None:
                            yield _news_message(news)
                    await listening
                finally:
                    # All begun before the await: a cancel that comes there leaves nothing out.
                    listening.cancel()
                    ending = [listening, *self._withdraw(stream)]
                    await asyncio.shield(asyncio.gather(*ending, return_exceptions=True))

    async def _listen(self, requests: Any, stream: OfferStream) -> None:
        """Take what the bot says until it says no more, then wake the sender.

        It answers through the sender too: gRPC allows one write at a time.
        """
        try:
            async for request in requests:
                self._offer_messages.take(stream.player_id)
                kind = request.WhichOneof("kind")
                if kind == "offer":
                    stream.offer = convert.offer_of(request.offer)
                    stream.tell(await self._offer_taken(stream))
                elif kind == "ready":
                    stream.ready_games += 1
                else:
                    raise bad_field("kind", "offer or ready must be given")
        except ServiceError as error:
            stream.end(error)
        finally:
            stream.finish()

    async def _offer_taken(self, stream: OfferStream) -> BotNews:
        games = len(await self._store.placements(stream.player_id))
        return BotNews(BotNewsKind.OFFER_TAKEN, games=games)

    async def _catch_up(self, stream: OfferStream) -> None:
        """Tell of the games that the bot is in already, so that it can go on with them."""
        for placement in await self._store.placements(stream.player_id):
            room = await self._store.get_room(placement.room_id)
            if room is not None and room.state is RoomState.STARTED:
                stream.tell(seated(room, placement.seat))

    def _withdraw(self, stream: OfferStream) -> list[asyncio.Task[None]]:
        """Take the bot out of the rooms that wait, however the stream ended; it must be done."""
        if not self._bots.is_current(stream):
            return []
        stream.offer = None
        return [self._tasks.start(self._lobby.withdraw(stream.player_id), name="withdraw_bot")]


def _news_message(news: BotNews) -> pb.OfferBotResponse:
    if news.kind is BotNewsKind.OFFER_TAKEN:
        return pb.OfferBotResponse(offer_taken=pb.OfferTaken(games=news.games))
    if news.kind is BotNewsKind.RELEASED:
        return pb.OfferBotResponse(released=pb.BotReleased(game_id=news.game_id))
    return pb.OfferBotResponse(
        seated=pb.BotSeated(game_id=news.game_id, seat=news.seat, ruleset=news.ruleset)
    )
