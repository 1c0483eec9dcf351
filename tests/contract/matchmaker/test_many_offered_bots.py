"""Two hundred offered bots in a thousand games: none is ever in more than it offers."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest
import structlog

from opolyx_matchmaker.bots import BotOffer
from opolyx_matchmaker.room import Occupant, Room
from opolyx_matchmaker.store.base import Store
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import FailedPrecondition, NotFound
from support_lobby import DictEngine, Grants, Process, open_store, player, wish

BOTS: Final = 200
GAMES: Final = 1000
HOSTS: Final = 40


@pytest.fixture(autouse=True)
def _no_log() -> Iterator[None]:
    with structlog.testing.capture_logs():
        yield


class Casino:
    """Hosts who fill their tables with whichever bots they get, and bots that come and go."""

    def __init__(self, store: Store) -> None:
        self.engine = DictEngine()
        self.engine.watching = self._count
        self.process = Process(store, self.engine, Grants())
        self.chance = random.Random(200)
        self.playing: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.offers = {
            f"b_{number}": BotOffer(
                max_games=self.chance.randint(1, 3), plays_people=number % 4 != 0
            )
            for number in range(BOTS)
        }
        self.refused: Counter[str] = Counter()
        self._open: dict[str, ExitStack] = {}
        for bot_id in self.offers:
            self.offer(bot_id)

    def offer(self, bot_id: str) -> None:
        stack = ExitStack()
        stream = stack.enter_context(self.process.parts.bots.offering(bot_id, bot_id))
        stream.offer = self.offers[bot_id]
        self._open[bot_id] = stack

    async def withdraw(self, bot_id: str) -> None:
        self._open.pop(bot_id).close()
        await self.process.lobby.withdraw(bot_id)

    def _count(self, room: Room) -> None:
        """A game has begun: who plays in it, and in how many at once by now."""
        people = any(seat.occupant is Occupant.PERSON for seat in room.seats)
        for seat in room.seats:
            if seat.occupant is Occupant.BOT:
                assert not (people and seat.bots_only)
                self.playing[seat.player_id] += 1
                self.most[seat.player_id] = max(
                    self.most[seat.player_id], self.playing[seat.player_id]
                )

    async def finish(self, game_id: str) -> None:
        for seat in self.engine.games[game_id][0].seats:
            if seat.occupant is Occupant.BOT:
                self.playing[seat.player_id] -= 1
        self.engine.finish(game_id)
        await self.process.hear()

    async def host(self, number: int, games: int) -> None:
        host = player(f"host{number}")
        for game in range(games):
            room = await self.process.lobby.create(host, wish(f"{number}-{game}", seats=4))
            game_id = await self._start(host, room.room_id)
            for _ in range(self.chance.randrange(60)):
                await asyncio.sleep(0)
            await self.finish(game_id)

    async def _start(self, host: Principal, room_id: str) -> str:
        """Fill the seats and start; whoever withdrew meanwhile leaves a seat to fill again."""
        while True:
            while (await self.process.lobby.get(room_id)).open_seats:
                await self._seat_one(host, room_id)
            try:
                return await self.process.lobby.start(host, room_id)
            except FailedPrecondition as error:
                self.refused[error.reason] += 1

    async def _seat_one(self, host: Principal, room_id: str) -> None:
        bot_id = f"b_{self.chance.randrange(BOTS)}"
        try:
            await self.process.lobby.add_offered(host, room_id, bot_id, None)
        except (FailedPrecondition, NotFound) as error:
            self.refused[error.reason] += 1
            await asyncio.sleep(0)

    async def come_and_go(self) -> None:
        """One bot after another withdraws and offers itself again."""
        while True:
            bot_id = f"b_{self.chance.randrange(BOTS)}"
            await self.withdraw(bot_id)
            for _ in range(10):
                await asyncio.sleep(0)
            self.offer(bot_id)

    async def close(self) -> None:
        for stack in self._open.values():
            stack.close()
        await self.process.die()


@pytest.mark.timeout(900)
async def test_two_hundred_bots_play_a_thousand_games_within_their_capacity() -> None:
    async with open_store() as store:
        casino = Casino(store)
        going = asyncio.create_task(casino.come_and_go())
        await asyncio.gather(*(casino.host(n, GAMES // HOSTS) for n in range(HOSTS)))
        going.cancel()
        await asyncio.gather(going, return_exceptions=True)

        assert GAMES == len(casino.engine.games)
        assert {1} == set(casino.engine.made.values())
        for bot_id, most in casino.most.items():
            assert most <= casino.offers[bot_id].max_games
        full = [bot for bot, most in casino.most.items() if most == casino.offers[bot].max_games]
        assert len(full) > BOTS // 4, "the capacities were never put to the test"
        assert casino.refused["BOT_UNAVAILABLE"] > 100
        shy = {bot_id for bot_id, offer in casino.offers.items() if not offer.plays_people}
        assert not shy & set(casino.most), "they play with bots only, and a host is a person"
        for bot_id in casino.offers:
            assert [] == await store.placements(bot_id)
        await casino.close()
