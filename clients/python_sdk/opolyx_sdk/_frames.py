"""The stream's requests and frames as values: what the session core reads and writes.

Field names are those of the wire, so that `_convert` needs no table of its own.
"""

from dataclasses import dataclass
from typing import TypeAlias

from opolyx_sdk.actions import Action
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import DetachReason, GameState
from opolyx_sdk.events import Event
from opolyx_sdk.refusals import Refusal
from opolyx_sdk.seats import Seat
from opolyx_sdk.updates import HouseRules
from opolyx_sdk.views import (
    AuctionView,
    DebtView,
    GameView,
    OfferView,
    PlayerView,
    PropertyView,
    ResultView,
    TurnView,
)


@dataclass(frozen=True, slots=True)
class Attach:
    """Begin to receive a game."""

    game_id: str
    after_seq: int | None = None
    spectator: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """Act in a game."""

    game_id: str
    command_id: str
    decision_id: str
    action: Action
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class Detach:
    """Stop receiving a game."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Ping:
    """Ask for a pong."""

    nonce: int


Request: TypeAlias = Attach | Command | Detach | Ping


@dataclass(frozen=True, slots=True)
class AuctionPart:
    """The auction's part of a delta."""

    auction: AuctionView | None


@dataclass(frozen=True, slots=True)
class DebtsPart:
    """The debts' part of a delta."""

    debts: tuple[DebtView, ...]


@dataclass(frozen=True, slots=True)
class OffersPart:
    """The offers' part of a delta."""

    offers: tuple[OfferView, ...]


@dataclass(frozen=True, slots=True)
class GameDelta:
    """Changes of a view; what is present replaces its counterpart by key."""

    players: tuple[PlayerView, ...] = ()
    properties: tuple[PropertyView, ...] = ()
    turn: TurnView | None = None
    auction: AuctionPart | None = None
    debts: DebtsPart | None = None
    offers: OffersPart | None = None
    result: ResultView | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole game as it is."""

    seq: int
    ruleset: str
    ruleset_hash: str
    seats: tuple[Seat, ...]
    view: GameView
    decisions: tuple[Decision, ...]
    now_unix_ms: int
    state_digest: bytes
    log_digest: bytes
    commitment: bytes
    your_seat: int | None
    connected_seats: tuple[int, ...]
    state: GameState
    house: HouseRules | None


@dataclass(frozen=True, slots=True)
class UpdateFrame:
    """What one accepted action changed."""

    seq: int
    at_unix_ms: int
    events: tuple[Event, ...]
    delta: GameDelta
    decisions: tuple[Decision, ...]
    state_digest: bytes
    log_digest: bytes
    actor: int | None
    command_id: str
    state: GameState


@dataclass(frozen=True, slots=True)
class Accepted:
    """A command took effect."""

    seq: int


@dataclass(frozen=True, slots=True)
class Retry:
    """A command could not be judged now."""

    retry_after_ms: int


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The answer to a command; exactly one of the three is set."""

    command_id: str
    accepted: Accepted | None = None
    refusal: Refusal | None = None
    retry: Retry | None = None


@dataclass(frozen=True, slots=True)
class Detached:
    """The client no longer receives the game."""

    reason: DetachReason
    message: str
    retry_after_ms: int = 0


@dataclass(frozen=True, slots=True)
class Draining:
    """The server goes away."""

    retry_after_ms: int


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to a ping."""

    nonce: int
    now_unix_ms: int


@dataclass(frozen=True, slots=True)
class Presence:
    """A player came or went."""

    connected_seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Attached:
    """The attachment is up to date."""

    seq: int


FrameKind: TypeAlias = (
    Snapshot | UpdateFrame | CommandResult | Detached | Draining | Pong | Presence | Attached
)


@dataclass(frozen=True, slots=True)
class Frame:
    """One thing for the client to know."""

    game_id: str
    kind: FrameKind
