"""The games of this engine: running ones have an actor, ended ones are read when asked for.

A game in which nothing goes on rests: it has no actor, and is taken up again when somebody asks
for it or its clock is due, with the deadlines it had. A game whose stored log can't be followed any
more is held: not played, but kept as it is, until a server that can follow it starts, or an
operator ends it as void.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import Final

import structlog

from opolyx_engine.absent import AbsentGames, HeldGame, Rest, RestingGame
from opolyx_engine.arrivals import Arrival, Arrivals, Deliver, deliver_all
from opolyx_engine.errors import (
    GameElsewhere,
    game_conflict,
    game_fault,
    game_not_found,
    no_reservation,
    store_unavailable,
)
from opolyx_engine.game_actor import GameActor, GameTools, Watcher
from opolyx_engine.game_log import void_unread
from opolyx_engine.header import GameHeader
from opolyx_engine.loader import Loader
from opolyx_engine.ownership.claims import Claims
from opolyx_engine.ownership.given_game import Give, GivenGame
from opolyx_engine.ownership.membership import Membership
from opolyx_engine.record import Entry
from opolyx_engine.returns import Returns
from opolyx_engine.rules_fit import RulesFit
from opolyx_engine.store.base import (
    RESERVED,
    RUNNING,
    VOID,
    Append,
    StoreConflict,
    StoredGame,
)
from opolyx_engine.table import Table
from opolyx_servicekit.errors import CallerError, FailedPrecondition, ServiceError

_log = structlog.get_logger(__name__)

_MOST_FINDS: Final = 5
_LOOKS_AT_ONCE: Final = 100


class Registry(Watcher):
    """Finds games by id, starts their actors, lets go of them when they rest, end or move."""

    def __init__(
        self, tools: GameTools, claims: Claims, membership: Membership, fit: RulesFit
    ) -> None:
        """No game yet.

        Args:
            tools: handed to every actor, with this registry as a watcher.
            claims: makes games this replica's own.
            membership: which replica this is.
            fit: the rules here.
        """
        self._tools = tools
        self._claims = claims
        self._membership = membership
        self._fit = fit
        self._loader = Loader(tools)
        self._running: dict[str, GameActor] = {}
        self._absent = AbsentGames(tools.timers, tools.metrics, tools.settings.finished_games_kept)
        self._ended: OrderedDict[str, GameActor] = OrderedDict()
        self._arrivals = Arrivals(tools.tasks, tools.settings.drain_retry_ms)
        self._returns = Returns(self.took_up, tools.tasks, tools.settings.store_retry_ms / 1000)
        tools.metrics.owned_games.set_function(self._count)

    def running(self) -> list[GameActor]:
        """All games that run here."""
        return list(self._running.values())

    def find_running(self, game_id: str) -> GameActor | None:
        """The game of that id, if it runs here."""
        return self._running.get(game_id)

    def round_of(self, game_id: str) -> int:
        """The round of a running game, in memory or resting; 0 if that isn't known."""
        if game := self._running.get(game_id):
            return game.table.state.round
        rested = self._absent.resting.get(game_id)
        return rested.round if rested else 0

    def resting(self) -> dict[str, RestingGame]:
        """The resting games by id; not to be changed."""
        return self._absent.resting

    def held(self) -> dict[str, HeldGame]:
        """The held games by id; not to be changed."""
        return self._absent.held

    def refused(self) -> dict[str, str]:
        """Rulesets of the games that no living replica has the rules of, by id."""
        return self._claims.refused

    def coming(self) -> Collection[str]:
        """Ids of games that are to be taken up as soon as that can be done."""
        return self._returns.coming

    async def take_up_all(self) -> None:
        """Take up every game that runs in the store, as after a crash.

        One that is damaged is held, and one that can't be read now is tried again later: neither
        keeps the others waiting.
        """
        for game_id in await self._tools.store.running():
            if not await self.took_up(game_id):
                self._returns.later(game_id)

    async def find(self, game_id: str) -> GameActor:
        """The game, running or ended.

        Raises:
            NotFound: there is none, or it hasn't started.
            FailedPrecondition: it is held, because its log leads to no state, or no replica has
                its rules.
            GameElsewhere: another replica runs it.
            ServiceError: the store failed.
        """
        for _ in range(_MOST_FINDS):
            found: list[GameActor] = []
            await self.hand(game_id, found.append)
            # It may rest again before this task goes on.
            if not (found[0].stopped and found[0].running):
                return found[0]
        raise store_unavailable(self._tools.settings.store_retry_ms)

    async def hand(self, game_id: str, deliver: Deliver) -> None:
        """Call `deliver` with the game, running or ended.

        If the game must be taken up first, that is before its clock acts: what came before a
        deadline counts before it, however long the store took.

        Raises:
            NotFound, FailedPrecondition, GameElsewhere, ServiceError: as `find`; `deliver` isn't
                called.
        """
        if not self._membership.certain:
            await self._make_sure(game_id)
        if known := self._running.get(game_id) or self._ended.get(game_id):
            known.touch()
            deliver(known)
            return
        if self._absent.has_fault(game_id):
            raise game_fault(game_id)
        arrival = self._arrivals.begin(game_id, partial(self._load, game_id))
        arrival.waiting.append(deliver)
        await self._arrivals.wait(arrival)

    async def create(self, header: GameHeader, secret: bytes) -> GameActor:
        """Start a reserved game; one that was started alike before is returned as it is.

        Raises:
            FailedPrecondition: it isn't reserved, or was started with other contents.
            GameElsewhere: it was started alike before, and another replica runs it.
            ServiceError: the store failed.
        """
        work = self._create(replace(header, rules=self._fit.of(header.ruleset)), secret)
        try:
            task = self._tools.tasks.start(work, name=f"create {header.game_id[:64]}")
        except RuntimeError:  # the server goes away
            raise store_unavailable(self._tools.settings.drain_retry_ms) from None
        # A game that is stored must move, whether or not the caller waits until it is.
        made = await asyncio.shield(task)
        if isinstance(made, ServiceError):
            raise made
        return made

    async def end_as_void(self, game_id: str, reason: str) -> int:
        """End a game without a result, a held one too; its life afterwards.

        Raises:
            NotFound: there is none, or it hasn't started.
            GameElsewhere: another replica runs it.
            ServiceError: the store failed; the game may go on.
        """
        if (life := self._absent.unreadable.life(game_id)) is not None:
            return life
        try:
            game = await self.find(game_id)
        except FailedPrecondition:  # its log can't be followed, or not by the rules here
            return await self._end_unread(game_id, reason)
        return await game.end_as_void(reason)

    async def missed_updates(self, game: GameActor, after_seq: int) -> list[bytes]:
        """See `Loader.missed_updates`."""
        return await self._loader.missed_updates(game, after_seq)

    def rest_idle(self) -> None:
        """Let the games rest that nobody has received or asked for in a while."""
        if not self._tools.settings.idle_evict_ms:
            return
        before_ms = self._tools.clock.now_ms() - self._tools.settings.idle_evict_ms
        for game in self.running():
            if len(game.hub):
                game.touch()
            elif game.quiet_since_ms <= before_ms:
                self.rest(game)

    def rest(self, game: GameActor) -> bool:
        """Let a game rest, if nothing goes on in it; whether it does."""
        table = game.table
        rest = Rest(
            table.header.ruleset,
            table.seq,
            table.state.round,
            game.quiet_since_ms,
            game.next_due_ms,
        )
        if self._running.get(game.game_id) is not game or not game.rest():
            return False
        self.let_rest(game.game_id, rest)
        self._tools.metrics.evictions.inc()
        return True

    def let_rest(self, game_id: str, rest: Rest) -> None:
        """Keep a game of this replica's that isn't in memory: it rests here from now on."""
        if game_id not in self._running:
            self._absent.rest(game_id, rest, partial(self._returns.now, game_id))

    def come(self, game_id: str) -> None:
        """Take a game up at once that is this replica's."""
        self._returns.now(game_id)

    async def close(self) -> None:
        """Stop all actors; what they have answered for is stored."""
        await self._tools.tasks.close()
        self._running.clear()

    def ended(self, game: GameActor) -> None:
        """Keep an ended game readable, come back to one that moved, and hold one that is broken."""
        if self._running.get(game.game_id) is game:
            del self._running[game.game_id]
            self._tools.metrics.active_games.labels(game.table.header.ruleset).dec()
        if not game.running:
            self._keep_ended(game)
        elif game.lost:
            self._returns.moved(game.game_id)
        elif game.broken:
            self._absent.hold(game.game_id, game.table.header.ruleset, game.table.seq)

    def _keep_ended(self, game: GameActor) -> None:
        self._returns.forget(game.game_id)
        self._ended[game.game_id] = game
        while len(self._ended) > self._tools.settings.finished_games_kept:
            self._ended.popitem(last=False)

    def knows(self, game_id: str) -> bool:
        """Whether the game is here, in memory or not, or on its way here."""
        known = (self._running, self._ended, self._absent, self._arrivals, self._returns.coming)
        return any(game_id in games for games in known)

    def _count(self) -> int:
        return len(self._running) + len(self._absent.resting) + len(self._absent.held)

    def _start(self, game: GameActor, waiting: Iterable[Deliver] = ()) -> GameActor:
        self._running[game.game_id] = game
        self._tools.metrics.active_games.labels(game.table.header.ruleset).inc()
        deliver_all(game, waiting)
        self._tools.tasks.start(game.run(), name=f"game {game.game_id}")
        return game

    async def took_up(self, game_id: str) -> bool:
        """Take a game up for its own sake; False if that can't be done now."""
        if game_id in self._running or game_id in self._absent.held:
            return True
        try:
            await self._arrivals.wait(self._arrivals.begin(game_id, partial(self._load, game_id)))
        except (CallerError, GameElsewhere):
            return True  # held, which is logged, or gone
        except ServiceError as error:
            _log.warning("game_not_taken_up", game_id=game_id, error=str(error))
            return False
        return True

    # Games that change hands.

    async def hand_over(self, game_id: str, give: Give, wait_s: float) -> GivenGame | None:
        """Run a game no longer and let `give` give it away; None if it stays or isn't here.

        From the moment at which all that happened in it is stored, whoever asks for it waits, and
        then meets it at the other replica, or here again if it stays.

        Args:
            game_id: the game.
            give: gives it away.
            wait_s: how long to wait for that moment, seconds.
        """
        given: list[GivenGame] = []
        for _ in range(_MOST_FINDS):
            mine = partial(self._give, game_id, give, wait_s, given)
            arrival = self._arrivals.find(game_id)
            try:
                await self._arrivals.wait(arrival or self._arrivals.begin(game_id, mine))
            except ServiceError as error:
                if arrival is None and not isinstance(error, GameElsewhere):
                    _log.warning("game_not_handed_over", game_id=game_id, error=str(error))
            if arrival is None:
                break
        return given[0] if given else None

    def here(self) -> list[str]:
        """Ids of this replica's games, in memory, resting or held."""
        return [*self._running, *self._absent.resting, *self._absent.held]

    async def make_sure(self) -> None:
        """Look at the owner of every game here, and let go of those that have another.

        Raises:
            ServiceError: the store failed; not all were looked at.
        """
        games = self.here()
        for first in range(0, len(games), _LOOKS_AT_ONCE):
            await asyncio.gather(*map(self._make_sure, games[first : first + _LOOKS_AT_ONCE]))

    async def _make_sure(self, game_id: str) -> None:
        """Let go of a game that has another owner."""
        if game_id not in self._running and game_id not in self._absent:
            return
        stored = await self._tools.store.game(game_id)
        game = self._running.get(game_id)
        epoch = None if game is None else game.epoch
        if stored is not None and self._claims.is_mine(stored, epoch):
            return
        self._absent.forget(game_id)
        if game is not None and game.running:
            game.let_go()
            self._running.pop(game_id, None)
            self._tools.metrics.active_games.labels(game.table.header.ruleset).dec()

    async def _give(
        self, game_id: str, give: Give, wait_s: float, given: list[GivenGame], arrival: Arrival
    ) -> ServiceError | None:
        game = self._running.get(game_id)
        if game is not None:
            try:
                async with asyncio.timeout(wait_s):
                    await game.leave()
            except TimeoutError:
                if not game.stopped:
                    return None  # its store is away; it goes on here
        elif game_id not in self._absent:
            return None
        try:
            stored = await self._tools.store.game(game_id)
            mine = stored is not None and self._claims.is_mine(stored)
            replica = await give(stored) if mine and stored is not None else None
        except ServiceError:
            self._returns.later(game_id)
            raise
        if replica is None:
            stays = game is None and not arrival.waiting
            return None if stays else await self._load(game_id, arrival)
        rested = self._absent.resting.get(game_id)
        given.append(GivenGame(game_id, replica, rested.rest() if rested else None))
        self._absent.forget(game_id)
        return GameElsewhere(game_id, replica, self._tools.settings.store_retry_ms)

    # Starting games.

    async def _create(self, header: GameHeader, secret: bytes) -> GameActor | ServiceError:
        table, entry = Table.begin(header, secret, self._tools.clock.now_ms())
        try:
            stored = await self._store_start(header, entry)
            if arrival := self._arrivals.find(header.game_id):
                await asyncio.wait([arrival.task])  # it may have looked before the game was there
            now = (stored.state, stored.seq, stored.started_ms)
            is_new = now == (RUNNING, 0, table.started_ms) and self._claims.is_mine(stored)
            if not is_new or self.knows(header.game_id):
                return await self.find(header.game_id)
            return self._start(GameActor(table, self._tools, epoch=stored.epoch))
        except ServiceError as error:
            return error

    async def _store_start(self, header: GameHeader, entry: Entry) -> StoredGame:
        game_id, me = header.game_id, self._membership.me.replica_id
        first = Append(game_id=game_id, expected_seq=-1, records=(entry.encode(),))
        try:
            stored = await self._tools.store.create(
                game_id, header.ruleset, header.watchable, header.encode(), first, me
            )
        except ServiceError:
            self._returns.later(game_id)  # it may be stored all the same
            raise
        if stored is None:
            raise no_reservation(game_id)
        if not _is_alike(stored.header, header):
            raise game_conflict(game_id)
        return stored

    # Taking up what is stored.

    async def _load(self, game_id: str, arrival: Arrival) -> ServiceError | None:
        """Take up the game as its log has it, or say why there is none."""
        stored = await self._tools.store.game(game_id)
        if stored is None or stored.state == RESERVED:
            return game_not_found(game_id)
        try:
            stored = await self._claims.own(stored)
        except GameElsewhere:
            self._absent.forget(game_id)
            raise
        await self._take_up_or_hold(stored, arrival)
        return None

    async def _take_up_or_hold(self, stored: StoredGame, arrival: Arrival) -> None:
        """A game whose log can't be followed is held: nothing is lost if a later version can."""
        try:
            table, recent = await self._loader.load(stored)
        except ServiceError:
            raise
        except Exception as error:
            _log.exception("game_held", game_id=stored.game_id)
            self._tools.metrics.faults.inc()
            self._absent.hold_unread(stored)
            raise game_fault(stored.game_id) from error
        # No await from here on: whoever waits meets the game before its clock acts.
        rested = self._absent.wake(stored.game_id)
        if stored.state != RUNNING:
            game = GameActor(table, self._tools, recent=recent)
            self._keep_ended(game)
            deliver_all(game, arrival.waiting)
            return
        make = partial(GameActor, tools=self._tools, epoch=stored.epoch, recent=recent)
        if rested is not None and rested.seq == table.seq:
            game = make(table, quiet_since_ms=None if arrival.waiting else rested.quiet_since_ms)
        else:  # an outage, or somebody else had it (CLOCK-5)
            now_ms, grace_ms = self._tools.clock.now_ms(), self._tools.settings.restart_grace_ms
            graced = table.with_grace(now_ms, grace_ms)
            game = make(graced, deadlines_moved=graced.clocks != table.clocks)
        self._start(game, arrival.waiting)

    # Games that can't be followed.

    async def _end_unread(self, game_id: str, reason: str) -> int:
        stored = await self._tools.store.game(game_id)
        if stored is None or stored.state == RESERVED:
            raise game_not_found(game_id)
        stored = await self._claims.own_to_end(stored)
        if stored.state != RUNNING:
            return stored.state
        try:
            await void_unread(self._tools.store, stored, reason, self._tools.clock.now_ms())
        except StoreConflict:  # somebody else got further with it
            self._absent.forget(game_id)
            raise store_unavailable(self._tools.settings.store_retry_ms) from None
        self._absent.forget(game_id)
        self._claims.refused.pop(game_id, None)
        self._absent.unreadable.add(game_id, VOID)
        return VOID


def _is_alike(stored: bytes, header: GameHeader) -> bool:
    """Whether a game was started with these contents, by whatever version."""
    try:
        return replace(GameHeader.decode(stored), rules=header.rules) == header
    except (ValueError, KeyError, TypeError):
        return False
