"""Bots that can be seated: built-in policies by name, and bots that offer themselves.

An offer lives as long as its stream. How many games a bot is in is counted in the store, where
its placements are; here is only who offers what, and a bounded line of news to each.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Final

from opolyx_matchmaker.refusals import draining
from opolyx_matchmaker.room import Occupant, Room, Seat
from opolyx_servicekit.errors import FailedPrecondition, NotFound, ServiceError, Unavailable

POLICIES: Final = ("random", "steady", "trader")
"""The policies of the bots that the engine plays."""

MOST_GAMES: Final = 1000
"""Most games that a bot may offer to be in at once."""

_MOST_NEWS: Final = 2 * MOST_GAMES + 16


@dataclass(frozen=True, slots=True)
class BotOffer:
    """What a bot offers."""

    max_games: int
    """Most games at once."""

    rulesets: frozenset[str] = frozenset()
    """Rulesets it plays; empty for all."""

    plays_people: bool = False
    """Whether it plays with people."""

    plays_bots: bool = True
    """Whether it plays with other bots."""

    min_rating: int | None = None
    """Lowest rating of an opponent."""

    max_rating: int | None = None
    """Highest rating of an opponent."""


class BotNewsKind(Enum):
    """What an offered bot is told."""

    OFFER_TAKEN = "offer_taken"
    SEATED = "seated"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class BotNews:
    """Something an offered bot must know."""

    kind: BotNewsKind
    """What."""

    game_id: str = ""
    """The game; empty for OFFER_TAKEN."""

    games: int = 0
    """How many games the bot is in, for OFFER_TAKEN."""

    seat: int = 0
    """The bot's seat, for SEATED."""

    ruleset: str = ""
    """The ruleset, for SEATED."""


class OfferStream:
    """One bot's open offer."""

    def __init__(self, player_id: str, name: str) -> None:
        """Offer nothing yet."""
        self.player_id = player_id
        """The bot."""
        self.name = name
        """Its name."""
        self.offer: BotOffer | None = None
        """What it offers now; None before its first message."""
        self.ready_games = 0
        """How often it said that it is ready."""
        self._news: asyncio.Queue[BotNews | ServiceError | None] = asyncio.Queue(_MOST_NEWS)
        self._told: set[str] = set()
        self._over: set[str] = set()

    def tell(self, news: BotNews) -> None:
        """Queue news; a bot that reads none of it loses its stream, and asks anew."""
        if not self._is_news(news):
            return
        if self._news.qsize() >= _MOST_NEWS - 1:
            self.end(Unavailable("LIMIT", "the bot reads too slowly", metadata={"limit": "news"}))
        else:
            self._news.put_nowait(news)

    def _is_news(self, news: BotNews) -> bool:
        """Whether the bot must hear it; a game may be over before its start could be told."""
        game_id = news.game_id
        if news.kind is BotNewsKind.OFFER_TAKEN:
            return True
        if news.kind is BotNewsKind.SEATED:
            if game_id in self._told or game_id in self._over:
                return False
            self._told.add(game_id)
            return True
        if game_id in self._told:
            self._told.discard(game_id)
            return True
        if len(self._over) >= MOST_GAMES:
            self._over.clear()
        self._over.add(game_id)
        return False

    def end(self, error: ServiceError) -> None:
        """End the stream with an error, after the news that waits if there is room."""
        self._put_last(error)

    def finish(self) -> None:
        """Wake the stream, because the bot has said its last."""
        self._put_last(None)

    def _put_last(self, last: ServiceError | None) -> None:
        if self._news.full():
            self._news.get_nowait()
        self._news.put_nowait(last)

    async def next(self, timeout_seconds: float) -> BotNews | None:
        """The next news, None after the timeout or `finish`; raises what ends the stream."""
        try:
            async with asyncio.timeout(timeout_seconds):
                news = await self._news.get()
        except TimeoutError:
            return None
        if isinstance(news, ServiceError):
            raise news
        return news


