"""The whole server as a process of its own, without limits, that tells what it holds."""

import asyncio
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any, Final, Self

_START_SECONDS: Final = 60.0
_NO_LIMITS: Final = {
    "OPOLYX_ENGINE_CALLS_PER_SECOND": "0",
    "OPOLYX_ENGINE_COMMANDS_PER_SECOND": "1000000",
    "OPOLYX_ENGINE_COMMAND_BURST": "1000000",
    "OPOLYX_ENGINE_OTHER_REQUESTS_PER_SECOND": "1000000",
    "OPOLYX_ENGINE_OTHER_REQUEST_BURST": "1000000",
    "OPOLYX_ENGINE_ATTACHES_PER_SECOND": "1000000",
    "OPOLYX_ENGINE_ATTACH_BURST": "1000000",
    "OPOLYX_ENGINE_STREAMS_PER_SECOND": "1000000",
    "OPOLYX_ENGINE_STREAM_BURST": "1000000",
    "OPOLYX_ENGINE_REFUSED_COMMANDS_PER_SECOND": "1000000",
    "OPOLYX_ENGINE_REFUSED_COMMAND_BURST": "1000000",
    "OPOLYX_ENGINE_REFUSED_CALLS_PER_SECOND": "0",
    "OPOLYX_MATCHMAKER_REFUSED_CALLS_PER_SECOND": "0",
    "OPOLYX_PROGRESSION_REFUSED_CALLS_PER_SECOND": "0",
    "OPOLYX_ENGINE_REQUEST_SECONDS": "2",
    "OPOLYX_MATCHMAKER_GUESTS_PER_MINUTE": "0",
    "OPOLYX_MATCHMAKER_TOKENS_PER_MINUTE": "0",
    "OPOLYX_MATCHMAKER_ROOMS_PER_MINUTE": "0",
    "OPOLYX_MATCHMAKER_SEARCHES_PER_MINUTE": "0",
    "OPOLYX_MATCHMAKER_WRONG_CODES_PER_MINUTE": "0",
    "OPOLYX_MATCHMAKER_REVOCATIONS_PER_MINUTE": "0",
    "OPOLYX_MATCHMAKER_OFFER_MESSAGES_PER_MINUTE": "0",
}
"""A limit would refuse most inputs before anybody looks at them."""


class FuzzedServer:
    """Starts `opolyx serve`'s server as a child, on a data directory. Use as a context."""

    def __init__(self, directory: Path) -> None:
        """Keep everything in `directory`; what it logs goes to `directory`/log."""
        self.directory = directory
        self.address = ""
        self._child: asyncio.subprocess.Process | None = None

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._child is not None and self._child.returncode is None

    async def memory_kib(self) -> int:
        """Its resident memory without garbage, KiB."""
        assert self._child is not None
        assert self._child.stdin is not None
        self._child.stdin.write(b"look\n")
        return int(json.loads(await self._line())["memory_kib"])

    def log(self) -> list[dict[str, Any]]:
        """What it logged of bugs: lines of level error or worse, and tracebacks."""
        lines = (self.directory / "log").read_text("utf-8", "replace").splitlines()
        return [_line(line) for line in lines if '"level": "error"' in line or "Traceback" in line]

    async def __aenter__(self) -> Self:
        with (self.directory / "log").open("wb") as log:
            self._child = await asyncio.create_subprocess_exec(
                sys.executable,
                __file__,
                self.directory / "data",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env={**os.environ, **_NO_LIMITS, "GRPC_VERBOSITY": "NONE"},
            )
        self.address = json.loads(await self._line())["address"]
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
        assert line, "the server's process has ended"
        return line


def _line(line: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError:
        return {"event": line}
    return found


async def _serve(directory: Path) -> None:
    """Serve until the standard input ends; answer each of its lines with a look."""
    from opolyx_server.embedded import EmbeddedServer
    from opolyx_servicekit.logs import configure_logs

    configure_logs(form="json", level="info")
    async with EmbeddedServer(directory) as server:
        _tell({"address": server.address})
        lines = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while await lines.readline():
            gc.collect()
            pages = int(Path("/proc/self/statm").read_text().split()[1])  # noqa: ASYNC240
            _tell({"memory_kib": pages * os.sysconf("SC_PAGE_SIZE") // 1024})


def _tell(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
