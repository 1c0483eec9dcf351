"""Reads games back out of the store: as they are now, and the updates of their past."""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from opolyx_engine.command import Answer
from opolyx_engine.errors import game_not_found
from opolyx_engine.game_actor import GameActor, GameTools
from opolyx_engine.header import GameHeader
from opolyx_engine.recent_commands import RecentCommands
from opolyx_engine.record import Entry
from opolyx_engine.store.base import VOID, Record, StoredGame, StoredSnapshot
from opolyx_engine.table import LogMismatch, Table
from opolyx_rules.actions import SEAT
from opolyx_servicekit.errors import ServiceError

_log = structlog.get_logger(__name__)

_ALL: Final = 1 << 30
_YIELD_EVERY: Final = 5  # replayed records between two looks at other games


class Loader:
    """Follows stored logs; every record is put through the rules and compared."""

    def __init__(self, tools: GameTools) -> None:
        """Read from the store of `tools`."""
        self._tools = tools
        self._reading_back = asyncio.Lock()
        self._following = asyncio.Lock()

    async def load(self, stored: StoredGame) -> tuple[Table, RecentCommands]:
        """The game as it is stored, with its stored deadlines, and its latest commands.

        Starts from the newest snapshot; the game's updates are made when somebody asks for them.

        Raises:
            ServiceError: the store failed.
            Exception: the log leads to no state.
        """
        snapshot = await self._tools.store.snapshot(stored.game_id, stored.seq)
        seq = 0 if snapshot is None else snapshot.seq
        records = await self._tools.store.records(stored.game_id, seq, _ALL)
        # It is work for the processor, and many may come at once: one, then whatever else waits.
        async with self._following:
            await asyncio.sleep(0)
            return _followed(stored, _table_at(stored, snapshot), records)

    async def missed_updates(self, game: GameActor, after_seq: int) -> list[bytes]:
        """Frames of the updates after `after_seq`, of which some aren't in memory any more.

        They reach as far as memory did when the reading began, so that the game can go on meanwhile
        for as long as memory reaches back. Empty if too many must be read, or can't be made any
        more. One client at a time, as it is work.

        Raises:
            ServiceError: the store failed.
        """
        async with self._reading_back:
            last_seq = game.ring.first_seq - 1
            most = self._tools.settings.most_missed_updates
            if not 0 <= after_seq < last_seq or last_seq - after_seq > most:
                return []
            recent = game.ring.after(last_seq) or []
            try:
                frames = await self._read_back(game, after_seq, last_seq)
            except ServiceError:
                raise
            except Exception:
                _log.exception("updates_not_read_back", game_id=game.game_id)
                return []
            game.ring.add_older(last_seq, frames)
            return frames + recent

    async def _read_back(self, game: GameActor, after_seq: int, last_seq: int) -> list[bytes]:
        stored = await self._tools.store.game(game.game_id)
        if stored is None:
            raise game_not_found(game.game_id)
        snapshot = await self._tools.store.snapshot(game.game_id, after_seq)
        table = _table_at(stored, snapshot)
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


def _table_at(stored: StoredGame, snapshot: StoredSnapshot | None) -> Table:
    """The game at a snapshot, or at its start."""
    header = GameHeader.decode(stored.header)
    table, _ = Table.begin(header, stored.secret, stored.started_ms)
    return table if snapshot is None else table.at_snapshot(snapshot)


def _followed(
    stored: StoredGame, table: Table, records: Sequence[Record]
) -> tuple[Table, RecentCommands]:
    """The game after the records that follow `table`, and their commands."""
    recent = RecentCommands(complete=table.seq == 0)
    for record in records:
        step = table.replayed(Entry.decode(record))
        if step.entry.command_id:
            action = step.entry.action
            recent.keep(step.entry.command_id, action[SEAT], action, Answer(seq=record.seq))
        table = table.after(step)
    if table.seq < stored.seq:
        raise LogMismatch(f"record {table.seq + 1} of {stored.game_id} is missing")
    if stored.state == VOID:
        table = table.voided(stored.end_reason)
    return table, recent
