"""The games of this engine: running ones have an actor, ended ones are read when asked for.

A game whose stored log can't be followed any more is held: not played, but kept as it is, until a
server that can follow it starts, or an operator ends it as void.
"""

import asyncio
from collections import OrderedDict
from dataclasses import replace
from typing import Final

import structlog

from opolyx_engine.command import Answer
from opolyx_engine.errors import (
    game_conflict,
    game_fault,
    game_not_found,
    no_reservation,
    store_unavailable,
)
from opolyx_engine.facts import game_voided
from opolyx_engine.game_actor import GameActor, GameTools, Watcher
from opolyx_engine.header import GameHeader
from opolyx_engine.recent_commands import RecentCommands
from opolyx_engine.record import Entry
from opolyx_engine.store.base import (
    RESERVED,
    RUNNING,
    VOID,
    Append,
    StoreConflict,
    StoredGame,
)
from opolyx_engine.table import Table
from opolyx_rules.actions import SEAT
from opolyx_servicekit.errors import FailedPrecondition, ServiceError

_log = structlog.get_logger(__name__)

_ALL: Final = 1 << 30
_YIELD_EVERY: Final = 25  # replayed records between two looks at other games


class Registry(Watcher):
    """Finds games by id, starts their actors, lets go of them when they end."""

    def __init__(self, tools: GameTools) -> None:
        """No game yet; `tools` are handed to every actor, with this registry as a watcher."""
        self._tools = tools
        self._running: dict[str, GameActor] = {}
        self._ended: OrderedDict[str, GameActor] = OrderedDict()
        self._held: dict[str, StoredGame] = {}
        self._loading: dict[str, asyncio.Task[GameActor | ServiceError]] = {}
        self._reading_back = asyncio.Lock()

    def running(self) -> list[GameActor]:
        """All running games."""
        return list(self._running.values())

    def find_running(self, game_id: str) -> GameActor | None:
        """The running game of that id."""
        return self._running.get(game_id)

    async def take_up_all(self) -> None:
        """Take up every game that runs in the store, as after a crash.

        One that is damaged is held, and one that can't be read now is tried again later: neither
        keeps the others waiting.
        """
        unread = await self._take_up_each(await self._tools.store.running())
        if unread:
            self._tools.tasks.start(self._keep_taking_up(unread), name="take up")

    async def find(self, game_id: str) -> GameActor:
        """The game, running or ended.

        Raises:
            NotFound: there is none, or it hasn't started.
            FailedPrecondition: it is held, because its log leads to no state.
            ServiceError: the store failed.
        """
        if known := self._running.get(game_id) or self._ended.get(game_id):
            return known
        if game_id in self._held:
            raise game_fault(game_id)
        loading = self._loading.get(game_id)
        if loading is None:
            loading = self._start_loading(game_id)
        # One loads for all who ask: nobody's cancellation keeps the others from the game.
        found = await asyncio.shield(loading)
        if isinstance(found, ServiceError):
            raise found
        return found

    async def create(self, header: GameHeader, secret: bytes) -> GameActor:
        """Start a reserved game; one that was started alike before is returned as it is.

        Raises:
            FailedPrecondition: it isn't reserved, or was started with other contents.
            ServiceError: the store failed.
        """
        encoded = header.encode()
        table, entry = Table.begin(header, secret, self._tools.clock.now_ms())
        stored = await self._tools.store.create(
            header.game_id,
            header.ruleset,
            header.watchable,
            encoded,
            Append(game_id=header.game_id, expected_seq=-1, records=(entry.encode(),)),
        )
        if stored is None:
            raise no_reservation(header.game_id)
        if stored.header != encoded:
            raise game_conflict(header.game_id)
        just_started = (stored.state, stored.seq) == (RUNNING, 0)
        if not just_started or stored.started_ms != table.started_ms or self._knows(header.game_id):
            return await self.find(header.game_id)
        return self._start(GameActor(table, self._tools))

    async def end_as_void(self, game_id: str, reason: str) -> int:
        """End a game without a result, a held one too; its life afterwards.

        Raises:
            NotFound: there is none, or it hasn't started.
            ServiceError: the store failed; the game may go on.
        """
        held = self._held.get(game_id)
        if held is None:
            game = await self.find(game_id)
            return await game.end_as_void(reason)
        if held.state != RUNNING:
            return held.state
        await self._void_held(held, reason)
        self._held[game_id] = replace(held, state=VOID, end_reason=reason)
        return VOID

    async def older_updates(self, game: GameActor, after_seq: int) -> list[bytes]:
        """Frames of updates after `after_seq` that aren't in memory any more, read back.

        Empty if they are too many, or can't be made any more. One client at a time, as it is work.
        """
        async with self._reading_back:
            last_seq = game.ring.first_seq - 1
            if not 0 <= after_seq < last_seq or last_seq - after_seq > self._most_missed:
                return []
            try:
                frames = await self._read_back(game, after_seq, last_seq)
            except ServiceError:
                raise
            except Exception:
                _log.exception("updates_not_read_back", game_id=game.game_id)
                return []
            game.ring.add_older(last_seq, frames)
            return frames

    async def close(self) -> None:
        """Stop all actors; what they have answered for is stored."""
        await self._tools.tasks.close()
        self._running.clear()

    def changed(self, game: GameActor) -> None:
        """Nothing to do."""

    def ended(self, game: GameActor) -> None:
        """Keep an ended game readable for a while."""
        if self._running.get(game.game_id) is game:
            del self._running[game.game_id]
            self._tools.metrics.active_games.labels(game.table.header.ruleset).dec()
        if not game.running:
            self._keep_ended(game)

    @property
    def _most_missed(self) -> int:
        return self._tools.settings.most_missed_updates

    def _keep_ended(self, game: GameActor) -> None:
        self._ended[game.game_id] = game
        while len(self._ended) > self._tools.settings.finished_games_kept:
            self._ended.popitem(last=False)

    def _knows(self, game_id: str) -> bool:
        known = (self._running, self._ended, self._held, self._loading)
        return any(game_id in games for games in known)

    def _start(self, game: GameActor) -> GameActor:
        self._running[game.game_id] = game
        self._tools.metrics.active_games.labels(game.table.header.ruleset).inc()
        self._tools.tasks.start(game.run(), name=f"game {game.game_id}")
        return game

    # Taking up what is stored.

    async def _take_up_each(self, game_ids: list[str]) -> list[str]:
        """Those that the store couldn't give now."""
        unread = []
        for game_id in game_ids:
            try:
                await self.find(game_id)
            except FailedPrecondition:
                continue  # held, which is logged
            except ServiceError as error:
                _log.warning("game_not_taken_up", game_id=game_id, error=str(error))
                unread.append(game_id)
        return unread

    async def _keep_taking_up(self, game_ids: list[str]) -> None:
        while game_ids:
            await asyncio.sleep(self._tools.settings.store_retry_ms / 1000)
            game_ids = await self._take_up_each(game_ids)

    def _start_loading(self, game_id: str) -> "asyncio.Task[GameActor | ServiceError]":
        try:
            loading = self._tools.tasks.start(self._load(game_id), name=f"load {game_id[:64]}")
        except RuntimeError:
            raise store_unavailable(self._tools.settings.drain_retry_ms) from None
        self._loading[game_id] = loading
        return loading

    async def _load(self, game_id: str) -> GameActor | ServiceError:
        """The game as its log has it, or why there is none."""
        try:
            stored = await self._tools.store.game(game_id)
            if stored is None or stored.state == RESERVED:
                return game_not_found(game_id)
            return await self._take_up_or_hold(stored)
        except ServiceError as error:
            return error
        finally:
            del self._loading[game_id]

    async def _take_up_or_hold(self, stored: StoredGame) -> GameActor:
        """A game whose log can't be followed is held: nothing is lost if a later version can."""
        try:
            return await self._take_up(stored)
        except ServiceError:
            raise
        except Exception as error:
            _log.exception("game_held", game_id=stored.game_id)
            self._tools.metrics.faults.inc()
            self._held[stored.game_id] = stored
            raise game_fault(stored.game_id) from error

    async def _take_up(self, stored: StoredGame) -> GameActor:
        """Replay a game from its latest snapshot on; its updates are made when somebody asks."""
        table = await self._table_at(stored, stored.seq)
        recent = RecentCommands(complete=table.seq == 0)
        for record in await self._tools.store.records(stored.game_id, table.seq, _ALL):
            step = table.replayed(Entry.decode(record))
            if step.entry.command_id:
                action = step.entry.action
                recent.keep(step.entry.command_id, action[SEAT], action, Answer(seq=record.seq))
            table = table.after(step)
        if stored.state == VOID:
            table = table.voided(stored.end_reason)
        if stored.state != RUNNING:
            game = GameActor(table, self._tools, recent=recent)
            self._keep_ended(game)
            return game
        now_ms, grace_ms = self._tools.clock.now_ms(), self._tools.settings.restart_grace_ms
        graced = table.with_grace(now_ms, grace_ms)
        moved = graced.clocks != table.clocks
        return self._start(GameActor(graced, self._tools, recent=recent, deadlines_moved=moved))

    async def _table_at(self, stored: StoredGame, seq: int) -> Table:
        """The game at its latest snapshot up to `seq`, or at its start."""
        header = GameHeader.decode(stored.header)
        table, _ = Table.begin(header, stored.secret, stored.started_ms)
        snapshot = await self._tools.store.snapshot(stored.game_id, seq)
        return table if snapshot is None else table.at_snapshot(snapshot)

    async def _read_back(self, game: GameActor, after_seq: int, last_seq: int) -> list[bytes]:
        stored = await self._tools.store.game(game.game_id)
        if stored is None:
            raise game_not_found(game.game_id)
        table = await self._table_at(stored, after_seq)
        missing = last_seq - table.seq
        frames = []
        for record in await self._tools.store.records(game.game_id, table.seq, missing):
            step = table.replayed(Entry.decode(record))
            if step.entry.seq > after_seq:
                frames.append(self._tools.frames.update(table, step))
            table = table.after(step)
            if step.entry.seq % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        return frames

    async def _void_held(self, stored: StoredGame, reason: str) -> None:
        """End a held game; all its players are told to be free, as nobody knows who was out."""
        now_ms = self._tools.clock.now_ms()
        append = Append(
            game_id=stored.game_id,
            expected_seq=stored.seq,
            facts=(game_voided(reason, _players_of(stored), now_ms),),
            ends_as=VOID,
            end_reason=reason,
            at_ms=now_ms,
        )
        try:
            await self._tools.store.append(append)
        except StoreConflict:
            del self._held[stored.game_id]  # somebody else got further with it
            raise store_unavailable(self._tools.settings.store_retry_ms) from None


def _players_of(stored: StoredGame) -> list[str]:
    try:
        holders = GameHeader.decode(stored.header).holders
    except (ValueError, KeyError, TypeError):
        return []
    return [holder.player_id for holder in holders if holder.player_id]
