"""Frames as bytes, made once and sent to many.

A response of `Play` or `WatchGame` is nothing but `repeated Frame frames = 1`. So a frame is kept
as that field's bytes, tag and length included, and joining such pieces gives a whole response: what
all subscribers get is serialised once. The streams' methods are registered with an identity
serializer (`service_handlers.py`).
"""

from collections.abc import Iterable
from typing import Final

from opolyx.engine.v1 import engine_service_pb2 as pb

_TAG: Final = b"\x0a"  # field 1, length-delimited
_LONGEST_ECHO: Final = 128  # of a game id that was asked for


def packed(frame: pb.Frame) -> bytes:
    """The frame as a piece of a response."""
    body = frame.SerializeToString()
    size = len(body)
    if size < 0x80:
        return b"\x0a%c" % size + body
    if size < 0x4000:
        return b"\x0a%c%c" % (size & 0x7F | 0x80, size >> 7) + body
    return _TAG + _varint(size) + body


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
