"""What can go wrong, by cause.

```
OpolyxError
├── ConnectionLost            no server can be reached, or an outage outlasted the client's patience
│   └── OutcomeUnknown        ... and a command was under way: it may have taken effect
├── RequestError              the server answered a call with a failure
│   ├── InvalidRequest        a field is missing or out of range
│   ├── NotAuthenticated      no token, or a bad, expired or revoked one
│   ├── NotAllowed            the token's role or account may not do this
│   ├── NotFound              no such game, room or player
│   ├── WrongState            not in the state that things are in: room full, already playing
│   ├── LimitReached          a limit is used up; `retry_after_s` says when to go on
│   └── ServiceUnavailable    the service can't answer now, or not in time
├── Refused                   the rules refuse the action; nothing has changed
├── GameError                 one game can't go on for this client
│   ├── GameClosed            the server detached the client: not found, not seated, a fault
│   └── MirrorBroken          even a fresh snapshot doesn't match its digest
├── WrongLoop                 a client is used by two loops at a time
├── NoDecision                nothing is awaited from this seat that the action could answer
├── BotError                  a bot can't be made, or failed with `strict` set
├── ReplayError               a replay can't be read
└── MissingExtra              an optional part of opolyx isn't installed
```

A refusal and a failed request never end a stream. No error ever holds a token.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line catches errors without needing either
    from opolyx_sdk.enums import DetachReason
    from opolyx_sdk.refusals import Refusal


class OpolyxError(Exception):
    """Anything that this package raises on purpose."""


class ConnectionLost(OpolyxError):
    """No server can be reached, or an outage lasted longer than the client waits."""


class OutcomeUnknown(ConnectionLost):
    """The connection was lost for good with a command under way: it may have taken effect."""

    def __init__(self, command_id: str) -> None:
        super().__init__(f"connection lost before command {command_id} was answered")
        self.command_id = command_id
        """Send the command again with this id: it never takes effect twice."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a server says about a failed call: a google.rpc.Status, read."""

    status: str
    """Name of the gRPC status, for instance `NOT_FOUND`."""

    message: str
    """A sentence in English for a developer."""

    reason: str = ""
    """Reason out of the service's ErrorReason, without its prefix; empty when it gave none."""

    domain: str = ""
    """Who says so, for instance `opolyx.engine`."""

    metadata: Mapping[str, str] = field(default_factory=dict)
    """The variables of the message by name."""

    retry_after_s: float | None = None
    """Wait this long before trying again; None when the server gave no hint."""

    fields: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with which field of the request."""


class RequestError(OpolyxError):
    """The server answered a call with a failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(_sentence(failure))
        self.failure = failure
        """Everything the server said."""

    @property
    def reason(self) -> str:
        """Reason out of the service's ErrorReason, for instance `ROOM_FULL`; may be empty."""
        return self.failure.reason

    @property
    def retry_after_s(self) -> float | None:
        """Wait this long before trying again; None when the server gave no hint."""
        return self.failure.retry_after_s


class InvalidRequest(RequestError):
    """A field of the request is missing or out of range; see `failure.fields`."""


class NotAuthenticated(RequestError):
    """The call carried no token, or one that is bad, expired or revoked: nothing is tried again."""

    @property
    def problem(self) -> str:
        """Why, in a word: missing, malformed, invalid, expired or revoked; empty if not told."""
        return self.failure.metadata.get("problem", "")

    @property
    def expired(self) -> bool:
        """Whether only the time of the token is over."""
        return self.problem == "expired"


class NotAllowed(RequestError):
    """The token's role or account may not do this."""


class NotFound(RequestError):
    """There is no such thing."""


class WrongState(RequestError):
    """Things are not in a state in which this can be done."""


class LimitReached(RequestError):
    """A limit is used up."""


class ServiceUnavailable(RequestError):
    """The service can't answer now, or did not in time. The call may have taken effect."""


class Refused(OpolyxError):
    """The rules refuse an action; nothing has changed."""

    def __init__(self, refusal: "Refusal") -> None:
        super().__init__(str(refusal))
        self.refusal = refusal
        """Why: the reason, the rule's id and the numbers."""


class GameError(OpolyxError):
    """One game can't go on for this client."""

    def __init__(self, game_id: str, message: str) -> None:
        super().__init__(f"game {game_id}: {message}")
        self.game_id = game_id
        """The game."""


class GameClosed(GameError):
    """The server detached the client from a game."""

    def __init__(self, game_id: str, reason: "DetachReason", message: str = "") -> None:
        super().__init__(game_id, message or reason.name.lower().replace("_", " "))
        self.reason = reason
        """Why."""


class MirrorBroken(GameError):
    """Even a fresh snapshot doesn't match its digest: client and server disagree on the form."""

    def __init__(self, game_id: str, seq: int) -> None:
        super().__init__(game_id, f"snapshot at update {seq} doesn't match its digest")
        self.seq = seq
        """The snapshot's last update."""


class WrongLoop(OpolyxError):
    """A client is used by a second loop while the first that used it still runs."""


class NoDecision(OpolyxError):
    """Nothing is awaited from this seat that the action could answer."""


class BotError(OpolyxError):
    """A bot could not be made; or it raised, was too slow or was refused while `strict` was set."""


class ReplayError(OpolyxError):
    """A replay can't be read."""


class MissingExtra(OpolyxError):
    """An optional part of opolyx isn't installed; the message says which."""


def request_error(failure: Failure) -> RequestError:
    """The error of the class that belongs to the failure's status."""
    return _BY_STATUS.get(failure.status, RequestError)(failure)


_BY_STATUS: Mapping[str, type[RequestError]] = {
    "INVALID_ARGUMENT": InvalidRequest,
    "OUT_OF_RANGE": InvalidRequest,
    "UNAUTHENTICATED": NotAuthenticated,
    "PERMISSION_DENIED": NotAllowed,
    "NOT_FOUND": NotFound,
    "FAILED_PRECONDITION": WrongState,
    "ALREADY_EXISTS": WrongState,
    "ABORTED": WrongState,
    "RESOURCE_EXHAUSTED": LimitReached,
    "UNAVAILABLE": ServiceUnavailable,
    "DEADLINE_EXCEEDED": ServiceUnavailable,
}


def _sentence(failure: Failure) -> str:
    label = failure.reason or failure.status
    parts = [f"{label}: {failure.message}" if failure.message else label]
    parts += [f"{name}: {text}" for name, text in failure.fields.items()]
    if failure.retry_after_s is not None:
        parts.append(f"try again in {failure.retry_after_s:g} s")
    return "; ".join(parts)
