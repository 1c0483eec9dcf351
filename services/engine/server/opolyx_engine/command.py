"""A command on its way to its game, and the answer to it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from opolyx_rules.actions import Action
from opolyx_rules.reasons import Refusal

if TYPE_CHECKING:
    from opentelemetry.context import Context

# Reasons of the service's own, beside those of the rules; numbers of the proto RefusalReason.
STALE_DECISION: Final = 37
DEADLINE_PASSED: Final = 38
COMMAND_ID_REUSED: Final = 39
SPECTATOR: Final = 40
TOO_FAST: Final = 41
GAME_VOID: Final = 42
GAME_NOT_FOUND: Final = 43

SENTENCES: Final[dict[int, str]] = {
    STALE_DECISION: "the decision answered is closed",
    DEADLINE_PASSED: "the deadline has passed",
    COMMAND_ID_REUSED: "the command id was used for another action",
    SPECTATOR: "the sender has no seat in the game",
    TOO_FAST: "the seat sends too many commands",
    GAME_VOID: "the game was ended as void",
    GAME_NOT_FOUND: "there is no such game",
}
"""A sentence in English for each, for developers."""

# Why a command is to be sent again; names of the proto ErrorReason without the prefix.
STORE_AWAY: Final = "STORE_UNAVAILABLE"
BUSY: Final = "LIMIT"
FAULT: Final = "GAME_FAULT"
MOVED: Final = "NOT_OWNER"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a command: accepted, refused, or to be sent again."""

    seq: int = 0
    """The update it caused, if it was accepted; else 0."""

    refusal: Refusal | None = None
    """Why it was refused, if it was."""

    retry_after_ms: int = 0
    """When to send it again, if it couldn't be judged; else 0."""

    retry_reason: str = STORE_AWAY
    """Why it couldn't be judged, if it couldn't: STORE_AWAY, BUSY, FAULT or MOVED."""


@dataclass(slots=True)
class Command:
    """What a client asks for in one game."""

    command_id: str
    """The client's id, unique among its seat's; empty for built-in bots, whose commands never repeat."""

    decision_id: str
    """The decision answered; may be empty for surrender and withdrawing."""

    seat: int | None
    """The sender's seat; None for a spectator."""

    action: Action | Refusal
    """The action, or why there is none."""

    arrived_ms: int
    """When it came in, Unix milliseconds."""

    reply: Callable[[Answer], None]
    """Told the answer, once."""

    trace: "Context | None" = None
    """Below what in a trace the command is worked on; None where nothing is traced."""

    taken_s: float = field(default_factory=time.perf_counter)
    """When it was taken, seconds on a clock that only rises, to measure how long it took."""
