"""The store in a SQLite file: `SqliteFile` runs each step in a transaction of its own."""

import sqlite3
from collections.abc import Callable, Sequence

from opolyx_matchmaker.accounts import Account, Revocation
from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.peers import Fact
from opolyx_matchmaker.room import Room
from opolyx_matchmaker.room_refusal import RoomRefusal
from opolyx_matchmaker.store import room_tables, schema, token_tables
from opolyx_matchmaker.store.base import FactsApplied, Placement, Transition
from opolyx_servicekit.sqlite_file import SqliteFile


class SqliteStore:
    """A `Store`; the file may be shared with other services."""

    def __init__(self, file: SqliteFile) -> None:
        """Use `open` instead."""
        self._file = file

    @classmethod
    async def open(cls, file: SqliteFile) -> "SqliteStore":
        """Bring the tables up to date and return the store; who opened the file closes it."""
        await file.migrate(schema.COMPONENT, schema.STEPS)
        return cls(file)

    # Who may write: whoever has the file.

    async def hold_lease(self) -> bool:
        """Always."""
        return True

    async def release_lease(self) -> None:
        """Nobody waits for it."""

    def tell_fenced(self, observe: Callable[[], object]) -> None:
        """No write is ever refused."""

    # Accounts and tokens.

    async def add_account(self, account: Account, now_ms: int) -> None:
        """Keep a new account."""
        await self._file.write(lambda db: token_tables.insert_account(db, account, now_ms))

    async def find_account(self, player_id: str) -> Account | None:
        """The account, if there is one."""
        return await self._file.read(lambda db: token_tables.account(db, player_id))

    async def take_bot(self, account: Account, now_ms: int, most: int) -> Account | None:
        """The owner's bot of this name, made if absent; None at the limit."""
        return await self._file.write(lambda db: token_tables.take_bot(db, account, now_ms, most))

    async def add_token(self, token_id: str, player_id: str, expires_ms: int) -> None:
        """Remember whose token it is."""
        await self._file.write(
            lambda db: token_tables.insert_token(db, token_id, player_id, expires_ms)
        )

    async def token_holder(self, token_id: str) -> tuple[Account, int] | None:
        """Whose token it is and when it expires."""
        return await self._file.read(lambda db: token_tables.token_holder(db, token_id))

    async def add_revocation(self, revocation: Revocation) -> Revocation:
        """Keep a revocation; returns it with its number."""
        return await self._file.write(lambda db: token_tables.insert_revocation(db, revocation))

    async def revocations(self, after: int, now_ms: int, limit: int) -> list[Revocation]:
        """The first revocations with a higher number that still matter."""
        return await self._file.read(lambda db: token_tables.revocations(db, after, now_ms, limit))

    # Rooms and placements.

    async def create_room(self, room: Room, request: str) -> Room | RoomRefusal:
        """Keep a new room and place whoever is on its seats; idempotent by request."""
        return await self._file.write(lambda db: room_tables.create(db, room, request))

    async def find_request(self, request: str) -> Room | None:
        """The room that a request made."""
        return await self._file.read(lambda db: room_tables.by_request(db, request))

    async def get_room(self, room_id: str) -> Room | None:
        """The room."""
        return await self._file.read(lambda db: room_tables.by_id(db, room_id))

    async def find_room(self, *, code: str = "", game_id: str = "") -> Room | None:
        """The open room of a code, or the room of a game."""
        return await self._file.read(
            lambda db: room_tables.by_code(db, code) if code else room_tables.by_game(db, game_id)
        )

    async def list_rooms(
        self, ruleset: str, after: tuple[int, str], limit: int, now_ms: int
    ) -> list[Room]:
        """Public open rooms with an open seat, oldest first."""
        return await self._file.read(
            lambda db: room_tables.listed(db, ruleset, after, limit, now_ms)
        )

    async def change_room(
        self, room_id: str, change: Transition, *, capacity: int = 1
    ) -> Room | RoomRefusal:
        """Apply a transition, and place or free whoever came or went."""
        return await self._file.write(lambda db: room_tables.change(db, room_id, change, capacity))

    async def keep_grants(self, room_id: str, grants: Sequence[SeatGrant]) -> list[SeatGrant]:
        """Fix what the seats bring to the game; the first to fix it wins."""
        return await self._file.write(lambda db: room_tables.keep_grants(db, room_id, grants))

    async def placements(self, player_id: str) -> list[Placement]:
        """Where the player is."""
        return await self._file.read(lambda db: room_tables.placements(db, player_id))

    async def rooms_to_expire(self, now_ms: int, limit: int) -> list[str]:
        """Open rooms whose time is up."""
        return await self._file.read(lambda db: room_tables.to_expire(db, now_ms, limit))

    async def rooms_starting(self, limit: int) -> list[str]:
        """Rooms whose start began and did not end."""
        return await self._file.read(lambda db: room_tables.starting(db, limit))

    async def rooms_to_check(self, before_ms: int, now_ms: int, limit: int) -> list[Room]:
        """Started rooms last checked before `before_ms`; marked as checked now."""
        return await self._file.write(lambda db: room_tables.to_check(db, before_ms, now_ms, limit))

    # Facts.

    async def cursor(self) -> int:
        """Number of the last fact that was taken."""
        return await self._file.read(room_tables.cursor)

    async def apply_facts(self, facts: Sequence[Fact]) -> FactsApplied:
        """Free whom the facts free and remember the last number."""
        return await self._file.write(lambda db: room_tables.apply_facts(db, facts))

    async def forget_accounts(self, after: str, before_ms: int, limit: int) -> tuple[str, int]:
        """Remove accounts that nobody can use or meet any more, among the next."""
        return await self._file.write(
            lambda db: token_tables.remove_accounts(db, after, before_ms, limit)
        )

    async def forget(self, before_ms: int, now_ms: int) -> int:
        """Remove what ended long ago."""

        def remove(db: sqlite3.Connection) -> int:
            token_tables.remove_expired(db, now_ms)
            return room_tables.remove_ended(db, before_ms)

        return await self._file.write(remove)
