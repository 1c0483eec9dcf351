"""A look at frames on their way through: those of some kinds are found, the others aren't parsed.

Updates and snapshots, nearly all that goes by, are large and matter only to the client. A look costs
about a microsecond a frame; to parse an update costs two to ten.
"""

from collections.abc import Container
from typing import Final, NamedTuple

from opolyx.engine.v1 import engine_service_pb2 as pb

_FRAME_TAG: Final = pb.PlayResponse.FRAMES_FIELD_NUMBER << 3 | 2  # 2: with its length before it
_GAME_ID_TAG: Final = pb.Frame.GAME_ID_FIELD_NUMBER << 3 | 2


class Found(NamedTuple):
    """Where in the bytes of a response a frame is."""

    begin: int
    """Its first byte: the tag with which it is a piece of a response."""

    body: int
    """The first of the frame's own bytes."""

    end: int
    """The byte after its last."""

    kind: int
    """Number of the field of its kind; 0 if it has none."""


def find_frames(response: bytes, kinds: Container[int]) -> list[Found]:
    """The frames of some kinds in a `PlayResponse` or `WatchGameResponse`, in order.

    What else a later version puts there is passed over.

    Args:
        response: the response's bytes.
        kinds: numbers of the fields of `Frame`.

    Raises:
        IndexError: the bytes end too early.
        ValueError: they are no such response.
    """
    found = []
    at, end = 0, len(response)
    while at < end:
        begin = at
        tag, at = _varint(response, at)
        if tag & 7 != 2:
            raise ValueError(f"field {tag >> 3} has no length")
        size, body = _varint(response, at)
        at = body + size
        if at > end:
            raise IndexError("a frame is cut off")
        kind = _kind(response, body, at)
        if kind in kinds and tag == _FRAME_TAG:
            found.append(Found(begin, body, at, kind))
    return found


def _kind(response: bytes, at: int, end: int) -> int:
    """The first field after the game's id."""
    if at < end and response[at] == _GAME_ID_TAG:
        size, at = _varint(response, at + 1)
        at += size
    return response[at] >> 3 if at < end else 0


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at `at`, and where it ends."""
    number = data[at]
    at += 1
    if number < 0x80:
        return number, at
    number &= 0x7F
    shift = 7
    while True:
        octet = data[at]
        at += 1
        number |= (octet & 0x7F) << shift
        if octet < 0x80:
            return number, at
        shift += 7
