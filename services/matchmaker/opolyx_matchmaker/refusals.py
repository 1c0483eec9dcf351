"""Refused changes as the errors that callers get."""

from typing import Final

from opolyx_matchmaker.peers import EngineRefused
from opolyx_matchmaker.room_refusal import RefusalKind, RoomRefusal
from opolyx_servicekit.errors import (
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ServiceError,
    Unavailable,
)

ENGINE_AWAY: Final = "ENGINE_UNAVAILABLE"
"""The reason of `engine_unavailable`."""

_TEXTS: Final = {
    RefusalKind.ROOM_FULL: "every seat of room {room_id} is taken",
    RefusalKind.ROOM_STARTED: "the game of room {room_id} has started",
    RefusalKind.NOT_IN_ROOM: "the player is not in room {room_id}",
    RefusalKind.SEATS_OPEN: "seat {seat} of room {room_id} is not filled",
    RefusalKind.BOT_UNAVAILABLE: "the bot is at its capacity or may not play in room {room_id}",
}


def room_error(refusal: RoomRefusal, room_id: str) -> ServiceError:
    """The error for a refusal of a change of `room_id`."""
    kind = refusal.kind
    about = {"room_id": room_id}
    if kind is RefusalKind.ROOM_NOT_FOUND:
        return room_not_found(room_id)
    if kind is RefusalKind.NOT_CREATOR:
        return PermissionDenied(kind, f"only the creator of room {room_id} may", metadata=about)
    if kind is RefusalKind.ALREADY_PLAYING:
        return already_playing(refusal.room_id, refusal.game_id)
    if kind is RefusalKind.INVALID_FIELD:
        return bad_field("seat", f"seat {refusal.seat} of room {room_id} can't be used so")
    if refusal.seat >= 0:
        about["seat"] = str(refusal.seat)
    text = _TEXTS[kind].format(room_id=room_id, seat=refusal.seat)
    return FailedPrecondition(kind, text, metadata=about, precondition=(kind, room_id))


def already_playing(room_id: str, game_id: str) -> ServiceError:
    """The player is in an unfinished game or open room already (TABLE-6)."""
    return FailedPrecondition(
        "ALREADY_PLAYING",
        f"already in an unfinished game, {game_id} of room {room_id}",
        metadata={"room_id": room_id, "game_id": game_id},
        precondition=("ALREADY_PLAYING", room_id),
    )


def room_not_found(room_id: str) -> ServiceError:
    """There is no such room, or its code is wrong; the two look the same."""
    return NotFound(
        "ROOM_NOT_FOUND", "no such room, or its code is wrong", metadata={"room_id": room_id}
    )


def bad_field(field: str, why: str) -> ServiceError:
    """A field of the request is wrong."""
    return InvalidArgument("INVALID_FIELD", f"{field}: {why}", fields={field: why})


def unknown_ruleset(ruleset: str) -> ServiceError:
    """No room has this ruleset here."""
    return InvalidArgument(
        "UNKNOWN_RULESET",
        f"ruleset {ruleset!r} is not known",
        metadata={"ruleset": ruleset},
        fields={"ruleset": "is not known"},
    )


def table_refused(ruleset: str, refused: EngineRefused) -> ServiceError:
    """The engine says that no game is played so; its fields are named as ours are."""
    if refused.reason == "UNKNOWN_RULESET":
        return unknown_ruleset(ruleset)
    fields = refused.fields or {"options": refused.message}
    return InvalidArgument(
        "INVALID_FIELD", f"no game is played so: {refused.message}", fields=fields
    )


def engine_unavailable() -> ServiceError:
    """The engine can't be reached or takes no games."""
    return Unavailable(ENGINE_AWAY, "the engine can't be reached or takes no games")


def draining() -> ServiceError:
    """This process stops."""
    return Unavailable("DRAINING", "the matchmaker is draining")


def standby() -> ServiceError:
    """Another process serves."""
    return Unavailable("STANDBY", "another matchmaker serves, or this one is about to")
