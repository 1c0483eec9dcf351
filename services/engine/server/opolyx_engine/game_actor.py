"""One actor a game: all that happens in a game happens in its one task, in order.

A command is admitted, applied to a copy, appended to the store, published and only then answered.
The table that others see is replaced after the append, so nobody is shown what can still be lost;
while the append runs, other games go on. If the store fails the table stays as it was.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from opolyx_engine.admission import admit
from opolyx_engine.command import Answer, Command
from opolyx_engine.command_rate import CommandRate
from opolyx_engine.facts import game_voided
from opolyx_engine.frame_maker import FrameMaker
from opolyx_engine.hub import Hub
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.recent_commands import RecentCommands, reused
from opolyx_engine.record import Entry
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import RUNNING, VOID, Append, GameStore, StoreConflict
from opolyx_engine.table import Step, Table
from opolyx_engine.timers import Timers
from opolyx_engine.update_ring import UpdateRing
from opolyx_rules.actions import NAMES, SEAT, Action
from opolyx_rules.reasons import Refusal
from opolyx_servicekit.errors import ServiceError, StoreBusy
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

_FAULT: Final = "fault"


class LogMoved(Exception):
    """Somebody else wrote to the game's log: this actor's table isn't the game any more."""


class Watcher:
    """Told of a game's changes by its actor, at once; must be quick."""

    def changed(self, game: "GameActor") -> None:
        """The table changed, or the actor began."""

    def ended(self, game: "GameActor") -> None:
        """The actor ends: the game is over or void, or somebody else runs it."""


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


