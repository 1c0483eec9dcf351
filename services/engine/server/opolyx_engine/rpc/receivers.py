"""Who may receive a game, and as what."""

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.errors import not_seated, not_watchable
from opolyx_engine.game_actor import GameActor
from opolyx_engine.rpc.frames import detached_frame
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import ServiceError

_OPERATOR = "operator"


def seat_to_receive(game: GameActor, principal: Principal, *, spectator: bool) -> int | None:
    """The seat as which the caller receives the game; None for a spectator.

    Raises:
        PermissionDenied: it has no seat and didn't ask to watch, or can't watch.
    """
    header = game.table.header
    seat = header.seat_of(principal.subject)
    if not spectator:
        if seat is None:
            raise not_seated(game.game_id)
        return seat
    if seat is None and not header.watchable and principal.role != _OPERATOR:
        raise not_watchable(game.game_id)
    return None


def detached_for(game_id: str, error: ServiceError) -> bytes:
    """The frame that says why a game can't be received: an error of `errors.py`.

    A limit that says when to come again is no end: the client attaches again then.
    """
    reason = _REASONS.get(error.reason, pb.DETACH_REASON_UNAVAILABLE)
    if error.reason == "LIMIT" and error.metadata.get("what") == "attaches_per_second":
        reason = pb.DETACH_REASON_UNAVAILABLE
    passes = reason == pb.DETACH_REASON_UNAVAILABLE
    retry_ms = (error.retry_after_ms or 0) if passes else 0
    return detached_frame(game_id, reason, error.message, retry_ms)


_REASONS = {
    "GAME_NOT_FOUND": pb.DETACH_REASON_NOT_FOUND,
    "NOT_SEATED": pb.DETACH_REASON_NOT_SEATED,
    "NOT_WATCHABLE": pb.DETACH_REASON_NOT_WATCHABLE,
    "LIMIT": pb.DETACH_REASON_LIMIT,
    "GAME_FAULT": pb.DETACH_REASON_FAULT,
}
