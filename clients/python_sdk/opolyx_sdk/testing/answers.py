"""What a scripted game answers to a command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from opolyx_sdk.enums import RefusalReason
from opolyx_sdk.events import Event
from opolyx_sdk.testing.tables import Awaited
from opolyx_sdk.views import GameView


@dataclass(frozen=True, slots=True)
class Accept:
    """The command takes effect: it causes the next update."""

    events: Sequence[Event] = ()
    """What happened."""

    view: GameView | None = None
    """The state after it; the state before it when absent."""

    awaits: Sequence[Awaited] | None = None
    """What is awaited then; the same as before, under a new id, when absent."""

    ends: bool = False
    """Whether the game is over with it."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """The rules refuse; nothing changes."""

    reason: RefusalReason = RefusalReason.INVALID_ACTION
    """The kind of reason."""

    rule_id: str = ""
    """The rule that refuses."""

    message: str = ""
    """A sentence for developers."""

    numbers: Mapping[str, int] = field(default_factory=dict)
    """The numbers behind it."""


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """The command could not be judged now: the client is to send it again."""

    seconds: float
    """After how long."""


@dataclass(frozen=True, slots=True)
class Silence:
    """No answer comes. Sent again, the command gets one."""

    takes_effect: bool = False
    """Whether only the answer is lost, with the update that tells of it."""


Answer: TypeAlias = Accept | Refuse | RetryAfter | Silence
"""Any one answer."""