class BotDirectory:
    """The offers open in this process."""

    def __init__(self) -> None:
        """Nobody offers."""
        self._streams: dict[str, OfferStream] = {}
        self._draining = False

    @contextmanager
    def offering(self, player_id: str, name: str) -> Iterator[OfferStream]:
        """Hold a bot's offer for the length of a block; a newer stream of the bot ends this one."""
        if self._draining:
            raise draining()
        stream = OfferStream(player_id, name)
        if (older := self._streams.get(player_id)) is not None:
            older.end(FailedPrecondition("BOT_UNAVAILABLE", "the bot offers itself elsewhere"))
        self._streams[player_id] = stream
        try:
            yield stream
        finally:
            if self.is_current(stream):
                del self._streams[player_id]

    def is_current(self, stream: OfferStream) -> bool:
        """Whether no newer stream of the same bot took this one's place."""
        return self._streams.get(stream.player_id) is stream

    def is_offered(self, player_id: str) -> bool:
        """Whether the bot has an offer now."""
        stream = self._streams.get(player_id)
        return stream is not None and stream.offer is not None

    def capacity(self, player_id: str) -> int:
        """In how many games the bot may be; 1 without an offer, as for everybody."""
        stream = self._streams.get(player_id)
        return stream.offer.max_games if stream and stream.offer else 1

    def offer_for(self, player_id: str, ruleset: str) -> tuple[Seat, BotOffer]:
        """The seat of an offered bot, and its offer.

        Raises:
            NotFound: the bot isn't offered.
            FailedPrecondition: it doesn't play the ruleset.
        """
        stream = self._streams.get(player_id)
        if stream is None or stream.offer is None:
            raise NotFound(
                "UNKNOWN_BOT", f"no bot {player_id} is offered", metadata={"player_id": player_id}
            )
        offer = stream.offer
        if offer.rulesets and ruleset not in offer.rulesets:
            raise bot_unavailable(player_id, f"does not play {ruleset}")
        seat = Seat(
            occupant=Occupant.BOT,
            player_id=player_id,
            name=stream.name,
            offered=True,
            bots_only=not offer.plays_people,
            people_only=not offer.plays_bots,
            min_rating=offer.min_rating,
            max_rating=offer.max_rating,
        )
        return seat, offer

    def tell_seated(self, room: Room) -> None:
        """Tell the offered bots of a started game."""
        for number, seat in enumerate(room.seats):
            if seat.occupant is Occupant.BOT and (stream := self._streams.get(seat.player_id)):
                stream.tell(seated(room, number))

    def tell_released(self, player_id: str, game_id: str) -> None:
        """Tell a bot, if it is offered, that it is free of a game."""
        if stream := self._streams.get(player_id):
            stream.tell(BotNews(BotNewsKind.RELEASED, game_id))

    def drain(self) -> None:
        """End all offers, and take no more."""
        self._draining = True
        for stream in self._streams.values():
            stream.end(draining())


def seated(room: Room, number: int) -> BotNews:
    """The news that the bot on a seat has a game to play."""
    return BotNews(BotNewsKind.SEATED, room.game_id, seat=number, ruleset=room.ruleset)


def built_in(policy: str, number: int) -> Seat:
    """The seat of the room's `number`th built-in bot (from 1).

    Raises:
        NotFound: there is no such policy.
    """
    if policy not in POLICIES:
        raise NotFound(
            "UNKNOWN_BOT", f"no built-in bot plays {policy!r}", metadata={"policy": policy}
        )
    return Seat(Occupant.BUILT_IN, name=f"{policy.capitalize()} {number}", policy=policy)


def bot_unavailable(player_id: str, why: str) -> ServiceError:
    """The bot can't be seated here."""
    return FailedPrecondition(
        "BOT_UNAVAILABLE",
        f"bot {player_id} {why}",
        metadata={"player_id": player_id},
        precondition=("BOT_UNAVAILABLE", player_id),
    )
