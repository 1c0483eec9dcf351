"""One game's log as its actor writes it: what is stored, what isn't, and what is uncertain."""

from typing import Final

import structlog

from opolyx_engine.facts import game_voided
from opolyx_engine.header import GameHeader
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.store.base import (
    VOID,
    Append,
    Fenced,
    GameStore,
    StoreConflict,
    StoredGame,
)
from opolyx_engine.table import Step, Table
from opolyx_servicekit.errors import ServiceError, StoreBusy, Unavailable
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

_ALL: Final = 1 << 30


class LogMoved(Exception):
    """Somebody else wrote to the game's log: this actor's table isn't the game any more."""


def failure_kind(error: ServiceError) -> str:
    """What is known of an append that failed, in a word."""
    if isinstance(error, StoreBusy):
        return "busy"
    return "unavailable" if isinstance(error, Unavailable) else "other"


class GameLog:
    """Appends to a game's log, each step at the place the table has it."""

    def __init__(
        self,
        store: GameStore,
        clock: Clock,
        metrics: EngineMetrics,
        snapshot_every: int,
        epoch: int = 0,
    ) -> None:
        """Write to `store` as the owner with `epoch`, with a snapshot every so many updates."""
        self._store = store
        self._clock = clock
        self._metrics = metrics
        self._snapshot_every = snapshot_every
        self._epoch = epoch
        self._unsure: Step | None = None

    @property
    def settled(self) -> bool:
        """Whether it is known what is stored."""
        return self._unsure is None

    async def append(self, table: Table, step: Step) -> None:
        """Store `step`, the next one of `table`.

        Raises:
            StoreConflict: the log is elsewhere, or has the step's command already.
            StoreBusy: it isn't stored.
            ServiceError: whether it is stored is unknown until `settle`.
        """
        due = step.entry.seq % self._snapshot_every == 0 and not step.state.over
        started = self._clock.monotonic()
        try:
            await self._append(table.append_of(step, with_snapshot=due, epoch=self._epoch))
        except (StoreBusy, StoreConflict):
            raise
        except BaseException:
            self._unsure = step
            raise
        self._metrics.append_seconds.observe(self._clock.monotonic() - started)

    async def reach(self, table: Table) -> None:
        """Return if the store can be read.

        Raises:
            ServiceError: it can't.
        """
        await self._store.records(table.header.game_id, table.seq, 1)

    async def settle(self, table: Table) -> Step | None:
        """The step whose append had an unknown outcome, if it turns out to be stored.

        Raises:
            ServiceError: the store failed; it is still unknown.
        """
        step = self._unsure
        if step is None:
            return None
        stored = await self._store.records(table.header.game_id, table.seq, 1)
        self._unsure = None
        return step if stored and stored[0] == step.entry.encode() else None

    async def end_as_void(self, table: Table, reason: str) -> Table:
        """Store that the game has no result, and tell who was still in it; the table after it.

        Raises:
            LogMoved: the log is elsewhere.
            ServiceError: the store failed; may be called again.
        """
        game_id, now_ms = table.header.game_id, self._clock.now_ms()
        append = Append(
            game_id=game_id,
            expected_seq=table.seq,
            facts=(game_voided(reason, table.players_in(), now_ms),),
            ends_as=VOID,
            end_reason=reason,
            at_ms=now_ms,
            epoch=self._epoch,
        )
        try:
            await self._append(append)
        except StoreConflict as error:
            stored = await self._store.game(game_id)
            if stored is None or (stored.state, stored.seq) != (VOID, table.seq):
                raise LogMoved(f"the log of {game_id} is not at {table.seq}") from error
            reason = stored.end_reason
        return table.voided(reason)

    async def _append(self, append: Append) -> None:
        try:
            await self._store.append(append)
        except Fenced:
            self._metrics.append_fenced.inc()
            raise

    async def dump(self, game_id: str) -> None:
        """The whole log to the structured log, so that a fault can be replayed."""
        try:
            records = await self._store.records(game_id, -1, _ALL)
            log = [each.body.decode() for each in records]
        except Exception as error:  # the game must end all the same
            _log.warning("game_fault_log_unread", game_id=game_id, error=str(error))
        else:
            _log.error("game_fault_log", game_id=game_id, log=log)


async def void_unread(store: GameStore, stored: StoredGame, reason: str, now_ms: int) -> None:
    """End a game as void whose log can't be followed.

    It is ended as it is stored, so it must be owned already. All its players are told to be free, as nobody knows who was out.

    Raises:
        StoreConflict: somebody else got further with it.
        ServiceError: the store failed; may be called again.
    """
    await store.append(
        Append(
            game_id=stored.game_id,
            expected_seq=stored.seq,
            facts=(game_voided(reason, _players_of(stored), now_ms),),
            ends_as=VOID,
            end_reason=reason,
            at_ms=now_ms,
            epoch=stored.epoch,
        )
    )


def _players_of(stored: StoredGame) -> list[str]:
    try:
        holders = GameHeader.decode(stored.header).holders
    except (ValueError, KeyError, TypeError):
        return []
    return [holder.player_id for holder in holders if holder.player_id]
