"""Serves until the process is told to stop."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from opolyx_servicekit.logs import configure_logs
from opolyx_servicekit.server import run


class Running(Protocol):
    """A server that runs."""

    @property
    def address(self) -> str:
        """Host and port."""
        ...


def serve_until_stopped(
    server: AbstractAsyncContextManager[Running], on_ready: Callable[[str], None]
) -> int:
    """Run `server` until SIGTERM or SIGINT; the process's exit code.

    Args:
        server: not started yet.
        on_ready: told the address once clients may come.
    """
    configure_logs()

    async def main(stop: asyncio.Event) -> None:
        async with server as running:
            on_ready(running.address)
            await stop.wait()

    return run(main)
