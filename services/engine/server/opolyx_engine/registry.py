"""The games of this engine: running ones have an actor, ended ones are read when asked for."""

import asyncio
from collections import OrderedDict
from typing import Final

import structlog

from opolyx_engine.command import Answer
from opolyx_engine.errors import game_conflict, game_not_found, no_reservation
from opolyx_engine.game_actor import GameActor, GameTools, Watcher
from opolyx_engine.header import GameHeader
from opolyx_engine.recent_commands import RecentCommands
from opolyx_engine.record import Entry
from opolyx_engine.store.base import RESERVED, RUNNING, VOID, Append, StoredGame
from opolyx_engine.table import Table

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
        self._loading: dict[str, asyncio.Lock] = {}

    def running(self) -> list[GameActor]:
        """All running games."""
        return list(self._running.values())

    def find_running(self, game_id: str) -> GameActor | None:
        """The running game of that id."""
        return self._running.get(game_id)

    async def take_up_all(self) -> None:
        """Take up every game that runs in the store, as after a crash."""
        for game_id in await self._tools.store.running():
            try:
                await self.find(game_id)
            except Exception:
                _log.exception("game_not_taken_up", game_id=game_id)

    async def find(self, game_id: str) -> GameActor:
        """The game, running or ended.

        Raises:
            NotFound: there is none, or it hasn't started.
            ServiceError: the store failed.
        """
        if known := self._running.get(game_id) or self._ended.get(game_id):
            return known
        lock = self._loading.setdefault(game_id, asyncio.Lock())
        try:
            async with lock:
                if known := self._running.get(game_id) or self._ended.get(game_id):
                    return known
                stored = await self._tools.store.game(game_id)
                if stored is None or stored.state == RESERVED:
                    raise game_not_found(game_id)
                return await self._take_up(stored)
        finally:
            self._loading.pop(game_id, None)

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
        if header.game_id in self._running or stored.started_ms != table.started_ms:
            return await self.find(header.game_id)
        return self._start(GameActor(table, self._tools))

    async def older_updates(self, game: GameActor, after_seq: int) -> list[bytes]:
        """Frames of updates after `after_seq` that aren't in memory any more, read back.

        Empty if they are too many.
        """
        last_seq = game.ring.first_seq - 1
        if not 0 <= after_seq < last_seq or last_seq - after_seq > self._most_missed:
            return []
        stored = await self._stored(game.game_id)
        table = await self._table_at(stored, after_seq)
        frames = []
        for record in await self._tools.store.records(
            game.game_id, table.seq, last_seq - table.seq
        ):
            step = table.replayed(Entry.decode(record))
            if step.entry.seq > after_seq:
                frames.append(self._tools.frames.update(table, step))
            table = table.after(step)
            if step.entry.seq % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
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
        if self._running.pop(game.game_id, None) is not None:
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

    def _start(self, game: GameActor) -> GameActor:
        self._running[game.game_id] = game
        self._tools.metrics.active_games.labels(game.table.header.ruleset).inc()
        self._tools.tasks.start(game.run(), name=f"game {game.game_id}")
        return game

    async def _stored(self, game_id: str) -> StoredGame:
        stored = await self._tools.store.game(game_id)
        if stored is None:
            raise game_not_found(game_id)
        return stored

    async def _table_at(self, stored: StoredGame, seq: int) -> Table:
        """The game at its latest snapshot up to `seq`, or at its start."""
        header = GameHeader.decode(stored.header)
        table, _ = Table.begin(header, stored.secret, stored.started_ms)
        snapshot = await self._tools.store.snapshot(stored.game_id, seq)
        return table if snapshot is None else table.at_snapshot(snapshot)

    async def _take_up(self, stored: StoredGame) -> GameActor:
        """Replay a game from its latest snapshot on; its updates are made when somebody asks."""
        table = await self._table_at(stored, stored.seq)
        recent = RecentCommands(complete=table.seq == 0)
        for record in await self._tools.store.records(stored.game_id, table.seq, _ALL):
            step = table.replayed(Entry.decode(record))
            if step.entry.command_id:
                action = step.entry.action
                recent.keep(step.entry.command_id, action[1], action, Answer(seq=record.seq))
            table = table.after(step)
        if stored.state == VOID:
            table = table.voided(stored.end_reason)
        if stored.state != RUNNING:
            game = GameActor(table, self._tools, recent=recent)
            self._keep_ended(game)
            return game
        table = table.with_grace(self._tools.clock.now_ms(), self._tools.settings.restart_grace_ms)
        return self._start(GameActor(table, self._tools, recent=recent))
