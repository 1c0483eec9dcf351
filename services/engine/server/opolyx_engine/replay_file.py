"""The replay file of a game, page by page from the stored records."""

import re
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Final

from opolyx_engine.errors import game_fault, game_not_found, invalid_field
from opolyx_engine.header import GameHeader
from opolyx_engine.record import Entry, replay_line
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import FINISHED, GameStore, Record, StoredGame
from opolyx_engine.table import Table, replay_header
from opolyx_rules import replay
from opolyx_rules.chance import commitment_of
from opolyx_rules.engine import result

_BATCH: Final = 500
_MOST_REMEMBERED: Final = 1_000
_TOKEN: Final = re.compile(r"(\d{1,9})-(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a replay file."""

    chunk: bytes
    """Whole lines."""

    next_token: str
    """Where to go on; empty at the end."""

    complete: bool
    """Whether the file is that of a finished game, with its secret."""


class ReplayPages:
    """Makes pages.

    A token holds the next record and the file's last, which stays the same while the game goes on.
    """

    def __init__(self, store: GameStore, settings: EngineSettings) -> None:
        """Read from `store`."""
        self._store = store
        self._seen: OrderedDict[str, tuple[int, int]] = OrderedDict()
        self._size = settings.replay_chunk_bytes

    async def page(self, game_id: str, token: str) -> Page:
        """The page at `token`; the first if it is empty.

        Raises:
            NotFound: there is no such game.
            InvalidArgument: the token is not one of this game's.
            FailedPrecondition: records are missing.
        """
        stored = await self._store.game(game_id)
        if stored is None or not stored.header:
            raise game_not_found(game_id)
        next_seq, last_seq = _decode_token(token, stored.seq)
        lines: list[bytes] = []
        if next_seq == 0:
            lines.append(_header_line(stored))
        size = sum(map(len, lines))
        digest = ""
        while next_seq <= last_seq and size < self._size:
            limit = min(_BATCH, last_seq - next_seq + 1)
            records = await self._store.records(game_id, next_seq - 1, limit)
            if not records:
                raise game_fault(game_id)
            for record in records:
                if size >= self._size:
                    break
                line = replay_line(record)
                if record.seq == 0 and stored.state != FINISHED:
                    line = await self._known_start(stored, record, last_seq)
                lines.append(line)
                size += len(line)
                next_seq = record.seq + 1
                digest = Entry.decode(record).line.log_digest if record.seq == last_seq else ""
        complete = stored.state == FINISHED and last_seq == stored.seq
        if next_seq <= last_seq:
            return Page(b"".join(lines), f"{next_seq}-{last_seq}", complete)
        lines.append(await self._footer(stored, last_seq, digest, complete))
        return Page(b"".join(lines), "", complete)

    async def _known_start(self, stored: StoredGame, record: Record, last_seq: int) -> bytes:
        """The line of record 0 while the rest of the deck is nobody's to know."""
        header = GameHeader.decode(stored.header)
        fixed = replay_header(header, commitment_of(stored.secret), stored.started_ms)
        line = Entry.decode(record).line
        seen = await self._cards_seen(stored, last_seq)
        return replay.record_line(replace(line, draws=replay.known_start(fixed, line.draws, seen)))

    async def _cards_seen(self, stored: StoredGame, last_seq: int) -> int:
        """How many cards of the deck were turned up by the record `last_seq`.

        Only the log knows, as the deck is used round and round; it is followed until all were seen,
        which takes some hundred records at most, and what was found is remembered.
        """
        header = GameHeader.decode(stored.header)
        table, _ = Table.begin(header, stored.secret, stored.started_ms)
        cards = len(table.state.deck)
        known_seq, seen = self._seen.get(stored.game_id, (-1, 0))
        if known_seq == last_seq or (seen == cards and known_seq <= last_seq):
            return seen
        seen = 0
        while table.seq < last_seq and seen < cards:
            limit = min(_BATCH, last_seq - table.seq)
            records = await self._store.records(stored.game_id, table.seq, limit)
            if not records:
                raise game_fault(stored.game_id)
            for record in records:
                before = table.state.deck_at
                table = table.after(table.replayed(Entry.decode(record)))
                seen = min(cards, seen + (table.state.deck_at - before) % cards)
        self._seen[stored.game_id] = table.seq, seen
        self._seen.move_to_end(stored.game_id)
        if len(self._seen) > _MOST_REMEMBERED:
            self._seen.popitem(last=False)
        return seen

    async def _footer(
        self, stored: StoredGame, last_seq: int, digest: str, complete: bool
    ) -> bytes:
        if not complete:
            return replay.footer_line(last_seq + 1, digest)
        table = await self._end_of(stored)
        outcome = result(table.state)
        return replay.footer_line(last_seq + 1, digest, secret=stored.secret, outcome=outcome)

    async def _end_of(self, stored: StoredGame) -> Table:
        """The finished game's last table."""
        header = GameHeader.decode(stored.header)
        table, _ = Table.begin(header, stored.secret, stored.started_ms)
        snapshot = await self._store.snapshot(stored.game_id, stored.seq)
        if snapshot is not None:
            table = table.at_snapshot(snapshot)
        for record in await self._store.records(stored.game_id, table.seq, 1 << 30):
            table = table.after(table.replayed(Entry.decode(record)))
        return table


def _header_line(stored: StoredGame) -> bytes:
    header = GameHeader.decode(stored.header)
    commitment = commitment_of(stored.secret)
    return replay.header_line(replay_header(header, commitment, stored.started_ms))


def _decode_token(token: str, last_seq: int) -> tuple[int, int]:
    if not token:
        return 0, last_seq
    found = _TOKEN.fullmatch(token)
    if found is None or not int(found[1]) <= int(found[2]) <= last_seq:
        raise invalid_field("page_token", "is not one of this game")
    return int(found[1]), int(found[2])
