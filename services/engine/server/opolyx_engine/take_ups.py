"""Takes games up out of the store: those that are asked for, and those that are to run by themselves."""

from collections.abc import Collection
from functools import partial

import structlog

from opolyx_engine.arrivals import Arrival, Arrivals, Deliver, deliver_all
from opolyx_engine.errors import GameElsewhere, game_fault, game_not_found
from opolyx_engine.game_actor import GameActor, GameTools
from opolyx_engine.loader import Loader
from opolyx_engine.ownership.claims import Claims
from opolyx_engine.places import Places
from opolyx_engine.returns import Returns
from opolyx_engine.store.base import RESERVED, RUNNING, StoredGame
from opolyx_servicekit.errors import CallerError, ServiceError

_log = structlog.get_logger(__name__)


class TakeUps:
    """Makes a game this replica's own, follows its log, and runs it."""

    def __init__(self, tools: GameTools, places: Places, claims: Claims) -> None:
        """Take up into `places` what `claims` lets have."""
        self._tools = tools
        self._places = places
        self._claims = claims
        self.loader = Loader(tools)
        """Reads stored games."""
        self.arrivals = Arrivals(tools.tasks, tools.settings.drain_retry_ms)
        """The games on their way."""
        self.returns = Returns(self.took_up, tools.tasks, tools.settings.store_retry_ms / 1000)
        """The games that are to come without being asked for."""

    @property
    def coming(self) -> Collection[str]:
        """Ids of games that are to be taken up as soon as that can be done."""
        return self.returns.coming

    def __contains__(self, game_id: object) -> bool:
        """Whether the game is on its way, or to be."""
        return game_id in self.arrivals or game_id in self.returns.coming

    async def hand(self, game_id: str, deliver: Deliver) -> None:
        """Call `deliver` with a game that isn't here, as soon as it is.

        Raises:
            ServiceError: there is none to be had.
        """
        arrival = self.arrivals.begin(game_id, partial(self.load, game_id))
        arrival.waiting.append(deliver)
        await self.arrivals.wait(arrival)

    async def took_up(self, game_id: str) -> bool:
        """Take a game up for its own sake; False if that can't be done now."""
        if game_id in self._places.running or game_id in self._places.absent.held:
            return True
        try:
            await self.arrivals.wait(self.arrivals.begin(game_id, partial(self.load, game_id)))
        except (CallerError, GameElsewhere):
            return True  # held, which is logged, or gone
        except ServiceError as error:
            _log.warning("game_not_taken_up", game_id=game_id, error=str(error))
            return False
        except Exception:  # no other game is at fault
            _log.exception("take_up_crashed", game_id=game_id)
            return False
        return True

    async def take_up_all(self) -> None:
        """Take up every game that runs in the store, as after a crash.

        One that is damaged is held, and one that can't be read now is tried again later: neither
        keeps the others waiting.
        """
        for game_id in await self._tools.store.running():
            if not await self.took_up(game_id):
                self.returns.later(game_id)

    async def load(self, game_id: str, arrival: Arrival) -> ServiceError | None:
        """Take up the game as its log has it, or say why there is none."""
        try:
            stored = await self._tools.store.game(game_id)
            if stored is None or stored.state == RESERVED:
                return game_not_found(game_id)
            stored = await self._claims.own(stored)
            await self._take_up_or_hold(stored, arrival)
        except GameElsewhere:
            self._places.absent.forget(game_id)
            raise
        except ServiceError:
            self._places.absent.excuse(game_id)
            raise
        return None

    async def _take_up_or_hold(self, stored: StoredGame, arrival: Arrival) -> None:
        """A game whose log can't be followed is held: nothing is lost if a later version can."""
        try:
            table, recent = await self.loader.load(stored)
        except ServiceError:
            raise
        except Exception as error:
            _log.exception("game_held", game_id=stored.game_id)
            self._tools.metrics.faults.inc()
            self._places.absent.hold_unread(stored)
            raise game_fault(stored.game_id) from error
        # No await from here on: whoever waits meets the game before its clock acts.
        rested = self._places.absent.wake(stored.game_id)
        make = partial(GameActor, tools=self._tools, epoch=stored.epoch, recent=recent)
        if stored.state != RUNNING:
            game = make(table)
            self.returns.forget(stored.game_id)
            self._places.keep_ended(game)
            deliver_all(game, arrival.waiting)
            return
        if rested is not None and rested.seq == table.seq and not rested.excused:
            game = make(table, quiet_since_ms=None if arrival.waiting else rested.quiet_since_ms)
        else:  # an outage, or somebody else had it (CLOCK-5)
            now_ms, grace_ms = self._tools.clock.now_ms(), self._tools.settings.restart_grace_ms
            graced = table.with_grace(now_ms, grace_ms)
            game = make(graced, deadlines_moved=graced.clocks != table.clocks)
        self._places.start(game, arrival.waiting)
