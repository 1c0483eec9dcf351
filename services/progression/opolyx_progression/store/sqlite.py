"""The store on SQLite: one file, alone or shared with other services of a process."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Self, TypeVar

from opolyx_progression.awards import CURRENT, AwardTable
from opolyx_progression.cards import Card
from opolyx_progression.deliveries import Delivery, Outcome
from opolyx_progression.leaderboards import BoardPage
from opolyx_progression.store import oversight, records
from opolyx_progression.store.base import (
    DeadLetter,
    EntitlementChange,
    Grant,
    LedgerEntry,
    Profile,
    Store,
    StoredRating,
    StoredResult,
    StoredScore,
    StoredStanding,
)
from opolyx_progression.store.ledger import apply_all
from opolyx_progression.store.schema import COMPONENT, STEPS
from opolyx_progression.store.scores import miscounted, read_around, read_top
from opolyx_servicekit.sqlite_file import SqliteFile

_PAGE: Final = 1_000

_Key = TypeVar("_Key")
_Row = TypeVar("_Row")


class SqliteStore(Store):
    """See `Store`; several may share one file, also from several processes."""

    def __init__(self, file: SqliteFile, table: AwardTable) -> None:
        """Use `open`, which brings the tables up to date first."""
        self._file = file
        self._table = table

    @classmethod
    async def open(cls, file: SqliteFile, *, table: AwardTable = CURRENT) -> Self:
        """A store on an open file, which stays its owner's to close.

        Args:
            file: where everything is.
            table: the award table that games are settled by from now on.
        """
        await file.migrate(COMPONENT, STEPS)
        return cls(file, table)

    async def apply(self, deliveries: Sequence[Delivery], *, now_ms: int) -> list[Outcome]:
        """Apply facts in one transaction."""
        batch = list(deliveries)
        return await self._file.write(
            lambda connection: apply_all(connection, batch, now_ms, self._table)
        )

    async def cursor(self) -> int:
        """The greatest fact number applied."""
        return await self._number("SELECT fact_number FROM progression_cursor")

    async def dead_letters(self, *, after: int, limit: int) -> list[DeadLetter]:
        """Facts that couldn't be processed, ascending."""
        return await self._file.read(
            lambda connection: oversight.dead_letters(connection, after, limit)
        )

    async def dead_letter(self, number: int) -> DeadLetter | None:
        """The fact of that number, if it couldn't be processed."""
        return await self._file.read(lambda connection: oversight.dead_letter(connection, number))

    async def dead_letter_count(self) -> int:
        """How many facts couldn't be processed."""
        return await self._number("SELECT count(*) FROM progression_dead_letters")

    async def profile(self, player_id: str) -> Profile:
        """What a player has earned."""
        return await self._file.read(lambda connection: records.profile(connection, player_id))

    async def awards(
        self, player_id: str, *, game_id: str, before: int, limit: int
    ) -> list[LedgerEntry]:
        """Awards, newest first."""
        return await self._file.read(
            lambda connection: records.awards(connection, player_id, game_id, before, limit)
        )

    async def cards(self, player_id: str) -> list[Card]:
        """A player's cards, oldest first."""
        return await self._file.read(lambda connection: records.cards(connection, player_id))

    async def grants(self, player_ids: Sequence[str]) -> list[Grant]:
        """What players bring to a table."""
        ids = list(player_ids)
        return await self._file.read(
            lambda connection: [records.grant(connection, player_id) for player_id in ids]
        )

    async def set_vip(
        self, player_id: str, *, vip: bool, reason: str, operator: str, now_ms: int
    ) -> None:
        """Set whether a player is a VIP."""
        await self._file.write(
            lambda connection: oversight.put_vip(
                connection, player_id, vip, reason, operator, now_ms
            )
        )

    async def entitlement_changes(
        self, player_id: str, *, before: int, limit: int
    ) -> list[EntitlementChange]:
        """Who set entitlements, newest first."""
        return await self._file.read(
            lambda connection: oversight.entitlement_changes(connection, player_id, before, limit)
        )

    async def strayed_entitlements(self) -> list[tuple[str, bool | None, bool | None]]:
        """Players whose entitlement isn't what was last said."""
        return await self._file.read(oversight.strayed_entitlements)

    async def top(self, board: str, limit: int) -> BoardPage:
        """The first rows of a leaderboard."""
        return await self._file.read(lambda connection: read_top(connection, board, limit))

    async def around(self, board: str, player_id: str, limit: int) -> BoardPage | None:
        """A player's row amid its neighbours."""
        return await self._file.read(
            lambda connection: read_around(connection, board, player_id, limit)
        )

    async def last_sequence(self) -> int:
        """Number of the game settled last."""
        return await self._number("SELECT coalesce(max(sequence), 0) FROM progression_results")

    async def results(self, *, after: int, limit: int) -> list[StoredResult]:
        """Settled results, ascending."""
        return await self._file.read(lambda connection: records.results(connection, after, limit))

    async def ledger(self, *, after: int, until: int) -> list[LedgerEntry]:
        """Awards by sequence and seat."""
        return await self._file.read(lambda connection: records.ledger(connection, after, until))

    async def standings(self) -> AsyncIterator[list[StoredStanding]]:
        """Totals by player id."""
        after = ""
        while page := await self._page(records.standings, after):
            yield page
            after = page[-1].player_id

    async def ratings(self) -> AsyncIterator[list[StoredRating]]:
        """Ratings by player id and mode."""
        after = ("", "")
        while page := await self._page(records.ratings, after):
            yield page
            after = (page[-1].player_id, page[-1].mode)

    async def scores(self) -> AsyncIterator[list[StoredScore]]:
        """Scores by board and player id."""
        after = ("", "")
        while page := await self._page(records.scores, after):
            yield page
            after = (page[-1].score.board, page[-1].player_id)

    async def miscounted_boards(self) -> list[str]:
        """Leaderboards whose counts of players don't agree with their scores."""
        return await self._file.read(miscounted)

    async def _page(
        self, read: Callable[[sqlite3.Connection, _Key, int], list[_Row]], after: _Key
    ) -> list[_Row]:
        """The next page behind a key; each page is a snapshot of its own."""
        return await self._file.read(lambda connection: read(connection, after, _PAGE))

    async def _number(self, query: str) -> int:
        return await self._file.read(
            lambda connection: int(connection.execute(query).fetchone()[0])
        )
