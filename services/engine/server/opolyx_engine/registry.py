"""The games of this engine: running ones have an actor, ended ones are read when asked for.

A game in which nothing goes on rests: it has no actor, and is taken up again when somebody asks
for it or its clock is due, with the deadlines it had. A game whose stored log can't be followed any
more is held: not played, but kept as it is, until a server that can follow it starts, or an
operator ends it as void.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Coroutine, Iterable
from functools import partial
from typing import Any, Final, TypeVar

import structlog

from opolyx_engine.absent import HeldGame, RestingGame, UnreadableGames
from opolyx_engine.errors import (
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
from opolyx_engine.record import Entry
from opolyx_engine.returns import Returns
from opolyx_engine.store.base import (
    RESERVED,
    RUNNING,
    VOID,
    Append,
    StoreConflict,
    StoredGame,
)
from opolyx_engine.table import Table
from opolyx_engine.timers import Alarm
from opolyx_servicekit.errors import CallerError, ServiceError

_log = structlog.get_logger(__name__)

_MOST_FINDS: Final = 5

T = TypeVar("T")

Deliver = Callable[[GameActor], None]


class _Loading:
    """A game on its way out of the store, and who waits for it."""

    __slots__ = ("task", "waiting")

    def __init__(self) -> None:
        self.waiting: list[Deliver] = []
        self.task: asyncio.Task[ServiceError | None]


class Registry(Watcher):
    """Finds games by id, starts their actors, lets go of them when they rest or end."""

    def __init__(self, tools: GameTools) -> None:
        """No game yet; `tools` are handed to every actor, with this registry as a watcher."""
        self._tools = tools
        self._loader = Loader(tools)
        self._running: dict[str, GameActor] = {}
        self._resting: dict[str, RestingGame] = {}
        self._held: dict[str, HeldGame] = {}
        self._ended: OrderedDict[str, GameActor] = OrderedDict()
        self._unreadable = UnreadableGames(tools.settings.finished_games_kept)
        self._loading: dict[str, _Loading] = {}
        self._returns = Returns(self._took_up, tools.tasks, tools.settings.store_retry_ms / 1000)

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
        rested = self._resting.get(game_id)
        return rested.round if rested else 0

    def resting(self) -> dict[str, RestingGame]:
        """The resting games by id; not to be changed."""
        return self._resting

    def held(self) -> dict[str, HeldGame]:
        """The held games by id; not to be changed."""
        return self._held

    def coming(self) -> Collection[str]:
        """Ids of games that are to be taken up as soon as that can be done."""
        return self._returns.coming

    async def take_up_all(self) -> None:
        """Take up every game that runs in the store, as after a crash.

        One that is damaged is held, and one that can't be read now is tried again later: neither
        keeps the others waiting.
        """
        for game_id in await self._tools.store.running():
            if not await self._took_up(game_id):
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
        if known := self._running.get(game_id) or self._ended.get(game_id):
            known.touch()
            deliver(known)
            return
        if game_id in self._held or game_id in self._unreadable:
            raise game_fault(game_id)
        loading = self._start_loading(game_id)
        loading.waiting.append(deliver)
        await self._loaded(loading)

    async def create(self, header: GameHeader, secret: bytes) -> GameActor:
        """Start a reserved game; one that was started alike before is returned as it is.

        Raises:
            FailedPrecondition: it isn't reserved, or was started with other contents.
            GameElsewhere: it was started alike before, and another replica runs it.
            ServiceError: the store failed.
        """
        work = self._create(header, secret)
        # A game that is stored must move, whether or not the caller waits until it is.
        made = await asyncio.shield(self._start_task(work, f"create {header.game_id[:64]}"))
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
        if (life := self._unreadable.life(game_id)) is not None:
            return life
        if game_id not in self._held:
            game = await self.find(game_id)
            return await game.end_as_void(reason)
        now_ms = self._tools.clock.now_ms()
        try:
            await void_unread(self._tools.store, game_id, reason, now_ms)
        except StoreConflict:
            self._forget_held(game_id)  # somebody else got further with it
            raise store_unavailable(self._tools.settings.store_retry_ms) from None
        self._forget_held(game_id)
        self._unreadable.add(game_id, VOID)
        return VOID

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
        due_ms = game.next_due_ms
        if self._running.get(game.game_id) is not game or not game.rest():
            return False
        alarm = Alarm(partial(self._returns.now, game.game_id))
        ruleset, round_ = game.table.header.ruleset, game.table.state.round
        self._resting[game.game_id] = RestingGame(
            ruleset, game.table.seq, round_, game.quiet_since_ms, alarm
        )
        alarm.next_due_ms = due_ms
        self._tools.timers.watch(alarm)
        self._tools.metrics.evicted_games.labels(ruleset).inc()
        self._tools.metrics.evictions.inc()
        return True

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
            self._hold(game.game_id, game.table.header.ruleset, game.table.seq)

    def _keep_ended(self, game: GameActor) -> None:
        self._returns.forget(game.game_id)
        self._ended[game.game_id] = game
        while len(self._ended) > self._tools.settings.finished_games_kept:
            self._ended.popitem(last=False)

    def _knows(self, game_id: str) -> bool:
        known = (self._running, self._resting, self._ended, self._held, self._loading)
        return any(game_id in games for games in known)

    def _start(self, game: GameActor, waiting: Iterable[Deliver] = ()) -> GameActor:
        self._running[game.game_id] = game
        self._tools.metrics.active_games.labels(game.table.header.ruleset).inc()
        _deliver_all(game, waiting)
        self._tools.tasks.start(game.run(), name=f"game {game.game_id}")
        return game

    async def _took_up(self, game_id: str) -> bool:
        """Take a game up for its own sake; False if the store couldn't give it now."""
        if game_id in self._running or game_id in self._held:
            return True
        try:
            await self._loaded(self._start_loading(game_id))
        except CallerError:
            return True  # held, which is logged, or gone
        except ServiceError as error:
            _log.warning("game_not_taken_up", game_id=game_id, error=str(error))
            return False
        return True

    # Starting games.

    async def _create(self, header: GameHeader, secret: bytes) -> GameActor | ServiceError:
        table, entry = Table.begin(header, secret, self._tools.clock.now_ms())
        try:
            stored = await self._store_start(header, entry)
            if loading := self._loading.get(header.game_id):
                await asyncio.wait([loading.task])  # it may have looked before the game was there
            now = (stored.state, stored.seq, stored.started_ms)
            if now != (RUNNING, 0, table.started_ms) or self._knows(header.game_id):
                return await self.find(header.game_id)
            return self._start(GameActor(table, self._tools))
        except ServiceError as error:
            return error

    async def _store_start(self, header: GameHeader, entry: Entry) -> StoredGame:
        encoded, game_id = header.encode(), header.game_id
        first = Append(game_id=game_id, expected_seq=-1, records=(entry.encode(),))
        try:
            stored = await self._tools.store.create(
                game_id, header.ruleset, header.watchable, encoded, first
            )
        except ServiceError:
            self._returns.later(game_id)  # it may be stored all the same
            raise
        if stored is None:
            raise no_reservation(game_id)
        if stored.header != encoded:
            raise game_conflict(game_id)
        return stored

    # Taking up what is stored.

    def _start_loading(self, game_id: str) -> _Loading:
        """One loads for all who ask."""
        if loading := self._loading.get(game_id):
            return loading
        loading = _Loading()
        loading.task = self._start_task(self._load(game_id, loading), f"load {game_id[:64]}")
        self._loading[game_id] = loading
        return loading

    def _start_task(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        try:
            return self._tools.tasks.start(work, name=name)
        except RuntimeError:  # the server goes away
            raise store_unavailable(self._tools.settings.drain_retry_ms) from None

    async def _loaded(self, loading: _Loading) -> None:
        # Nobody's cancellation keeps the others from the game.
        error = await asyncio.shield(loading.task)
        if error is not None:
            raise error

    async def _load(self, game_id: str, loading: _Loading) -> ServiceError | None:
        """Take up the game as its log has it, or say why there is none."""
        try:
            stored = await self._tools.store.game(game_id)
            if stored is None or stored.state == RESERVED:
                return game_not_found(game_id)
            await self._take_up_or_hold(stored, loading)
        except ServiceError as error:
            return error
        finally:
            del self._loading[game_id]
        return None

    async def _take_up_or_hold(self, stored: StoredGame, loading: _Loading) -> None:
        """A game whose log can't be followed is held: nothing is lost if a later version can."""
        try:
            table, recent = await self._loader.load(stored)
        except ServiceError:
            raise
        except Exception as error:
            _log.exception("game_held", game_id=stored.game_id)
            self._tools.metrics.faults.inc()
            self._hold_unread(stored)
            raise game_fault(stored.game_id) from error
        # No await from here on: whoever waits meets the game before its clock acts.
        rested = self._forget_resting(stored.game_id)
        if stored.state != RUNNING:
            game = GameActor(table, self._tools, recent=recent)
            self._keep_ended(game)
            _deliver_all(game, loading.waiting)
            return
        if rested is not None and rested.seq == table.seq:
            quiet_ms = None if loading.waiting else rested.quiet_since_ms
            game = GameActor(table, self._tools, recent=recent, quiet_since_ms=quiet_ms)
        else:  # an outage, or somebody else had it (CLOCK-5)
            now_ms, grace_ms = self._tools.clock.now_ms(), self._tools.settings.restart_grace_ms
            graced = table.with_grace(now_ms, grace_ms)
            moved = graced.clocks != table.clocks
            game = GameActor(graced, self._tools, recent=recent, deadlines_moved=moved)
        self._start(game, loading.waiting)

    def _forget_resting(self, game_id: str) -> RestingGame | None:
        rested = self._resting.pop(game_id, None)
        if rested is not None:
            rested.alarm.off()
            self._tools.metrics.evicted_games.labels(rested.ruleset).dec()
        return rested

    # Games that can't be followed.

    def _hold_unread(self, stored: StoredGame) -> None:
        self._forget_resting(stored.game_id)
        if stored.state == RUNNING:
            self._hold(stored.game_id, stored.ruleset, stored.seq)
        else:
            self._unreadable.add(stored.game_id, stored.state)

    def _hold(self, game_id: str, ruleset: str, seq: int) -> None:
        self._held[game_id] = HeldGame(ruleset, seq)
        self._tools.metrics.held_games.set(len(self._held))

    def _forget_held(self, game_id: str) -> None:
        self._held.pop(game_id, None)
        self._tools.metrics.held_games.set(len(self._held))


def _deliver_all(game: GameActor, waiting: Iterable[Deliver]) -> None:
    for deliver in waiting:
        try:
            deliver(game)
        except Exception:  # who asked is at fault, not the game
            _log.exception("delivery_failed", game_id=game.game_id)
