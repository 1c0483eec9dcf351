"""The engine's errors, each with its reason; names of the proto ErrorReason without the prefix."""

from opolyx_engine.replica import Replica
from opolyx_servicekit.errors import (
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unavailable,
)


class GameElsewhere(Unavailable):
    """Another living replica runs the game, or is the one to run it.

    Whoever can send the call on to it catches this. Nobody else needs to know: on the wire it is
    UNAVAILABLE, to be tried again, with nothing of the other replica in it.
    """

    def __init__(self, game_id: str, replica: Replica, retry_after_ms: int) -> None:
        """The game is at `replica`."""
        super().__init__(
            "NOT_OWNER",
            f"game {game_id[:64]!r} is run by another replica",
            metadata={"game_id": game_id[:64]},
            retry_after_ms=retry_after_ms,
        )
        self.replica = replica
        """Who runs it; its address is empty if it can't be reached."""


def owner_unknown(game_id: str, retry_after_ms: int) -> Unavailable:
    """Nobody is known to run the game now, and it isn't this replica's to take yet."""
    return Unavailable(
        "NOT_OWNER",
        f"game {game_id[:64]!r} is between two replicas",
        metadata={"game_id": game_id[:64]},
        retry_after_ms=retry_after_ms,
    )


def rules_differ(game_id: str) -> FailedPrecondition:
    """The game was started by other rules than are here, and no living replica has those."""
    return FailedPrecondition(
        "RULES_DIFFER",
        f"game {game_id} was started by a version with other rules",
        metadata={"game_id": game_id},
        precondition=("RULES", game_id),
    )


def game_not_found(game_id: str) -> NotFound:
    """There is no such game."""
    return NotFound(
        "GAME_NOT_FOUND", f"there is no game {game_id[:64]!r}", metadata={"game_id": game_id[:64]}
    )


def not_seated(game_id: str) -> PermissionDenied:
    """The caller has no seat in the game."""
    return PermissionDenied(
        "NOT_SEATED", f"no seat in game {game_id}", metadata={"game_id": game_id}
    )


def not_watchable(game_id: str) -> PermissionDenied:
    """The game can't be watched."""
    return PermissionDenied(
        "NOT_WATCHABLE", f"game {game_id} can't be watched", metadata={"game_id": game_id}
    )


def invalid_field(field: str, why: str) -> InvalidArgument:
    """A field of the request is wrong."""
    return InvalidArgument(
        "INVALID_FIELD", f"{field} {why}", metadata={"field": field}, fields={field: why}
    )


def unknown_ruleset(name: str) -> InvalidArgument:
    """The ruleset is not known here."""
    return InvalidArgument(
        "UNKNOWN_RULESET",
        f"there is no ruleset {name[:64]!r}",
        metadata={"ruleset": name[:64]},
        fields={"ruleset": "is not known"},
    )


def no_reservation(game_id: str) -> FailedPrecondition:
    """The game isn't reserved."""
    return FailedPrecondition(
        "NO_RESERVATION",
        f"game {game_id[:64]!r} is not reserved",
        metadata={"game_id": game_id[:64]},
        precondition=("RESERVATION", game_id[:64]),
    )


def game_conflict(game_id: str) -> FailedPrecondition:
    """The game was started with other contents."""
    return FailedPrecondition(
        "GAME_CONFLICT",
        f"game {game_id} was started with other contents",
        metadata={"game_id": game_id},
        precondition=("GAME", game_id),
    )


def paused() -> FailedPrecondition:
    """The server takes no new games now."""
    return FailedPrecondition(
        "PAUSED",
        "no new games are taken now",
        precondition=("ADMISSION", "games"),
        retry_after_ms=5_000,
    )


def draining(retry_after_ms: int) -> Unavailable:
    """The server goes away."""
    return Unavailable("DRAINING", "the server is draining", retry_after_ms=retry_after_ms)


def game_fault(game_id: str) -> FailedPrecondition:
    """The game's log doesn't lead to a state: it is held as it is, for the operators."""
    return FailedPrecondition(
        "GAME_FAULT",
        f"game {game_id} is held because of a fault in the server",
        metadata={"game_id": game_id},
        precondition=("GAME", game_id),
    )


def store_unavailable(retry_after_ms: int) -> Unavailable:
    """The store can't be reached now."""
    return Unavailable(
        "STORE_UNAVAILABLE", "the store can't be reached", retry_after_ms=retry_after_ms
    )


def too_many(what: str, limit: int) -> ResourceExhausted:
    """A limit is used up."""
    return ResourceExhausted(
        "LIMIT", f"at most {limit} {what}", metadata={"limit": limit, "what": what}
    )


def too_often(what: str, per_second: int, retry_after_ms: int) -> ResourceExhausted:
    """Something is done more often than it may; `what` names the limit as its setting does."""
    return ResourceExhausted(
        "LIMIT",
        f"at most {per_second} {what} a second on average",
        metadata={"limit": per_second, "what": f"{what}_per_second"},
        retry_after_ms=retry_after_ms,
    )
