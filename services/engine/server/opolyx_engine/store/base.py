"""What a store of games must do: few operations, each of them one atomic step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from opolyx_engine.store.owners import NOBODY, OwnerStore

RESERVED: Final = 0
RUNNING: Final = 1
FINISHED: Final = 2
VOID: Final = 3


class StoreConflict(Exception):
    """The log isn't where the writer thinks it is, or holds the command already.

    Nothing was written. The writer must load the game again.
    """


class Fenced(StoreConflict):
    """The game has another epoch: the writer isn't its owner any more."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """A game that doesn't exist yet, and the secret it is committed to."""

    request_id: str
    """Made by the caller; one reservation a request."""

    game_id: str
    """The game's id."""

    secret: bytes
    """32 bytes; leaves the engine only in a finished game's replay."""

    at_ms: int
    """When, Unix milliseconds."""


@dataclass(frozen=True, slots=True)
class StoredGame:
    """What is known of a game beside its log."""

    game_id: str
    """The game's id."""

    state: int
    """RESERVED, RUNNING, FINISHED or VOID. Stored: never renumber."""

    ruleset: str
    """The ruleset, `mode@edition`; empty while reserved."""

    watchable: bool
    """Whether spectators may watch."""

    secret: bytes
    """The secret of its dice."""

    header: bytes
    """The game's header, see `header.py`; empty while reserved."""

    started_ms: int
    """When it started, Unix milliseconds; 0 while reserved."""

    seq: int
    """Number of the last record; -1 without one."""

    end_reason: str = ""
    """Why it is void; else empty."""

    owner: str = NOBODY
    """The replica that runs it, or ran it last."""

    epoch: int = 0
    """Rises with each change of owner."""


@dataclass(frozen=True, slots=True)
class Record:
    """One accepted input of a game, as stored."""

    seq: int
    """Its number, from 0 (the start), rising by one."""

    at_ms: int
    """When it took effect, Unix milliseconds."""

    command_id: str
    """The command's key, unique in the game (`record.command_key`); empty if no command caused it."""

    body: bytes
    """The rest, see `record.py`."""


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """A whole state of a game."""

    seq: int
    """The last record contained."""

    body: bytes
    """The state, see `table.py`."""


@dataclass(frozen=True, slots=True)
class NewFact:
    """Something the other services must learn, before it has a number."""

    kind: str
    """Name of the fact's kind, see `facts.py`."""

    at_ms: int
    """When, Unix milliseconds."""

    body: bytes
    """The fact, see `facts.py`."""


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact with its number."""

    number: int
    """From 1, rising by one over all games."""

    game_id: str
    """The game."""

    fact: NewFact
    """What it is."""


@dataclass(frozen=True, slots=True)
class Append:
    """What one step adds to a game's log; all of it or nothing."""

    game_id: str
    """The game."""

    expected_seq: int
    """Number of the last record before; the append fails if it isn't."""

    records: Sequence[Record] = ()
    """In order, the first being `expected_seq + 1`."""

    facts: Sequence[NewFact] = ()
    """What becomes known with them."""

    snapshot: StoredSnapshot | None = None
    """The state after them, from time to time."""

    ends_as: int = RUNNING
    """FINISHED or VOID if the game ends with them."""

    end_reason: str = ""
    """Why it is void."""

    at_ms: int = 0
    """When it ends, Unix milliseconds, if it does."""

    epoch: int = 0
    """The epoch with which the writer owns the game."""


@runtime_checkable
class TellsWaits(Protocol):
    """A store whose writes wait for each other, and that can tell how long."""

    def tell_waits(self, observe: Callable[[float], object]) -> None:
        """Call `observe` with the seconds that each append waited before it began.

        From any thread.
        """
        ...


class GameStore(OwnerStore, Protocol):
    """Keeps games. What a call has returned for is durable.

    Every method may raise `ServiceError`s of the kit: `StoreBusy` (nothing was done) and
    `StoreUnavailable` (whether it was done is unknown).
    """

    async def count(self) -> int:
        """How many games were ever reserved."""
        ...

    async def reserve(self, reservation: Reservation) -> Reservation | None:
        """Keep `reservation` and return it, or return the earlier one of the same request.

        None if the game id is taken by another request.
        """
        ...

    async def create(
        self,
        game_id: str,
        ruleset: str,
        watchable: bool,
        header: bytes,
        first: Append,
        owner: str = NOBODY,
    ) -> StoredGame | None:
        """Start a reserved game with its first record, and return it.

        If `owner` is somebody, the game is theirs with epoch 1. A game that was started before is
        returned as it is; None if it isn't reserved.
        """
        ...

    async def append(self, append: Append) -> None:
        """Add to the log of a running game.

        Raises:
            Fenced: the game has another epoch.
            StoreConflict: the game isn't running, its last record is another, or a command id is
                in the log already.
        """
        ...

    async def game(self, game_id: str) -> StoredGame | None:
        """The game, reserved ones included."""
        ...

    async def snapshot(self, game_id: str, up_to_seq: int) -> StoredSnapshot | None:
        """The latest snapshot whose seq is at most `up_to_seq`."""
        ...

    async def records(self, game_id: str, after_seq: int, limit: int) -> list[Record]:
        """At most `limit` records after `after_seq`, in order."""
        ...

    async def command(self, game_id: str, command_id: str) -> Record | None:
        """The record that a command caused, by the command's key."""
        ...

    async def running(self) -> list[str]:
        """Ids of all running games, oldest first."""
        ...

    async def list_games(
        self, before: tuple[int, str] | None, limit: int, ruleset: str
    ) -> list[StoredGame]:
        """Watchable running games, newest first.

        Args:
            before: start and id of the last game of the page before.
            limit: at most so many.
            ruleset: only of this one; empty for all.
        """
        ...

    async def facts(self, after: int, limit: int) -> list[StoredFact]:
        """At most `limit` facts with a number above `after`, in order."""
        ...

    async def close(self) -> None:
        """Release what the store holds."""
        ...
