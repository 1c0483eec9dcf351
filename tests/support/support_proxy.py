"""An unreliable network: a TCP proxy that cuts, swallows and halves what goes through it."""

import asyncio
import contextlib
import random
from collections.abc import Callable
from typing import Self

_CHUNK = 1 << 16


class Link:
    """One connection through the proxy."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self._client = client
        self._server = server
        self.swallows_up = False
        """Whether what the client sends is lost. The client notices nothing."""
        self.swallows_down = False
        """Whether what the server sends is lost."""
        self.halves_next = False
        """Whether only half of the next piece arrives, before the connection is cut."""
        self.downs = 0
        """Bytes that the server sent through."""

    def cut(self) -> None:
        """Reset the connection on both sides, as a router does that lost its tables."""
        self._client.transport.abort()
        self._server.transport.abort()

    async def pump(self, reader: asyncio.StreamReader, *, up: bool) -> None:
        """Carry one direction until an end closes."""
        writer = self._server if up else self._client
        while piece := await reader.read(_CHUNK):
            if not up:
                self.downs += len(piece)
            if self.swallows_up if up else self.swallows_down:
                continue
            if self.halves_next:
                writer.write(piece[: len(piece) // 2])
                await asyncio.sleep(0)
                self.cut()
                return
            writer.write(piece)
            await writer.drain()
        if not (self.swallows_up and self.swallows_down):
            writer.close()  # else not even the end is heard on the other side


class FlakyProxy:
    """Listens on a port of its own and carries to another. Use as a context."""

    def __init__(self, port: int) -> None:
        """Carry to `port` of this machine."""
        self.port = port
        """Where new connections lead."""
        self._links: set[Link] = set()
        self._server: asyncio.Server | None = None
        self.refuses = False
        """Whether new connections are reset at once."""
        self.on_link: Callable[[Link], None] = lambda link: None
        """Told of each new connection."""
        self.accepted = 0
        """How many connections came."""

    @property
    def address(self) -> str:
        """Host and port of the proxy."""
        assert self._server is not None
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    @property
    def links(self) -> list[Link]:
        """The connections that are open."""
        return list(self._links)

    def some_links(self, rng: random.Random, share: float) -> list[Link]:
        """A share of the connections, drawn at random."""
        links = self.links
        return rng.sample(links, round(len(links) * share))

    def cut_all(self) -> None:
        """Reset every connection."""
        for link in self.links:
            link.cut()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=4096)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        while self._links:
            self.cut_all()
            await asyncio.sleep(0.01)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        try:
            if self.refuses:
                raise ConnectionRefusedError
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            writer.transport.abort()
            return
        link = Link(writer, up_writer)
        self._links.add(link)
        self.on_link(link)
        try:
            with contextlib.suppress(OSError):
                await asyncio.gather(link.pump(reader, up=True), link.pump(up_reader, up=False))
        finally:
            link.cut()
            self._links.discard(link)
