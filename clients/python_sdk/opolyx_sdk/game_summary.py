"""Games that can be watched."""

from dataclasses import dataclass

from opolyx_sdk.enums import GameState
from opolyx_sdk.seats import Seat


@dataclass(frozen=True, slots=True)
class GameSummary:
    """One game in a list."""

    game_id: str
    """The game."""

    ruleset: str
    """Its ruleset."""

    seats: tuple[Seat, ...]
    """Who sits where."""

    round: int
    """Its round."""

    started_unix_ms: int
    """When it started, Unix milliseconds."""

    state: GameState
    """Whether it is running, finished or void."""