class GameActor:
    """Runs one game. Reading its table is allowed at any time: it is replaced, never changed."""

    def __init__(
        self,
        table: Table,
        tools: GameTools,
        *,
        recent: RecentCommands | None = None,
    ) -> None:
        """Take up a game at `table`; nothing moves before `run`."""
        self.table = table
        """The game as it is stored."""
        self.next_due_ms: int | None = table.clocks.next_due_ms
        """When the clock acts next, Unix milliseconds."""
        self.ring = UpdateRing(tools.settings.recent_updates, table.seq)
        """The latest updates."""
        self.hub = Hub(lambda seats: tools.frames.presence(table.header.game_id, seats))
        """Who receives the game."""
        self._tools = tools
        self._recent = recent or RecentCommands(complete=table.seq == 0)
        self._rates: dict[int, CommandRate] = {}
        self._inbox: deque[Command] = deque()
        self._void_requests: list[tuple[str, asyncio.Future[int]]] = []
        self._unsure: Step | None = None
        self._wake = asyncio.Event()
        self._stopped = False

    @property
    def game_id(self) -> str:
        """The game's id."""
        return self.table.header.game_id

    @property
    def running(self) -> bool:
        """Whether the game goes on."""
        return self.table.life == RUNNING

    def wake(self) -> None:
        """Look at the clock, and at what waits."""
        self._wake.set()

    def snapshot_frame(self, seat: int | None) -> bytes:
        """The game as it is now."""
        return self._tools.frames.snapshot(self.table, seat, self.hub.connected)

    def attached_frame(self) -> bytes:
        """An attachment has everything up to now."""
        return self._tools.frames.attached(self.game_id, self.table.seq)

    # What others ask of the actor.

    def submit(self, command: Command) -> None:
        """Take a command; it is answered through its `reply`, at once if the inbox is full."""
        if not self.running:
            self._tools.tasks.start(self._take_late(command), name="late command")
            return
        if self._stopped or len(self._inbox) >= self._tools.settings.most_waiting_commands:
            self._answer(command, self._retry())
            return
        self._inbox.append(command)
        self._wake.set()

    async def end_as_void(self, reason: str) -> int:
        """End the game without a result; its life afterwards, FINISHED if it was over before.

        Raises:
            ServiceError: the store failed; the game may go on.
        """
        if not self.running:
            return self.table.life
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._void_requests.append((reason, done))
        self._wake.set()
        return await done

    # The task.

    async def run(self) -> None:
        """Run until the game ends or the task is cancelled."""
        try:
            self._changed()
            while self.running and not self._stopped:
                await self._wake.wait()
                self._wake.clear()
                await self._work()
        finally:
            self._stopped = True
            self.next_due_ms = None
            self._dismiss()
        for watcher in self._tools.watchers:
            watcher.ended(self)

    async def _work(self) -> None:
        """Everything that can be done now; a bug ends this game only."""
        try:
            await self._work_through()
        except ServiceError as error:
            self._tools.metrics.append_failures.inc()
            _log.warning("store_failed", game_id=self.game_id, error=str(error))
            self._wake_later()
        except LogMoved as error:
            _log.warning("game_lost", game_id=self.game_id, error=str(error))
            self._stopped = True
            self._detach_all()
        except Exception:
            _log.exception("game_fault", game_id=self.game_id, seq=self.table.seq)
            self._tools.metrics.faults.inc()
            await self._end_faulty()

    async def _work_through(self) -> None:
        if self._unsure is not None:
            await self._settle(self._unsure)
        while self.running:
            if self._void_requests:
                await self._end_for_operator()
                continue
            due_ms = self.next_due_ms
            now_ms = self._tools.clock.now_ms()
            overdue = due_ms is not None and due_ms <= now_ms
            if self._inbox and not (
                overdue and due_ms is not None and self._inbox[0].arrived_ms >= due_ms
            ):
                await self._take(self._inbox.popleft())
            elif overdue:
                await self._take_due(now_ms)
            else:
                return

    async def _take(self, command: Command) -> None:
        """Answer one command: what was answered before, a refusal, or what it causes."""
        answer = self._recent.answer_to(command)
        if answer is None and command.seat is not None:
            limit = self._rate(command.seat).refusal(command.arrived_ms)
            answer = None if limit is None else Answer(refusal=limit)
        if answer is not None:
            self._answer(command, answer)
            return
        admitted = admit(self.table, command)
        try:
            if isinstance(admitted, Refusal):
                answer = await self._answer_to_refused(command, admitted)
            else:
                answer = await self._commit(admitted, command.command_id)
        except BaseException:
            self._answer(command, self._retry())
            raise
        if command.seat is not None and not answer.retry_after_ms:
            self._recent.keep(command.command_id, command.seat, command.action, answer)
        self._answer(command, answer)

    async def _take_late(self, command: Command) -> None:
        """Answer a command to a game that is over: what was answered before, or a refusal."""
        answer = self._recent.answer_to(command)
        judged = admit(self.table, command)
        if answer is None and isinstance(judged, Refusal):
            try:
                answer = await self._answer_to_refused(command, judged)
            except ServiceError:
                answer = None
        self._answer(command, answer or self._retry())

    async def _answer_to_refused(self, command: Command, refusal: Refusal) -> Answer:
        """A refused command may be an old one sent again: its decision is closed by then."""
        if self._recent.complete or command.seat is None:
            return Answer(refusal=refusal)
        return await self._stored_answer(command) or Answer(refusal=refusal)

    async def _stored_answer(self, command: Command) -> Answer | None:
        record = await self._tools.store.command(self.game_id, command.command_id)
        if record is None:
            return None
        if Entry.decode(record).action != command.action:
            return reused()
        return Answer(seq=record.seq)

    async def _take_due(self, now_ms: int) -> None:
        action = self.table.clocks.due_action(self.table.state, now_ms)
        if action is None or self.next_due_ms is None:
            return
        lag_ms = now_ms - self.next_due_ms
        await self._commit(action, "")
        self._tools.metrics.timer_lag.observe(lag_ms / 1000)
        self._tools.metrics.commands.labels(NAMES[action[0]], "clock").inc()

    async def _commit(self, action: Action, command_id: str) -> Answer:
        """Apply on a copy, append, publish.

        Raises:
            ServiceError: the store failed; the table is as before, unless that is unknown.
        """
        step = self.table.plan(action, command_id, self._tools.clock.now_ms())
        started = self._tools.clock.monotonic()
        try:
            await self._tools.store.append(self._append(step))
        except StoreBusy:
            raise
        except StoreConflict:
            return await self._conflicting(action, command_id)
        except BaseException:
            self._unsure = step
            raise
        self._tools.metrics.append_seconds.observe(self._tools.clock.monotonic() - started)
        self._publish(step)
        return Answer(seq=step.entry.seq)

    def _append(self, step: Step) -> Append:
        due = step.entry.seq % self._tools.settings.snapshot_every == 0
        return self.table.append_of(step, with_snapshot=due and not step.state.over)

    async def _conflicting(self, action: Action, command_id: str) -> Answer:
        """The command is in the log already, though it answers what is open: its id was reused."""
        record = await self._tools.store.command(self.game_id, command_id)
        if record is None:
            raise LogMoved(f"the log of {self.game_id} is not at {self.table.seq}")
        return Answer(seq=record.seq) if Entry.decode(record).action == action else reused()

    async def _settle(self, step: Step) -> None:
        """Learn whether an append happened whose outcome the store didn't tell."""
        stored = await self._tools.store.records(self.game_id, self.table.seq, 1)
        self._unsure = None
        if stored and stored[0] == step.entry.encode():
            self._recent.keep(
                step.entry.command_id,
                step.entry.action[SEAT],
                step.entry.action,
                Answer(seq=step.entry.seq),
            )
            self._publish(step)

    def _publish(self, step: Step) -> None:
        frame = self._tools.frames.update(self.table, step)
        self.table = self.table.after(step)
        self.ring.add(step.entry.seq, frame)
        self.hub.publish(frame)
        self._changed()

    def _changed(self) -> None:
        self.next_due_ms = self.table.clocks.next_due_ms
        self._tools.timers.watch(self)
        if self.next_due_ms is not None and self.next_due_ms <= self._tools.clock.now_ms():
            self._wake.set()
        for watcher in self._tools.watchers:
            watcher.changed(self)

    # Ends that the rules don't know.

    async def _end_for_operator(self) -> None:
        reason = self._void_requests[0][0]
        try:
            await self._void(reason)
        except ServiceError as error:
            self._settle_void_requests(error)

    async def _end_faulty(self) -> None:
        await self._dump()
        try:
            await self._void(_FAULT)
        except (ServiceError, LogMoved):
            _log.exception("game_fault_not_stored", game_id=self.game_id)
            self.table = self.table.voided(_FAULT)
        self.hub.publish(self._tools.frames.fault(self.game_id))

    async def _void(self, reason: str) -> None:
        now_ms = self._tools.clock.now_ms()
        table = self.table
        fact = game_voided(reason, table.players_in(), now_ms)
        append = Append(
            game_id=self.game_id,
            expected_seq=table.seq,
            facts=(fact,),
            ends_as=VOID,
            end_reason=reason,
            at_ms=now_ms,
        )
        try:
            await self._tools.store.append(append)
        except StoreConflict as error:
            raise LogMoved(f"the log of {self.game_id} is not at {table.seq}") from error
        self.table = table.voided(reason)
        self.next_due_ms = None
        for subscription in self.hub.subscriptions():
            subscription.outbox.publish(subscription.snapshot_frame(), subscription)
        for watcher in self._tools.watchers:
            watcher.changed(self)

    def _detach_all(self) -> None:
        """Let clients attach again: they find the game where it is now."""
        frame = self._tools.frames.lost(self.game_id)
        for subscription in self.hub.subscriptions():
            subscription.outbox.put(frame)
            self.hub.remove(subscription)

    async def _dump(self) -> None:
        """The whole log to the structured log, so that the fault can be replayed."""
        try:
            records = await self._tools.store.records(self.game_id, 0, 1 << 30)
        except ServiceError:
            return
        lines = [record.body.decode() for record in records]
        _log.error("game_fault_log", game_id=self.game_id, log=lines)

    # Answers.

    def _answer(self, command: Command, answer: Answer) -> None:
        action = command.action
        name = "unknown" if isinstance(action, Refusal) else NAMES[action[0]]
        outcome = "accepted"
        if answer.refusal is not None:
            outcome = "refused"
            self._tools.metrics.refused(answer.refusal.reason)
        elif answer.retry_after_ms:
            outcome = "retry"
        self._tools.metrics.commands.labels(name, outcome).inc()
        command.reply(answer)

    def _retry(self) -> Answer:
        return Answer(retry_after_ms=self._tools.settings.store_retry_ms)

    def _rate(self, seat: int) -> CommandRate:
        rate = self._rates.get(seat)
        if rate is None:
            settings = self._tools.settings
            rate = CommandRate(settings.commands_per_second, settings.command_burst)
            self._rates[seat] = rate
        return rate

    def _wake_later(self) -> None:
        delay = self._tools.settings.store_retry_ms / 1000
        asyncio.get_running_loop().call_later(delay, self._wake.set)

    def _dismiss(self) -> None:
        """Answer what waits when the actor stops: the game is over, or the server goes away."""
        while self._inbox:
            command = self._inbox.popleft()
            if self.running:
                self._answer(command, self._retry())
            else:
                self.submit(command)
        self._settle_void_requests(None)

    def _settle_void_requests(self, error: Exception | None) -> None:
        for _, done in self._void_requests:
            if done.done():
                continue
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(self.table.life)
        self._void_requests.clear()
