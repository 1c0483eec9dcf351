"""One turn at a game: what is asked is admitted, applied to a copy, stored, published and answered."""

from typing import Protocol

from opolyx_engine.admission import admit
from opolyx_engine.command import STORE_AWAY, Answer, Command
from opolyx_engine.game_log import GameLog, LogMoved
from opolyx_engine.given_answers import GivenAnswers
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.replies import Replies
from opolyx_engine.store.base import StoreConflict
from opolyx_engine.store_failures import StoreFailures
from opolyx_engine.table import Step, Table
from opolyx_rules.actions import KIND, NAMES, Action
from opolyx_rules.reasons import Refusal
from opolyx_servicekit.tracing import span, tracing
from opolyx_servicekit.wall_clock import Clock


class Playable(Protocol):
    """A game that can be moved on."""

    table: Table
    """The game as it is stored."""

    @property
    def game_id(self) -> str:
        """The game's id."""
        ...

    def publish(self, step: Step) -> None:
        """Show a stored step to everybody."""
        ...


class Turns:
    """Lets commands and the clock act in one game; its task calls, so one at a time.

    Keeps no hold on the game itself: one that has ended is freed at once.
    """

    def __init__(
        self,
        game_log: GameLog,
        answers: GivenAnswers,
        replies: Replies,
        failures: StoreFailures,
        clock: Clock,
        metrics: EngineMetrics,
    ) -> None:
        """Store in `game_log`; commands are answered once through `replies`, and kept in `answers`."""
        self._game_log = game_log
        self._answers = answers
        self._replies = replies
        self._failures = failures
        self._clock = clock
        self._metrics = metrics

    async def take(self, game: Playable, command: Command) -> None:
        """Answer one command: what was answered before, a refusal, or what it causes.

        Raises:
            ServiceError, LogMoved: see `_commit`; the command was answered all the same.
        """
        if not tracing():
            await self._answer(game, command)
            return
        waited_ms = self._clock.now_ms() - command.arrived_ms
        with span("command", command.trace, game_id=game.game_id, waited_ms=waited_ms):
            await self._answer(game, command)

    async def take_due(self, game: Playable, due_ms: int, now_ms: int) -> None:
        """Do what the clock does at `now_ms`, of which something was due at `due_ms`.

        Raises:
            ServiceError, LogMoved: see `_commit`.
        """
        action = game.table.clocks.due_action(game.table.state, now_ms)
        if action is None:
            raise RuntimeError(f"nothing is due at {now_ms}")
        await self._commit(game, action, "")
        late_ms = self._clock.now_ms() - due_ms  # now that it is stored and shown
        self._metrics.timer_lag.observe(late_ms / 1000)
        self._metrics.commands.inc(NAMES[action[KIND]], "clock")

    async def _answer(self, game: Playable, command: Command) -> None:
        answer = self._answers.recent(command) or self._replies.too_fast(command)
        if answer is not None:
            self._replies.send(command, answer)
            return
        with span("admission"):
            admitted = admit(game.table, command)
        try:
            if isinstance(admitted, Refusal):
                answer = await self._answers.instead_of(command, admitted)
            else:
                answer = await self._commit(game, admitted, command.command_id)
        except BaseException:
            self._replies.send(command, self._replies.retry(STORE_AWAY))
            raise
        self._answers.keep(command, answer)
        self._replies.send(command, answer)

    async def _commit(self, game: Playable, action: Action, command_id: str) -> Answer:
        """Apply on a copy, append, publish.

        Raises:
            ServiceError: the store failed; the table is as before, unless that is unknown.
            LogMoved: somebody else goes on with the game.
        """
        with span("rules"):
            step = game.table.plan(action, command_id, self._clock.now_ms())
        try:
            with span("store"):
                await self._game_log.append(game.table, step)
        except StoreConflict as error:
            # The id may have been used long ago, though the command answers what is open.
            answer = await self._answers.of_log(command_id, action)
            if answer is None:
                raise LogMoved(f"the log of {game.game_id} is not at {game.table.seq}") from error
            return answer
        self._failures.over()
        with span("publish"):
            game.publish(step)
        return Answer(seq=step.entry.seq)
