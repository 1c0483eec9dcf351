"""Frames as bytes, made once and sent to many.

A response of `Play` or `WatchGame` is nothing but `repeated Frame frames = 1`. So a frame is kept
as that field's bytes, tag and length included, and joining such pieces gives a whole response: what
all subscribers get is serialised once. The streams' methods are registered with an identity
serializer (`service_handlers.py`). What a message repeats can be joined in the same way.
"""

from collections.abc import Iterable
from typing import Final

from google.protobuf.message import Message

from opolyx.engine.v1 import engine_service_pb2 as pb

_LENGTH_DELIMITED: Final = 2
_LONGEST_ECHO: Final = 128  # of a game id that was asked for


def tag_of(message: type[Message], name: str) -> bytes:
    """What stands before a field of text, bytes or a message; the field's number is below 16."""
    return bytes([message.DESCRIPTOR.fields_by_name[name].number << 3 | _LENGTH_DELIMITED])


def field(tag: bytes, body: bytes) -> bytes:
    """A field as it stands in its message."""
    size = len(body)
    if size < 0x80:
        return tag + bytes((size,)) + body
    if size < 0x4000:
        return tag + bytes((size & 0x7F | 0x80, size >> 7)) + body
    return tag + _varint(size) + body


_FRAMES: Final = tag_of(pb.PlayResponse, "frames")


def packed(frame: pb.Frame) -> bytes:
    """The frame as a piece of a response."""
    return field(_FRAMES, frame.SerializeToString())


_GAME_ID: Final = tag_of(pb.Frame, "game_id")
_UPDATE: Final = tag_of(pb.Frame, "update")


def update_frame(game_id: str, update: bytes) -> bytes:
    """An update that is bytes already."""
    return field(_FRAMES, field(_GAME_ID, game_id.encode()) + field(_UPDATE, update))


def presence_frame(game_id: str, connected: Iterable[int]) -> bytes:
    """Who is connected."""
    presence = pb.Presence(connected_seats=connected)
    return packed(pb.Frame(game_id=game_id, presence=presence))


def attached_frame(game_id: str, seq: int) -> bytes:
    """The attachment is up to date."""
    return packed(pb.Frame(game_id=game_id, attached=pb.Attached(seq=seq)))


def detached_frame(
    game_id: str, reason: pb.DetachReason.ValueType, message: str, retry_after_ms: int = 0
) -> bytes:
    """The game is no longer received."""
    detached = pb.Detached(reason=reason, message=message, retry_after_ms=retry_after_ms)
    return packed(pb.Frame(game_id=game_id[:_LONGEST_ECHO], detached=detached))


def draining_frame(retry_after_ms: int) -> bytes:
    """The server goes away."""
    return packed(pb.Frame(draining=pb.Draining(retry_after_ms=retry_after_ms)))


def pong_frame(nonce: int, now_ms: int) -> bytes:
    """The answer to a ping."""
    return packed(pb.Frame(pong=pb.Pong(nonce=nonce, now_unix_ms=now_ms)))


def result_frame(game_id: str, result: pb.CommandResult) -> bytes:
    """The answer to a command."""
    return packed(pb.Frame(game_id=game_id[:_LONGEST_ECHO], command_result=result))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
