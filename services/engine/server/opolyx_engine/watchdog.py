"""Looks at games while they run: what must hold of every game, sampled, at a bounded cost.

Each look takes a few games in turn. A game's table is kept until the next look; then its log of
the time between is read back and played once more, and what comes out must be what the game shows
now. So what is wrong in the rules, in memory or in the store is noticed while the game still runs,
by a number that must be 0. Nothing is put right here: that is for people.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Final

import structlog

from opolyx_engine.game_actor import GameActor
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.record import Entry
from opolyx_engine.registry import Registry
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import RUNNING, GameStore
from opolyx_engine.table import Step, Table
from opolyx_rules import codec
from opolyx_rules.engine import actors, legal_actions
from opolyx_rules.events import CASH_MOVED, Event
from opolyx_rules.ids import BANK
from opolyx_rules.views import state_digest
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

MOST_RECORDS: Final = 50
"""The longest stretch of a log that is played again at a look."""

_YIELD_EVERY: Final = 5  # replayed records between two looks at other games


class Watchdog:
    """Samples running games."""

    def __init__(
        self,
        registry: Registry,
        store: GameStore,
        settings: EngineSettings,
        clock: Clock,
        metrics: EngineMetrics,
    ) -> None:
        """Look at the games of `registry`, as often and at as many as the settings say."""
        self._registry = registry
        self._store = store
        self._settings = settings
        self._clock = clock
        self._metrics = metrics
        self._turn: deque[str] = deque()
        self._kept: list[tuple[GameActor, Table]] = []

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self._clock.sleep_until(self._clock.now_ms() + self._settings.watchdog_ms)
            try:
                await self.look()
            except ServiceError as error:  # the store is away: its own alerts tell
                _log.debug("watchdog_waits", error=str(error))
            except Exception:  # a bug here must end neither the watch nor a game
                _log.exception("watchdog_failed")

    async def look(self) -> None:
        """Check the games of the last look once more, then take the next ones.

        Raises:
            ServiceError: the store can't be read now.
        """
        kept, self._kept = self._kept, []
        for game, before in kept:
            if self._registry.find_running(game.game_id) is game:
                await self._follow(game, before)
            await asyncio.sleep(0)
        for game in self._next_games():
            self._metrics.watchdog_checks.inc()
            self._check_state(game.table)
            self._kept.append((game, game.table))
            await asyncio.sleep(0)

    def _next_games(self) -> list[GameActor]:
        """The games whose turn it is; a game that came meanwhile has its turn in the next round."""
        if not self._turn:
            self._turn.extend(game.game_id for game in self._registry.running())
        chosen: list[GameActor] = []
        while self._turn and len(chosen) < self._settings.watchdog_games:
            game = self._registry.find_running(self._turn.popleft())
            if game is not None and not game.stopped:
                chosen.append(game)
        return chosen

    def _check_state(self, table: Table) -> None:
        """What one state must be by itself."""
        state = table.state
        if table.life != RUNNING:
            return
        for seat in actors(state):
            if not legal_actions(state, seat):
                self._report(table, "legal_action", f"seat {seat} is awaited and can do nothing")
        again = codec.decode(codec.encode(state), table.ruleset)
        if state_digest(again) != state_digest(state):
            self._report(table, "digest", "the state read back out of its bytes is another")

    async def _follow(self, game: GameActor, before: Table) -> None:
        """Play the log from `before` to the game as it is now, and compare."""
        now = game.table  # replaced by the actor, never changed: it stays what it is now
        steps = min(now.seq - before.seq, MOST_RECORDS)
        if steps <= 0 or game.stopped:
            return
        records = await self._store.records(game.game_id, before.seq, steps)
        if len(records) < steps:
            self._report(now, "log", f"update {before.seq + len(records) + 1} isn't in the log")
            return
        played = before
        for record in records:
            try:
                step = played.replayed(Entry.decode(record))
            except Exception as error:  # whatever is wrong with a record
                self._report(now, "log", f"{type(error).__name__}: {error}")
                return
            self._check_money(played, step)
            played = played.after(step)
            if played.seq % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        if played.seq == now.seq and codec.encode(played.state) != codec.encode(now.state):
            self._report(now, "digest", "the log leads to another state than the one shown")

    def _check_money(self, before: Table, step: Step) -> None:
        """Every change of cash is paid by somebody to somebody."""
        expected = cash_after(before.state.cash, step.events)
        if expected != step.state.cash:
            detail = f"events lead to {expected}, the state has {step.state.cash}"
            self._report(before, "money", detail)

    def _report(self, table: Table, invariant: str, detail: str) -> None:
        self._metrics.watchdog_violations.labels(invariant).inc()
        _log.error(
            "watchdog_violation",
            game_id=table.header.game_id,
            update=table.seq,
            invariant=invariant,
            detail=detail,
        )


def cash_after(cash: Sequence[int], events: Sequence[Event]) -> list[int]:
    """What each seat has after these events."""
    after = list(cash)
    for event in events:
        if event[0] != CASH_MOVED:
            continue
        _, payer, payee, amount, _ = event
        if payer != BANK:
            after[payer] -= amount
        if payee != BANK:
            after[payee] += amount
    return after
