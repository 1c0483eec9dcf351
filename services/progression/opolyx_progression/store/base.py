"""What progression asks of a store."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from opolyx_progression.awards import Award
from opolyx_progression.cards import Card
from opolyx_progression.deliveries import Delivery, Outcome
from opolyx_progression.games import FinishedGame
from opolyx_progression.leaderboards import BoardPage, Score
from opolyx_progression.ratings import Rating
from opolyx_progression.settlement import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a player has earned; all zero for an unknown one."""

    standing: Standing
    """The totals."""

    cards: int
    """Collection cards owned."""

    ratings: dict[str, Rating]
    """By mode, ascending."""

    vip: bool
    """Whether the player is a VIP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """An award as the ledger has it."""

    sequence: int
    """Number of its game among the settled ones."""

    award: Award
    """The award."""

    xp: int
    """Its XP as stored, which the audit compares with the sum of the terms."""

    cards: tuple[Card, ...]
    """Cards that came with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a player brings to a table."""

    player_id: str
    """The player."""

    vip: bool
    """Whether the player is a VIP."""

    bonuses: dict[int, int]
    """The best card's bonus in basis points, by square, ascending."""

    ratings: dict[str, Rating]
    """By mode, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """A result that was settled, with all that is needed to settle it again."""

    sequence: int
    """Its number among the settled ones: the order they were settled in."""

    table_version: int
    """The award table it was settled by."""

    game_id: str
    """The game."""

    game: FinishedGame | None
    """The result; None if what is stored makes no sense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A fact that couldn't be processed."""

    number: int
    """The fact's number."""

    game_id: str
    """The game it is about."""

    at_unix_ms: int
    """When it was given up first."""

    problem: str
    """Why not."""

    raw: bytes
    """The fact as it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitlementChange:
    """An operator set what a player is entitled to."""

    number: int
    """Its number, rising."""

    player_id: str
    """The player."""

    vip: bool
    """Whether the player is a VIP since then."""

    reason: str
    """Why."""

    operator: str
    """The operator's account."""

    at_unix_ms: int
    """When."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastChange:
    """A stored value of a player and the game that changed it last, for the audit."""

    player_id: str
    """The player."""

    sequence: int
    """The game's number among the settled ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStanding(LastChange):
    """A player's totals."""

    standing: Standing
    """The totals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRating(LastChange):
    """A player's rating in a mode."""

    mode: str
    """The mode."""

    rating: Rating
    """The rating."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScore(LastChange):
    """A player's score on a leaderboard."""

    score: Score
    """The score."""


class Store(Protocol):
    """All state of progression. A failed call has changed nothing."""

    async def apply(self, deliveries: Sequence[Delivery], *, now_ms: int) -> list[Outcome]:
        """Apply facts in order, each once, and move the cursor, in one transaction.

        A fact that can't be processed is buried as a dead letter and holds up no other.
        """
        ...

    async def cursor(self) -> int:
        """The greatest fact number applied; 0 before the first."""
        ...

    async def dead_letters(self, *, after: int, limit: int) -> list[DeadLetter]:
        """Facts with greater numbers that couldn't be processed, ascending."""
        ...

    async def dead_letter(self, number: int) -> DeadLetter | None:
        """The fact of that number, if it couldn't be processed."""
        ...

    async def dead_letter_count(self) -> int:
        """How many facts couldn't be processed."""
        ...

    async def profile(self, player_id: str) -> Profile:
        """What a player has earned."""
        ...

    async def awards(
        self, player_id: str, *, game_id: str, before: int, limit: int
    ) -> list[LedgerEntry]:
        """Awards, newest first.

        Args:
            player_id: whose; empty for every seat of `game_id`, in seat order.
            game_id: of this game only; empty for all.
            before: only of games settled before this sequence number; 0 for no bound.
            limit: at most this many.
        """
        ...

    async def cards(self, player_id: str) -> list[Card]:
        """A player's cards, oldest first."""
        ...

    async def grants(self, player_ids: Sequence[str]) -> list[Grant]:
        """What players bring to a table, in the order asked."""
        ...

    async def set_vip(
        self, player_id: str, *, vip: bool, reason: str, operator: str, now_ms: int
    ) -> None:
        """Set whether a player is a VIP, with an entry for the audit."""
        ...

    async def entitlement_changes(
        self, player_id: str, *, before: int, limit: int
    ) -> list[EntitlementChange]:
        """Who set entitlements, newest first.

        Args:
            player_id: whose; empty for everybody's.
            before: only changes with a lower number; 0 for no bound.
            limit: at most this many.
        """
        ...

    async def strayed_entitlements(self) -> list[tuple[str, bool | None, bool | None]]:
        """Players whose entitlement (the first flag) isn't what was last said (the second)."""
        ...

    async def top(self, board: str, limit: int) -> BoardPage:
        """The first rows of a leaderboard."""
        ...

    async def around(self, board: str, player_id: str, limit: int) -> BoardPage | None:
        """A player's row amid its neighbours; None if the player isn't on the board."""
        ...

    async def last_sequence(self) -> int:
        """Number of the game settled last; 0 before the first."""
        ...

    async def results(self, *, after: int, limit: int) -> list[StoredResult]:
        """Settled results with greater sequence numbers, ascending."""
        ...

    async def ledger(self, *, after: int, until: int) -> list[LedgerEntry]:
        """All awards of games with `after` < sequence ≤ `until`, by sequence and seat.

        Raises:
            ValueError: one can't be read.
        """
        ...

    def standings(self) -> AsyncIterator[list[StoredStanding]]:
        """Totals of all players, page by page, each player once.

        Here and in the next two: what changes meanwhile is told as it was or as it is.
        """
        ...

    def ratings(self) -> AsyncIterator[list[StoredRating]]:
        """Ratings of all players in every mode, page by page, each once."""
        ...

    def scores(self) -> AsyncIterator[list[StoredScore]]:
        """Scores on every leaderboard, page by page, each at least once."""
        ...

    async def miscounted_boards(self) -> list[str]:
        """Leaderboards on which ranks would be wrong; may read every score."""
        ...
