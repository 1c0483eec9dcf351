"""Games that change hands: given to another replica, or found to be another's."""

import asyncio
from functools import partial
from typing import Final

import structlog

from opolyx_engine.arrivals import Arrival
from opolyx_engine.errors import GameElsewhere, store_unavailable
from opolyx_engine.game_actor import GameActor, GameTools
from opolyx_engine.ownership.claims import Claims
from opolyx_engine.ownership.given_game import Give, GivenGame
from opolyx_engine.places import Places
from opolyx_engine.replica import Replica
from opolyx_engine.take_ups import TakeUps
from opolyx_servicekit.errors import ServiceError

_log = structlog.get_logger(__name__)

_MOST_TRIES: Final = 5
_LOOKS_AT_ONCE: Final = 100
_LONGEST_ARRIVAL_S: Final = 2.0  # heartbeats wait meanwhile


class Moves:
    """Lets go of games, one by one and without anything of them getting lost."""

    def __init__(self, tools: GameTools, places: Places, take_ups: TakeUps, claims: Claims) -> None:
        """Move the games of `places`; what stays after all is taken up again."""
        self._tools = tools
        self._places = places
        self._take_ups = take_ups
        self._claims = claims

    async def hand_over(self, game_id: str, give: Give, wait_s: float) -> GivenGame | None:
        """Run a game no longer and let `give` give it away; None if it stays or isn't here.

        From the moment at which all that happened in it is stored, whoever asks for it waits, and
        then meets it at the other replica, or here again if it stays.

        Args:
            game_id: the game.
            give: gives it away.
            wait_s: how long to wait for that moment, seconds.
        """
        arrivals, given = self._take_ups.arrivals, list[GivenGame]()
        for _ in range(_MOST_TRIES):
            under_way = arrivals.find(game_id)
            bring = partial(self._give, game_id, give, wait_s, given)
            try:
                await arrivals.wait(under_way or arrivals.begin(game_id, bring))
            except ServiceError as error:
                if under_way is None and not isinstance(error, GameElsewhere):
                    _log.warning("game_not_handed_over", game_id=game_id, error=str(error))
            if under_way is None:
                break
        return given[0] if given else None

    async def make_sure(self) -> None:
        """Look at the owner of every game here, and let go of those that have another.

        What is on its way is waited for: it may have been claimed before others took it.

        Raises:
            ServiceError: the store failed; not all were looked at.
        """
        if not await self._take_ups.arrivals.wait_for_all(_LONGEST_ARRIVAL_S):
            raise store_unavailable(self._tools.settings.store_retry_ms)
        games = self._places.here()
        for first in range(0, len(games), _LOOKS_AT_ONCE):
            await asyncio.gather(*map(self.make_sure_of, games[first : first + _LOOKS_AT_ONCE]))

    async def make_sure_of(self, game_id: str) -> None:
        """Let go of a game if it has another owner.

        Raises:
            ServiceError: the store failed.
        """
        places = self._places
        if game_id not in places.running and game_id not in places.absent:
            return
        stored = await self._tools.store.game(game_id)
        game = places.running.get(game_id)
        epoch = None if game is None else game.epoch
        if stored is not None and self._claims.is_mine(stored, epoch):
            return
        places.absent.forget(game_id)
        if game is not None and game.running:
            game.let_go()
            places.take_out(game)

    async def _give(
        self, game_id: str, give: Give, wait_s: float, given: list[GivenGame], arrival: Arrival
    ) -> ServiceError | None:
        absent, game = self._places.absent, self._places.running.get(game_id)
        if game is None and game_id not in absent:
            return None
        if game is not None and not await _stopped(game, wait_s):
            return None  # its store is away; it goes on here
        try:
            replica = await self._given_to(game_id, give)
        except ServiceError:
            self._take_ups.returns.later(game_id)  # whose it is, the store knows
            raise
        if replica is None:
            stays = game is None and not arrival.waiting
            return None if stays else await self._take_ups.load(game_id, arrival)
        rested = absent.resting.get(game_id)
        given.append(GivenGame(game_id, replica, rested.rest() if rested else None))
        absent.forget(game_id)
        return GameElsewhere(game_id, replica, self._tools.settings.store_retry_ms)

    async def _given_to(self, game_id: str, give: Give) -> Replica | None:
        stored = await self._tools.store.game(game_id)
        if stored is None or not self._claims.is_mine(stored):
            return None
        return await give(stored)


async def _stopped(game: GameActor, wait_s: float) -> bool:
    """Stop a game where all that happened is stored; whether that was within the time."""
    try:
        async with asyncio.timeout(wait_s):
            await game.leave()
    except TimeoutError:
        return game.stopped
    return True
