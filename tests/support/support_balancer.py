"""An address that leads to pods, as a Service's does."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Self

from support_pods import Pod


class Balancer:
    """An address that leads to one of the ready pods, as a Service's; each connection anew."""

    def __init__(self, address: str, port: int, pods: Callable[[], list[Pod]]) -> None:
        """Not open yet."""
        self._address = address
        self._port = port
        self._pods = pods
        self._turns = itertools.count()
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._address, self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        try:
            ready = [pod for pod in self._pods() if pod.ready]
            if not ready:
                return
            pod = ready[next(self._turns) % len(ready)]
            up_reader, up_writer = await asyncio.open_connection(pod.address, self._port)
            try:
                await asyncio.gather(_pump(reader, up_writer), _pump(up_reader, writer))
            finally:
                up_writer.close()
        except OSError:
            pass  # one of the two went away: so does the other
        finally:
            writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
