"""Just enough HTTP/2 for raw sockets: frames, headers, and a connection that keeps itself open."""

import asyncio
import struct
from collections import Counter
from collections.abc import Iterator
from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
_HEAD: Final = 9
_WINDOW: Final = 65_535
_INITIAL_WINDOW_SIZE: Final = 4
_SETTING: Final = 6


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """An HTTP/2 frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def headers(path: str, **more: str) -> bytes:
    """The header block of a gRPC call, all of it literal (HPACK without a table)."""
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": path,
        ":authority": "here",
        "content-type": "application/grpc",
        "te": "trailers",
        **more,
    }
    return b"".join(b"\x00" + _text(name) + _text(value) for name, value in fields.items())


def message(data: bytes) -> bytes:
    """A gRPC message, as it stands in DATA frames."""
    return b"\x00" + struct.pack(">I", len(data)) + data


def reset(stream: int) -> bytes:
    """A frame that cancels a call."""
    return frame(RST_STREAM, 0, stream, struct.pack(">I", 8))


def _text(text: str) -> bytes:
    data = text.encode()
    if len(data) < 127:
        return bytes([len(data)]) + data
    rest, length = len(data) - 127, b"\x7f"
    while rest >= 128:
        length += bytes([rest % 128 + 128])
        rest //= 128
    return length + bytes([rest]) + data


class Wire:
    """A connection over which anything may be sent; settings and pings of the peer are answered."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        counts: Counter[str],
        *,
        answers: bool = True,
    ) -> None:
        """Speak over a connection.

        Args:
            reader: what comes.
            writer: what goes.
            counts: counts the frames sent and the bytes read.
            answers: whether the peer's settings and pings are answered.
        """
        self._answers = answers
        self._reader = reader
        self._writer = writer
        self._counts = counts
        self._first_room = _WINDOW
        self._rooms = {0: _WINDOW}
        self._more_room = asyncio.Event()

    async def send(self, data: bytes, frames: int = 1) -> None:
        """Send bytes, which are so many frames."""
        self._counts["frames"] += frames
        self._writer.write(data)
        await self._writer.drain()

    async def open(self, stream: int, block: bytes) -> None:
        """Open a stream to send data on."""
        self._rooms[stream] = self._first_room
        await self.send(frame(HEADERS, END_HEADERS, stream, block))

    async def send_data(self, stream: int, pieces: list[bytes]) -> bool:
        """Send DATA frames once there is room for them; False if the peer has ended the stream."""
        octets = sum(map(len, pieces))
        while stream in self._rooms and min(self._rooms[0], self._rooms[stream]) < octets:
            self._more_room.clear()
            await self._more_room.wait()
        if stream not in self._rooms:
            return False
        self._rooms[0] -= octets
        self._rooms[stream] -= octets
        await self.send(b"".join(frame(DATA, 0, stream, piece) for piece in pieces), len(pieces))
        return True

    async def listen(self, before: int = 0) -> None:
        """Read until the peer closes the connection; `before` are bytes that come before frames."""
        data = b""
        while more := await self._reader.read(65_536):
            self._counts["bytes"] += len(more)
            data += more
            if before:
                skipped = min(before, len(data))
                before, data = before - skipped, data[skipped:]
            at = 0
            for kind, flags, stream, begin, end in _whole_frames(data):
                self._take(kind, flags, stream, data[begin:end])
                at = end
            data = data[at:]

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        answer = b""
        if kind == SETTINGS and not flags & ACK:
            answer = frame(SETTINGS, ACK, 0)
            self._note_settings(payload)
        elif kind == PING and not flags & ACK:
            answer = frame(PING, ACK, 0, payload)
        elif kind == DATA and payload:
            update = struct.pack(">I", len(payload))
            answer = frame(WINDOW_UPDATE, 0, 0, update) + frame(WINDOW_UPDATE, 0, stream, update)
        elif kind == WINDOW_UPDATE and stream in self._rooms:
            self._rooms[stream] += int.from_bytes(payload, "big")
        if kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
            self._rooms.pop(stream, None)
        self._more_room.set()
        if answer and self._answers and not self._writer.is_closing():
            self._writer.write(answer)

    def _note_settings(self, payload: bytes) -> None:
        for at in range(0, len(payload), _SETTING):
            name, value = struct.unpack_from(">HI", payload, at)
            if name == _INITIAL_WINDOW_SIZE:
                change = value - self._first_room
                self._first_room = value
                for stream in self._rooms.keys() - {0}:
                    self._rooms[stream] += change


def _whole_frames(data: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Kind, flags and stream of each frame that is there, with the ends of its payload."""
    at = 0
    while at + _HEAD <= len(data):
        end = at + _HEAD + int.from_bytes(data[at : at + 3], "big")
        if end > len(data):
            return
        kind, flags, stream = struct.unpack_from(">BBI", data, at + 3)
        yield kind, flags, stream & 0x7FFFFFFF, at + _HEAD, end
        at = end
