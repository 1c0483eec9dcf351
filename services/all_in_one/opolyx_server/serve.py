"""Serves until the process is told to stop."""

import asyncio
from collections.abc import Callable

from opolyx_server.embedded import EmbeddedServer
from opolyx_servicekit.logs import configure_logs
from opolyx_servicekit.server import run


def serve_until_stopped(server: EmbeddedServer, on_ready: Callable[[str], None]) -> int:
    """Run `server` until SIGTERM or SIGINT; the process's exit code.

    Args:
        server: not started yet.
        on_ready: told the address once clients may come.
    """
    configure_logs()

    async def main(stop: asyncio.Event) -> None:
        async with server:
            on_ready(server.address)
            await stop.wait()

    return run(main)
