"""The asynchronous client: accounts, rooms, games and profiles of one server."""

import asyncio
from types import TracebackType
from typing import Self

from opolyx_sdk._stream import GameStream
from opolyx_sdk._transport.channel import Transport, check_loop
from opolyx_sdk._transport.engine_calls import EngineCalls
from opolyx_sdk._transport.identity_calls import IdentityCalls
from opolyx_sdk._transport.oversight_calls import OversightCalls
from opolyx_sdk._transport.progression_calls import ProgressionCalls
from opolyx_sdk._transport.room_calls import RoomCalls
from opolyx_sdk.game import Game
from opolyx_sdk.options import ClientOptions


class AsyncClient(IdentityCalls, RoomCalls, EngineCalls, ProgressionCalls, OversightCalls):
    """A client of one server that acts for one account.

    Making one does nothing: it connects when it is first used, to the loop that uses it, and can be
    used by several loops one after another. All its games share one stream. Its token is renewed
    before it expires.

    Every call raises `RequestError` when the server answers with a failure, and `ConnectionLost`
    when none answers; calls that are safe to repeat are repeated before.

    ```python
    async with AsyncClient("localhost:7443") as client:
        await client.create_guest("Ada")
        room = await client.create_room("classic@full", seats=4)
    ```
    """

    def __init__(
        self, address: str, *, token: str | None = None, options: ClientOptions | None = None
    ) -> None:
        """Describe the server.

        Args:
            address: host and port.
            token: a JWT to act with; `create_guest` gets one.
            options: times and limits, TLS.

        Raises:
            ValueError: the token holds a character that no token can have.
        """
        super().__init__(Transport(address, options or ClientOptions(), token))
        self._stream: GameStream | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        """The address; never the token."""
        return f"AsyncClient({self._transport.address!r})"

    async def __aenter__(self) -> Self:
        """Nothing is opened yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        await self.close()

    @property
    def address(self) -> str:
        """Host and port of the server."""
        return self._transport.address

    async def connect(self, timeout_s: float = 10.0) -> None:
        """Connect now, so that a dead server is noticed at once.

        Raises:
            ConnectionLost: nobody answers within `timeout_s` seconds.
        """
        await self._transport.wait_ready(timeout_s)

    async def close(self) -> None:
        """End all games, calls and streams with `ConnectionLost`. The client may be used again."""
        stream, self._stream = self._stream, None
        loop, self._loop = self._loop, None
        if stream is not None and loop is asyncio.get_running_loop():
            await stream.close()
        await self._transport.close()

    def play(self, game_id: str) -> Game:
        """A game to act in, as an async context."""
        return Game(game_id, self._games, self, spectator=False)

    def watch(self, game_id: str) -> Game:
        """A game to watch without acting, as an async context."""
        return Game(game_id, self._games, self, spectator=True)

    def _games(self) -> GameStream:
        """The stream of the running loop.

        Raises:
            WrongLoop: another loop that is still running uses the client.
        """
        loop = asyncio.get_running_loop()
        if self._stream is None or self._loop is not loop:
            check_loop(self._loop, loop)
            self._loop = loop
            self._stream = GameStream(self._transport)
        return self._stream
