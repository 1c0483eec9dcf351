"""What a store promises; every adapter passes the same tests.

Each method is one atomic step: all of it is stored when it returns, or nothing of it ever is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from opolyx_matchmaker.accounts import Account, Revocation
from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.peers import Fact
from opolyx_matchmaker.room import Room
from opolyx_matchmaker.room_refusal import RoomRefusal
from opolyx_servicekit.errors import Unavailable

Transition: TypeAlias = Callable[[Room], Room | RoomRefusal]
"""A pure change of a room, such as those of `rooms`."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A player is at a table: the one unfinished game a player may be in (TABLE-6)."""

    player_id: str
    """Who."""

    room_id: str
    """The room."""

    game_id: str
    """The game that the room has reserved or become."""

    seat: int
    """The seat."""


@dataclass(frozen=True, slots=True)
class FactsApplied:
    """What a batch of facts did."""

    cursor: int
    """Number of the last fact that was taken."""

    released: tuple[Placement, ...] = ()
    """Who was set free by it."""


class LeaseLost(Unavailable):
    """Nothing was written: another process holds the lease, and this one serves nobody."""

    def __init__(self) -> None:
        """Say so; the caller finds the other one when it asks again."""
        super().__init__("STANDBY", "another matchmaker serves")


class Store(Protocol):
    """Accounts, rooms, and who sits where.

    Every method that writes raises `LeaseLost` in a process that doesn't hold the lease.
    """

    async def hold_lease(self) -> bool:
        """Keep the right to write, or take it if it is free; whether this process has it now.

        Who has it asks again and again to keep it. A store that has one process only always gives it.
        """
        ...

    async def release_lease(self) -> None:
        """Let the next one have it at once, if this process has it."""
        ...

    def tell_fenced(self, observe: Callable[[], object]) -> None:
        """Tell of each write that was refused, as another process holds the lease."""
        ...

    async def add_account(self, account: Account, now_ms: int) -> None:
        """Keep a new account."""
        ...

    async def find_account(self, player_id: str) -> Account | None:
        """The account, if there is one."""
        ...

    async def take_bot(self, account: Account, now_ms: int, most: int) -> Account | None:
        """The owner's bot of this name, made if absent; None if the owner has `most` already."""
        ...

    async def add_token(self, token_id: str, player_id: str, expires_ms: int) -> None:
        """Remember whose token it is, so that it can be revoked by its id."""
        ...

    async def token_holder(self, token_id: str) -> tuple[Account, int] | None:
        """Whose token it is and when it expires, Unix milliseconds."""
        ...

    async def add_revocation(self, revocation: Revocation) -> Revocation:
        """Keep a revocation; returns it with its number. One of an account replaces its last."""
        ...

    async def revocations(self, after: int, now_ms: int, limit: int) -> list[Revocation]:
        """The first revocations with a higher number that still matter, in order."""
        ...

    async def create_room(self, room: Room, request: str) -> Room | RoomRefusal:
        """Keep a new room and place whoever is on its seats.

        A code that another room has is replaced by a new one.
        The same request again gets the room that it made, as it is now. Refused with
        ALREADY_PLAYING if somebody on its seats is placed elsewhere.
        """
        ...

    async def find_request(self, request: str) -> Room | None:
        """The room that a request made."""
        ...

    async def get_room(self, room_id: str) -> Room | None:
        """The room."""
        ...

    async def find_room(self, *, code: str = "", game_id: str = "") -> Room | None:
        """The open room of a code, or the room of a game."""
        ...

    async def list_rooms(
        self, ruleset: str, after: tuple[int, str], limit: int, now_ms: int
    ) -> list[Room]:
        """Public open rooms with an open seat, oldest first, after (creation time, id)."""
        ...

    async def change_room(
        self, room_id: str, change: Transition, *, capacity: int = 1
    ) -> Room | RoomRefusal:
        """Apply a transition, and place or free whoever came or went, in one step.

        Args:
            room_id: the room; ROOM_NOT_FOUND if there is none.
            change: applied to the room as it is then; may be called again.
            capacity: in how many games a bot that comes may be at once; people may in one.

        Returns:
            The room after it; or why not: the transition's refusal, ALREADY_PLAYING for a person
            who is placed elsewhere, BOT_UNAVAILABLE for a bot at its capacity.
        """
        ...

    async def keep_grants(self, room_id: str, grants: Sequence[SeatGrant]) -> list[SeatGrant]:
        """Fix what the seats bring to the game; returns what was fixed first."""
        ...

    async def placements(self, player_id: str) -> list[Placement]:
        """Where the player is; at most one for a person."""
        ...

    async def rooms_to_expire(self, now_ms: int, limit: int) -> list[str]:
        """Open rooms whose time is up."""
        ...

    async def rooms_starting(self, limit: int) -> list[str]:
        """Rooms whose start began and did not end."""
        ...

    async def rooms_to_check(self, before_ms: int, now_ms: int, limit: int) -> list[Room]:
        """Started rooms last checked before `before_ms`, oldest first; marked as checked now."""
        ...

    async def cursor(self) -> int:
        """Number of the last fact that was taken."""
        ...

    async def apply_facts(self, facts: Sequence[Fact]) -> FactsApplied:
        """Free whom the facts free and remember the last number, in one step.

        Facts that were taken before change nothing.
        """
        ...

    async def forget_accounts(self, after: str, before_ms: int, limit: int) -> tuple[str, int]:
        """Look at the next accounts and remove those that nobody can use or meet any more.

        Such an account was made before `before_ms`, has no token that is good, no place, and is a
        person's without bots or a bot without an owner. Without a token nobody can come back to it.

        Args:
            after: look at those with greater ids, in order.
            before_ms: younger ones stay, Unix milliseconds.
            limit: how many to look at.

        Returns:
            The id to go on after, empty once all were looked at; and how many were removed.
        """
        ...

    async def forget(self, before_ms: int, now_ms: int) -> int:
        """Remove rooms that ended before `before_ms`, and tokens and revocations that expired."""
        ...
