"""An engine in a process of its own that tells what it holds: streams, receivers, tasks, memory."""

import asyncio
import gc
import json
import os
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from opolyx_servicekit.logs import configure_logs
from opolyx_servicekit.server import run
from opolyx_servicekit.tokens import TokenSigner

_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Look:
    """What an engine's process holds at a moment."""

    streams: int
    """Streams that are open."""

    receivers: int
    """Subscriptions of all running games."""

    games: int
    """Games that run."""

    tasks: int
    """Tasks of the event loop."""

    memory_kib: int
    """Resident memory, KiB."""

    cpu_s: float
    """Processor time since the start, seconds."""

    at_s: float
    """When, on a clock that only rises, seconds."""


class ObservedEngine:
    """The engine, started as a child. Use as a context."""

    command: tuple[str, ...] = (__file__,)
    """What Python runs; the directory and the settings follow it."""

    def __init__(self, directory: Path, **settings: Any) -> None:
        """Run on the file in `directory` with these settings."""
        self._directory = directory
        self._settings = settings
        self._child: asyncio.subprocess.Process | None = None
        self.port = 0

    def token(self, subject: str, role: str = "player") -> str:
        """A token that the engine accepts."""
        signer = TokenSigner(self._directory / "keys.json")
        return signer.sign(subject=subject, role=role, ttl_seconds=3600)

    async def look(self, *, collect: bool = True) -> Look:
        """What it holds now, without garbage unless that is not to be collected."""
        assert self._child is not None
        assert self._child.stdin is not None
        self._child.stdin.write(b"collect\n" if collect else b"look\n")
        return Look(**json.loads(await self._line()))

    async def settled(self, most_tasks: int, seconds: float = 5.0) -> Look:
        """What it holds once no stream is open and at most `most_tasks` run.

        Raises:
            TimeoutError: that didn't come within `seconds`.
        """
        async with asyncio.timeout(seconds):
            while True:
                found = await self.look()
                if not found.streams and not found.receivers and found.tasks <= most_tasks:
                    return found
                await asyncio.sleep(0.1)

    async def __aenter__(self) -> Self:
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            *self.command,
            self._directory,
            json.dumps(self._settings),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self.port = int(await self._line())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._child is not None
        assert self._child.stdin is not None
        self._child.stdin.close()
        try:
            await asyncio.wait_for(self._child.wait(), 30)
        except TimeoutError:
            self._child.kill()
            await self._child.wait()

    async def _line(self) -> bytes:
        assert self._child is not None
        assert self._child.stdout is not None
        line = await asyncio.wait_for(self._child.stdout.readline(), _START_SECONDS)
        assert line, "the engine's process has ended"
        return line


async def observe(directory: Path, settings: dict[str, Any]) -> None:
    """Serve until the standard input ends; answer each of its lines with a look."""
    from support_engine import running_engine

    configure_logs(level="error")  # the standard output is for looks
    async with running_engine(directory, **settings) as engine:
        _tell(engine.port)
        loop = asyncio.get_running_loop()
        lines = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while line := await lines.readline():
            if line == b"collect\n":
                gc.collect()
            games = engine.service.registry.running()
            used = resource.getrusage(resource.RUSAGE_SELF)
            found = Look(
                streams=len(engine.service.streams),
                receivers=sum(len(game.hub) for game in games),
                games=len(games),
                tasks=len(asyncio.all_tasks()),
                memory_kib=_resident_kib(),
                cpu_s=used.ru_utime + used.ru_stime,
                at_s=time.monotonic(),
            )
            _tell(asdict(found))


def _tell(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def _resident_kib() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


if __name__ == "__main__":
    run(lambda _: observe(Path(sys.argv[1]), json.loads(sys.argv[2])))
