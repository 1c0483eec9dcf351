"""A look at frames on their way through: what kind each is, without parsing what is in it.

Updates and snapshots, nearly all that goes by, are large and matter only to the client.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from opolyx.engine.v1 import engine_service_pb2 as pb

_GAME_ID: Final = pb.Frame.GAME_ID_FIELD_NUMBER
_FRAME_TAG: Final = pb.PlayResponse.FRAMES_FIELD_NUMBER << 3 | 2  # 2: with its length before it
_LENGTH_DELIMITED: Final = 2


class Seen(NamedTuple):
    """One frame in the bytes of a response."""

    kind: int
    """Number of the field of its kind; 0 if it has none that can be told."""

    piece: bytes
    """The frame as a piece of a response, tag and length included."""

    body: int
    """Where in the piece the frame's own bytes begin."""

    def parsed(self) -> pb.Frame:
        """The frame."""
        return pb.Frame.FromString(self.piece[self.body :])


def frames_in(response: bytes) -> Iterator[Seen]:
    """The frames of a `PlayResponse` or `WatchGameResponse`, in order.

    What else a later version puts there is passed on, too, as a frame of no kind.

    Raises:
        IndexError: the bytes end too early.
        ValueError: they are no such response.
    """
    at = 0
    while at < len(response):
        begin = at
        tag, at = _varint(response, at)
        if tag & 7 != _LENGTH_DELIMITED:
            raise ValueError(f"field {tag >> 3} has no length")
        size, at = _varint(response, at)
        end = at + size
        if end > len(response):
            raise IndexError("a frame is cut off")
        kind = _kind(response, at, end) if tag == _FRAME_TAG else 0
        yield Seen(kind, response[begin:end], at - begin)
        at = end


def _kind(response: bytes, at: int, end: int) -> int:
    """The first field after the game's id."""
    while at < end:
        tag, at = _varint(response, at)
        if tag >> 3 != _GAME_ID:
            return tag >> 3
        if tag & 7 != _LENGTH_DELIMITED:
            raise ValueError("the game's id is no text")
        size, at = _varint(response, at)
        at += size
    return 0


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
