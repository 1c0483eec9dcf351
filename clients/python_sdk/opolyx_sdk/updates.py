"""What a game tells its players and spectators, one update an accepted action."""

from dataclasses import dataclass, fields

from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import GameState
from opolyx_sdk.events import Event
from opolyx_sdk.seats import Seat
from opolyx_sdk.views import GameView


@dataclass(frozen=True, slots=True)
class HouseRules:
    """What the house changed of a ruleset; None is the ruleset's own."""

    start_cash: int | None = None
    """Start cash in k."""

    round_cap: int | None = None
    """Round cap."""

    turn_seconds: int | None = None
    """Seconds a turn."""

    def given(self) -> dict[str, int]:
        """What is changed, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class GameInfo:
    """What stays the same in a game from its first update to its last."""

    game_id: str
    """The game."""

    ruleset: str
    """The ruleset, "mode@edition"."""

    ruleset_hash: str
    """Hash of the ruleset's fields."""

    seats: tuple[Seat, ...]
    """Who sits where, in seat order."""

    commitment: bytes
    """SHA-256 of the server's secret (fair dice)."""

    your_seat: int | None
    """The caller's seat; None for a spectator."""

    house: HouseRules = HouseRules()
    """What the house changed of the ruleset."""


@dataclass(frozen=True, slots=True)
class Update:
    """What one accepted action changed, and the game after it."""

    game_id: str
    """The game."""

    seq: int
    """Its number in the game, rising by one."""

    at_unix_ms: int
    """When it took effect, Unix milliseconds."""

    events: tuple[Event, ...]
    """What happened, in order."""

    view: GameView
    """The public state after it."""

    decisions: tuple[Decision, ...]
    """The decisions then open, of all seats."""

    actor: int | None
    """Seat that acted; None for the clock and the server."""

    command_id: str
    """Id of the command that caused it, if one did."""

    state: GameState
    """The life of the game after it."""

    missed: int = 0
    """How many updates before it were replaced by a fresh snapshot: 0 unless the client was away
    for too long or its reader too slow. Their events are lost to it, the view is complete.
    """
