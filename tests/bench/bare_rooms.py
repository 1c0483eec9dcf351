"""The ceiling of the room benchmarks: bare grpc.aio that sends the same messages and does no more.

A command is answered and a recorded update of a real game is sent to all four seats; there are no
rules, no store, no tokens and no metrics. What waits for a stream is joined into one write, as the
engine does it. Run as a child: `python bare_rooms.py FILE`, the updates' file being lines of hex.
"""

import asyncio
import json
import resource
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final, Self

import grpc

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_servicekit.server import run, server_options
from opolyx_servicekit.settings import ServiceSettings

_START_SECONDS: Final = 30.0


class BareServer:
    """The bare server, started as a child. Use as a context."""

    def __init__(self, file: Path) -> None:
        """Play the updates of `file`."""
        self._file = file
        self._child: asyncio.subprocess.Process | None = None
        self.port = 0

    async def cpu_s(self) -> float:
        """Processor time that it has taken, seconds."""
        assert self._child is not None
        assert self._child.stdin is not None
        self._child.stdin.write(b"look\n")
        return float(json.loads(await self._line()))

    async def __aenter__(self) -> Self:
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            __file__,
            self._file,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self.port = int(await self._line())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._child is not None
        self._child.kill()
        await self._child.wait()

    async def _line(self) -> bytes:
        assert self._child is not None
        assert self._child.stdout is not None
        line = await asyncio.wait_for(self._child.stdout.readline(), _START_SECONDS)
        assert line, "the bare server has ended"
        return line


class _Rooms:
    """Every room is at some update of the one recorded game, and begins again at its end."""

    def __init__(self, updates: list[bytes]) -> None:
        self._updates = updates
        self._at: defaultdict[str, int] = defaultdict(int)
        self._streams: defaultdict[str, list[_Outgoing]] = defaultdict(list)

    async def play(self, requests: AsyncIterator[pb.PlayRequest], context: Any) -> None:
        outgoing = _Outgoing()
        reader = asyncio.create_task(self._read(requests, outgoing))
        try:
            while True:
                await context.write(await outgoing.take())
        finally:
            reader.cancel()

    async def _read(self, requests: AsyncIterator[pb.PlayRequest], outgoing: "_Outgoing") -> None:
        async for request in requests:
            if request.HasField("attach"):
                game_id = request.attach.game_id
                self._streams[game_id].append(outgoing)
                update = pb.Update.FromString(self._updates[0])
                snapshot = pb.Snapshot(decisions=update.decisions)
                frame = pb.Frame(game_id=game_id, snapshot=snapshot)
                outgoing.put(pb.PlayResponse(frames=[frame]).SerializeToString())
            else:
                self._step(request.command, outgoing)

    def _step(self, command: pb.Command, outgoing: "_Outgoing") -> None:
        game_id = command.game_id
        self._at[game_id] = (self._at[game_id] + 1) % len(self._updates)
        update = pb.Update.FromString(self._updates[self._at[game_id]])
        result = pb.CommandResult(
            command_id=command.command_id, accepted=pb.Accepted(seq=update.seq)
        )
        shown = pb.PlayResponse(frames=[pb.Frame(game_id=game_id, update=update)])
        joined = shown.SerializeToString()
        for stream in self._streams[game_id]:
            stream.put(joined)
        answer = pb.PlayResponse(frames=[pb.Frame(game_id=game_id, command_result=result)])
        outgoing.put(answer.SerializeToString())


class _Outgoing:
    """What waits for one stream; its length is bounded by the rooms that play on it."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._filled = asyncio.Event()

    def put(self, frames: bytes) -> None:
        self._waiting.append(frames)
        self._filled.set()

    async def take(self) -> bytes:
        await self._filled.wait()
        self._filled.clear()
        joined = b"".join(self._waiting)
        self._waiting.clear()
        return joined


async def _serve(updates: list[bytes]) -> None:
    rooms = _Rooms(updates)
    server = grpc.aio.server(options=server_options(ServiceSettings()))
    handler = grpc.stream_stream_rpc_method_handler(
        rooms.play,
        request_deserializer=pb.PlayRequest.FromString,
        response_serializer=lambda frames: frames,
    )
    name = pb.DESCRIPTOR.services_by_name["EngineService"].full_name
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(name, {"Play": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    _tell(port)
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        used = resource.getrusage(resource.RUSAGE_SELF)
        _tell(used.ru_utime + used.ru_stime)
    await server.stop(None)


def _tell(what: float) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    recorded = [bytes.fromhex(line) for line in Path(sys.argv[1]).read_text().split()]
    sys.exit(run(lambda _: _serve(recorded)))
