"""Serves until the process is told to stop."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from opolyx_server.premises import CannotGoOn
from opolyx_servicekit.logs import configure_logs
from opolyx_servicekit.server import run
from opolyx_servicekit.tasks import TaskOwner


class Running(Protocol):
    """A server that runs."""

    @property
    def address(self) -> str:
        """Host and port."""
        ...

    async def until_lost(self) -> None:
        """Wait until it must end because another server took over, which may never be."""
        ...


def serve_until_stopped(
    server: AbstractAsyncContextManager[Running], on_ready: Callable[[str], None]
) -> int:
    """Run `server` until SIGTERM or SIGINT; the process's exit code.

    Args:
        server: not started yet.
        on_ready: told the address once clients may come.

    Raises:
        CannotGoOn: another server took over.
    """
    configure_logs()

    async def main(stop: asyncio.Event) -> None:
        async with server as running:
            on_ready(running.address)
            async with TaskOwner("serve") as tasks:
                stopped = tasks.start(stop.wait(), name="stop")
                lost = tasks.start(running.until_lost(), name="lost")
                await asyncio.wait((stopped, lost), return_when=asyncio.FIRST_COMPLETED)
                if lost.done():
                    raise CannotGoOn("another server took over, while this one stood still")

    return run(main)
