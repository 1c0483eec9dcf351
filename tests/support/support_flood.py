"""A thousand hostile connections: those that stall, those that send halves, those that flood.

Run as a program it is a process of its own, the least urgent of the machine, so that the attacker's
work is neither done by who measures nor at the cost of who is measured.
"""

import asyncio
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from support_flood_talks import FLOODS, STALLS, TALKS, Arms
from support_http2 import PREFACE, SETTINGS, WINDOW_UPDATE, Wire, frame

MIXED: Final = tuple(
    name
    for number, flood in enumerate(FLOODS)
    for name in (*(list(STALLS)[(number + stall) % len(STALLS)] for stall in range(3)), flood)
)
"""Every kind: three quarters stall, a quarter floods."""

_AGAIN_S: Final = 1.0  # after a connection was closed
_LESS_URGENT: Final = 10
_ROOM: Final = 1 << 30


class Flood:
    """So many connections, opened anew whenever the server closes one."""

    def __init__(
        self,
        port: int,
        connections: int,
        talks: Sequence[str] = MIXED,
        tokens: Sequence[str] = (),
        game_id: str = "",
    ) -> None:
        """Attack a port of this machine.

        Args:
            port: the port.
            connections: how many.
            talks: what they do, in turn.
            tokens: good ones, for those kinds that have some, in turn.
            game_id: a game that others play.
        """
        self._port = port
        self._connections = connections
        self._talks = talks
        self._tokens = tokens or ("",)
        self._game_id = game_id
        self.counts: Counter[str] = Counter()
        """Connections opened, closed by the server and open, frames sent, bytes read."""

    async def run(self) -> None:
        """Attack until cancelled."""
        async with asyncio.TaskGroup() as group:
            for number in range(self._connections):
                group.create_task(self._connection(number))

    async def _connection(self, number: int) -> None:
        name = self._talks[number % len(self._talks)]
        token = self._tokens[number % len(self._tokens)]
        arms = Arms(random.Random(number), token, self._game_id)
        await asyncio.sleep(arms.luck.random())
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
            wire = Wire(reader, writer, self.counts, answers=name in FLOODS)
            talking = asyncio.create_task(TALKS[name](wire, arms))
            try:
                await wire.listen()
            except OSError:
                pass
            finally:
                talking.cancel()
                await asyncio.gather(talking, return_exceptions=True)
                writer.close()
                self.counts["open"] -= 1
            self.counts["closed"] += 1
            await asyncio.sleep(_AGAIN_S)


async def sink(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that takes whatever comes and answers nothing: an attack on it costs the attacker."""
    wire = Wire(reader, writer, Counter())
    room = _ROOM.to_bytes(4, "big")
    initial = (4).to_bytes(2, "big") + room
    try:
        await wire.send(frame(SETTINGS, 0, 0, initial) + frame(WINDOW_UPDATE, 0, 0, room))
        await wire.listen(len(PREFACE))
    except OSError:
        pass
    finally:
        writer.close()


class FloodProcess:
    """A flood as a child that gives way to everybody else. Use as a context."""

    def __init__(
        self,
        port: int,
        connections: int,
        talks: Sequence[str] = MIXED,
        tokens: Sequence[str] = (),
        game_id: str = "",
    ) -> None:
        """Attack a port of this machine, or 0 for a sink of its own; see `Flood`."""
        self._arguments = (port, connections, talks, tokens, game_id)
        self._child: asyncio.subprocess.Process | None = None

    async def counts(self) -> dict[str, int]:
        """What it did so far."""
        found: dict[str, int] = await self._ask("look")
        return found

    async def _ask(self, line: str) -> Any:
        assert self._child is not None
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(line.encode() + b"\n")
        return json.loads(await asyncio.wait_for(self._child.stdout.readline(), 90))

    async def __aenter__(self) -> "FloodProcess":
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            __file__,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        await self._ask(json.dumps(self._arguments))
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._child is not None
        self._child.kill()
        await self._child.wait()


async def _main() -> None:
    os.nice(_LESS_URGENT)  # its machine is another one: this one's time is for all others first
    lines = asyncio.StreamReader(limit=1 << 24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    port, *rest = json.loads(await lines.readline())
    if not port:
        server = await asyncio.start_server(sink, "127.0.0.1", 0, backlog=1_000)
        port = server.sockets[0].getsockname()[1]
    attack = Flood(port, *rest)
    running = asyncio.create_task(attack.run())
    _tell({})
    while await lines.readline():
        used = os.times()
        _tell({**attack.counts, "cpu_ms": round((used.user + used.system) * 1000)})
    running.cancel()


def _tell(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_main())
