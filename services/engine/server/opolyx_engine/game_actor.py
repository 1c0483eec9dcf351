"""One actor a game: all that happens in a game happens in its one task, in order.

A command is admitted, applied to a copy, appended to the store, published and only then answered.
The table that others see is replaced after the append, so nobody is shown what can still be lost;
while the append runs, other games go on. If the store fails the table stays as it was.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from opolyx_engine.admission import excluded
from opolyx_engine.asked_game import AskedGame
from opolyx_engine.command import BUSY, MOVED, STORE_AWAY, Command
from opolyx_engine.cut_off import is_cut_off
from opolyx_engine.errors import owner_unknown, store_unavailable
from opolyx_engine.frame_maker import FrameMaker
from opolyx_engine.game_log import GameLog, LogMoved
from opolyx_engine.given_answers import GivenAnswers
from opolyx_engine.inbox import Inbox
from opolyx_engine.late_commands import LateCommands
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.recent_commands import RecentCommands
from opolyx_engine.replies import Replies
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import GameStore
from opolyx_engine.store_failures import StoreFailures
from opolyx_engine.table import Step, Table
from opolyx_engine.timers import Alarm, Timers
from opolyx_engine.turns import Turns
from opolyx_engine.void_requests import VoidRequests
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

_FAULT: Final = "fault"


class Watcher:
    """Told of a game's changes by its actor, at once; must be quick."""

    def changed(self, game: "GameActor") -> None:
        """The table changed, or the actor began."""

    def ended(self, game: "GameActor") -> None:
        """The actor ends: the game is over or void, or this server runs it no longer."""

    def busy(self, game: "GameActor") -> bool:
        """Whether the watcher is about to do something in the game, so that it must not rest."""
        return False


def _always() -> bool:
    """Whether this engine surely runs its games: one that is alone does."""
    return True


async def _stands(replica_id: str) -> bool:
    """Whether a way in stands: there are no others than the own one of an engine that is alone."""
    return True


@dataclass(frozen=True, slots=True)
class GameTools:
    """What every actor works with."""

    store: GameStore
    clock: Clock
    timers: Timers
    frames: FrameMaker
    metrics: EngineMetrics
    settings: EngineSettings
    watchers: Sequence[Watcher]
    tasks: TaskOwner
    surely_mine: Callable[[], bool] = _always
    """Whether no other replica can have taken this one for dead, and so its games."""

    way_stands: Callable[[str], Awaitable[bool]] = _stands
    """Whether whoever came through the replica of an id can still be reached through it."""


class GameActor(AskedGame):
    """Runs one game. Reading its table is allowed at any time: it is replaced, never changed."""

    def __init__(
        self,
        table: Table,
        tools: GameTools,
        *,
        epoch: int = 0,
        recent: RecentCommands | None = None,
        deadlines_moved: bool = False,
        quiet_since_ms: int | None = None,
    ) -> None:
        """Take up a game at `table`; nothing moves before `run`.

        Args:
            table: the game as it is stored.
            tools: what it works with.
            epoch: with which this replica owns the game.
            recent: what is known of the log's commands; needed unless the game just starts.
            deadlines_moved: whether the table's deadlines aren't those of its last update.
            quiet_since_ms: since when nobody asked for the game, Unix milliseconds; now if absent.
        """
        settings = tools.settings
        super().__init__(
            table,
            tools.frames,
            settings.recent_updates,
            tools.clock,
            deadlines_moved=deadlines_moved,
            quiet_since_ms=quiet_since_ms,
        )
        self.stopped = False
        """Whether the actor takes nothing more: the game ended, or is run here no longer."""
        self.lost = False
        """Whether the actor stopped because somebody else wrote to the game's log."""
        self.broken = False
        """Whether the actor stopped because of a fault that it could not even store."""
        self.epoch = epoch
        """With which this replica owns the game."""
        self.failures = StoreFailures(self.game_id, tools.clock, tools.metrics, settings, self.wake)
        """How the store failed here."""
        self._tools = tools
        self._working = True
        self._left = False
        self._leaving: asyncio.Future[None] | None = None
        self._alarm = Alarm(self.wake)
        self._alarm.next_due_ms = table.clocks.next_due_ms  # known before the task begins
        known = recent or RecentCommands(complete=table.seq == 0)
        self._answers = GivenAnswers(table.header.game_id, tools.store, known)
        self._game_log = GameLog(
            tools.store, tools.clock, tools.metrics, settings.snapshot_every, epoch
        )
        self._replies = Replies(table.header.game_id, tools.metrics, settings)
        self._turns = Turns(
            self._game_log, self._answers, self._replies, self.failures, tools.clock, tools.metrics
        )
        self._inbox = Inbox(settings.most_waiting_commands)
        self._late_commands = LateCommands(self._answers, self._replies, tools.tasks)
        self._void_requests = VoidRequests()
        self._faulty = False
        self._wake = asyncio.Event()

    @property
    def next_due_ms(self) -> int | None:
        """When the clock acts next, Unix milliseconds."""
        return self._alarm.next_due_ms

    @property
    def waiting(self) -> int:
        """How many commands wait."""
        return len(self._inbox)

    @property
    def first_waits_since_ms(self) -> int | None:
        """When the command that is next came in, Unix milliseconds; None if none waits."""
        return self._inbox.first_arrived_ms() if self._inbox else None

    def wake(self) -> None:
        """Look at the clock, and at what waits."""
        self._wake.set()

    def rest(self) -> bool:
        """Stop, if nothing is going on; the game goes on from the store when it is taken up again.

        The look and the stop are one: no `await` is between them, so nothing that arrives can get
        lost in between. What only memory knows keeps a game from resting.
        """
        if not self._is_quiet():
            return False
        self._leave()
        self._wake.set()
        return True

    async def leave(self) -> None:
        """Stop as soon as all that happened is stored: another replica goes on with the game.

        What waits is to be sent again, and who receives the game is to attach again. If this call
        is cancelled before that, the game goes on as if it hadn't been asked.
        """
        if self.stopped or not self.running:
            return
        self._leaving = asyncio.get_running_loop().create_future()
        self._wake.set()
        try:
            await self._leaving
        finally:
            self._leaving = None

    def let_go(self) -> None:
        """Stop at once: another replica owns the game, so nothing is stored from here any more."""
        if not self.stopped:
            self.lost = True
            self._stop(self._frames.lost(self.game_id))
            self._wake.set()

    # What others ask of the actor.

    def submit(self, command: Command) -> None:
        """Take a command; it is answered through its `reply`, maybe before this returns."""
        self.touch()
        if refusal := excluded(self.table, command.seat):
            self._late_commands.take(command, refusal)
        elif self.stopped:
            self._replies.send(command, self._replies.retry(self._why_stopped()))
        elif self._inbox.put(command):
            self._wake.set()
        else:
            self._replies.send(command, self._replies.retry(BUSY))

    def publish(self, step: Step) -> None:
        """Show a stored step to everybody; for the game's own task."""
        self._show_step(step)
        self._changed()

    async def end_as_void(self, reason: str) -> int:
        """End the game without a result; its life afterwards, FINISHED if it was over before.

        Raises:
            ServiceError: the store failed, or the game is run here no longer; it may go on.
        """
        if not self.running:
            return self.table.life
        if self.stopped:
            raise self._unavailable()
        done = self._void_requests.add(reason)
        self._wake.set()
        return await done

    # The task.

    async def run(self) -> None:
        """Run until the game ends or the task is cancelled."""
        structlog.contextvars.bind_contextvars(game_id=self.game_id)
        try:
            self._changed()
            while self.running and not self.stopped:
                self._working = False
                await self._wake.wait()
                self._working = True
                self._wake.clear()
                if not self.stopped:
                    await self._work()
                    self._tools.timers.watch(self._alarm)
        finally:
            self._leave()

    def _is_quiet(self) -> bool:
        """Whether all that the actor knows is stored, and nobody and nothing waits for it."""
        due_ms = self.next_due_ms
        return (
            self.running
            and self.updates_tell_all
            and self._game_log.settled
            and not (self.stopped or self._working or self._wake.is_set() or self._faulty)
            and not (self._inbox or self._void_requests or self._attaching or len(self.hub))
            and (due_ms is None or due_ms > self._tools.clock.now_ms())
            and not any(watcher.busy(self) for watcher in self._tools.watchers)
        )

    def _leave(self) -> None:
        """Take nothing more, and let go of everything; once."""
        if self._left:
            return
        self._left = self.stopped = True
        self._alarm.off()
        self.failures.off()
        self._dismiss()
        if not self.running:
            self.hub.let_go()  # a long stream must not keep all games that it ever received
        self._frames.forget(self.game_id)
        for watcher in self._tools.watchers:
            watcher.ended(self)
        if self._leaving is not None and not self._leaving.done():
            self._leaving.set_result(None)

    def _why_stopped(self) -> str:
        """Why commands are to be sent again, for their answers."""
        return MOVED if self.lost or self._leaving is not None else STORE_AWAY

    async def _work(self) -> None:
        """Everything that can be done now; a bug ends this game only."""
        try:
            await self._work_through()
        except ServiceError as error:
            self.failures.note(error)
            self._void_requests.fail(error)
        except LogMoved as error:
            _log.warning("game_lost", game_id=self.game_id, error=str(error))
            self.lost = True
            self._stop(self._frames.lost(self.game_id))
        except Exception:
            await self._meet_fault()

    async def _work_through(self) -> None:
        if step := await self._game_log.settle(self.table):
            self._answers.keep_step(step)
            self.publish(step)
        while self.running:
            if self._faulty:
                await self._end_as_void(_FAULT)
                self.hub.release(self._frames.fault(self.game_id))
            elif self._void_requests:
                await self._end_as_void(self._void_requests.reason)
            elif self._leaving is not None:
                self._stop(self._frames.lost(self.game_id))
                return
            elif not await self._do_next():
                return

    async def _do_next(self) -> bool:
        """Let the next command or the clock act, whichever was first; False if nothing is there.

        What arrives at the deadline or later comes after the clock (CLOCK-5).
        """
        due_ms, now_ms = self.next_due_ms, self._tools.clock.now_ms()
        if (
            due_ms is not None
            and due_ms <= now_ms
            and (not self._inbox or self._inbox.first_arrived_ms() >= due_ms)
        ):
            await self._let_clock_act(due_ms, now_ms)
        elif self._inbox:
            await self._turns.take(self, self._inbox.take())
        else:
            return False
        return True

    async def _let_clock_act(self, due_ms: int, now_ms: int) -> None:
        """What is due happens, unless an outage kept players from acting before it was (CLOCK-5)."""
        if not self._tools.surely_mine():
            raise owner_unknown(self.game_id, self._tools.settings.store_retry_ms)
        if self.failures.since_ms is not None and not self.failures.excused:
            await self._game_log.reach(self.table)
            self.failures.excused = True
            self._grant_grace(self._tools.clock.now_ms())
        elif await is_cut_off(self.table, self.hub, self._tools.way_stands, now_ms):
            _log.info("players_cut_off", game_id=self.game_id)
            self._grant_grace(self._tools.clock.now_ms())
        else:
            await self._turns.take_due(self, due_ms, self._tools.clock.now_ms())

    def _grant_grace(self, now_ms: int) -> None:
        """Give whoever is awaited as much time as if the game was taken up again."""
        grace_ms = self._tools.settings.restart_grace_ms
        self._show_moved(self.table.with_grace(now_ms, grace_ms))
        self._changed()

    def _changed(self) -> None:
        due_ms = self._alarm.next_due_ms = self.table.clocks.next_due_ms
        self._tools.timers.watch(self._alarm)
        if due_ms is not None and due_ms <= self._tools.clock.now_ms():
            self._wake.set()
        for watcher in self._tools.watchers:
            watcher.changed(self)

    # Ends that the rules don't know.

    async def _meet_fault(self) -> None:
        """A bug was met: the game is to end as void, or, if even that fails, to stop here."""
        _log.exception("game_fault", game_id=self.game_id, seq=self.table.seq)
        if self._faulty:
            self.broken = True
            self._stop(self._frames.fault(self.game_id))
            return
        self._faulty = True
        self._tools.metrics.faults.inc()
        self._wake.set()
        await self._game_log.dump(self.game_id)

    async def _end_as_void(self, reason: str) -> None:
        self._show_void(await self._game_log.end_as_void(self.table, reason))
        self._alarm.next_due_ms = None
        for watcher in self._tools.watchers:
            watcher.changed(self)

    def _stop(self, last_frame: bytes) -> None:
        """Run the game no longer. Clients may attach again: they find it where it is then."""
        self.stopped = True
        self.hub.release(last_frame)

    # The end of the task.

    def _unavailable(self) -> ServiceError:
        return store_unavailable(self._tools.settings.store_retry_ms)

    def _dismiss(self) -> None:
        """Answer what waits when the actor stops: the game is over, or the server goes away."""
        while self._inbox:
            self.submit(self._inbox.take())
        if self.running:
            self._void_requests.fail(self._unavailable())
        else:
            self._void_requests.settle(self.table.life)
