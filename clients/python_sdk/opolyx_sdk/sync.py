"""The client without asyncio: a facade over `AsyncClient`, whose loop runs in a thread."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from opolyx_sdk.accounts import Account, Login
from opolyx_sdk.actions import Action, ProposeTrade
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.decisions import Decision, TradeVerdict
from opolyx_sdk.game import Game
from opolyx_sdk.matches import CurrentGame
from opolyx_sdk.options import ClientOptions
from opolyx_sdk.profiles import Award, Profile
from opolyx_sdk.rooms import Room, RoomOptions
from opolyx_sdk.updates import GameInfo, Update
from opolyx_sdk.views import GameView

T = TypeVar("T")


class Client:
    """As `AsyncClient`, blocking. May be used by several threads."""

    def __init__(
        self, address: str, *, token: str | None = None, options: ClientOptions | None = None
    ) -> None:
        """As `AsyncClient`."""
        self._client = AsyncClient(address, token=token, options=options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="opolyx-client", daemon=True
        )
        self._thread.start()

    def __repr__(self) -> str:
        """The address; never the token."""
        return f"Client({self._client.address!r})"

    def __enter__(self) -> Self:
        """Nothing is opened yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """End all calls and the thread. The client can't be used again."""
        if self._loop.is_closed():
            return
        self._run(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def connect(self, timeout_s: float = 10.0) -> None:
        """As `AsyncClient.connect`."""
        self._run(self._client.connect(timeout_s))

    def create_guest(self, name: str) -> Login:
        """As `AsyncClient.create_guest`."""
        return self._run(self._client.create_guest(name))

    def who_am_i(self) -> Account:
        """As `AsyncClient.who_am_i`."""
        return self._run(self._client.who_am_i())

    def create_room(
        self,
        ruleset: str,
        seats: int,
        *,
        public: bool = False,
        options: RoomOptions | None = None,
        nonce: bytes = b"",
    ) -> Room:
        """As `AsyncClient.create_room`."""
        return self._run(
            self._client.create_room(ruleset, seats, public=public, options=options, nonce=nonce)
        )

    def join_room(
        self, room_id: str = "", *, code: str = "", nonce: bytes = b""
    ) -> tuple[Room, int]:
        """As `AsyncClient.join_room`."""
        return self._run(self._client.join_room(room_id, code=code, nonce=nonce))

    def get_room(self, room_id: str) -> Room:
        """As `AsyncClient.get_room`."""
        return self._run(self._client.get_room(room_id))

    def list_rooms(self, *, ruleset: str = "", most: int = 50) -> tuple[Room, ...]:
        """As `AsyncClient.list_rooms`."""
        return self._run(self._client.list_rooms(ruleset=ruleset, most=most))

    def leave_room(self, room_id: str) -> None:
        """As `AsyncClient.leave_room`."""
        self._run(self._client.leave_room(room_id))

    def add_bot(
        self, room_id: str, *, policy: str = "", player_id: str = "", seat: int | None = None
    ) -> Room:
        """As `AsyncClient.add_bot`."""
        return self._run(
            self._client.add_bot(room_id, policy=policy, player_id=player_id, seat=seat)
        )

    def start_game(self, room_id: str) -> str:
        """As `AsyncClient.start_game`."""
        return self._run(self._client.start_game(room_id))

    def current_game(self) -> CurrentGame:
        """As `AsyncClient.current_game`."""
        return self._run(self._client.current_game())

    def get_replay(self, game_id: str, path: Path) -> bool:
        """As `AsyncClient.get_replay`."""
        return self._run(self._client.get_replay(game_id, path))

    def profile(self, player_id: str = "") -> Profile:
        """As `AsyncClient.profile`."""
        return self._run(self._client.profile(player_id))

    def awards(self, player_id: str = "", *, game_id: str = "") -> tuple[Award, ...]:
        """As `AsyncClient.awards`."""
        return self._run(self._client.awards(player_id, game_id=game_id))

    def play(self, game_id: str) -> "SyncGame":
        """A game to act in, as a context."""
        return SyncGame(self, game_id, spectator=False)

    def watch(self, game_id: str) -> "SyncGame":
        """A game to watch, as a context."""
        return SyncGame(self, game_id, spectator=True)

    async def _open(self, game_id: str, spectator: bool) -> Game:
        game = self._client.watch(game_id) if spectator else self._client.play(game_id)
        return await game.__aenter__()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` in the loop's thread."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise


class SyncGame:
    """As `Game`, blocking. Use as a context; iterate over its updates."""

    def __init__(self, client: Client, game_id: str, *, spectator: bool) -> None:
        """Made by `Client.play` and `Client.watch`."""
        self._client = client
        self._game_id = game_id
        self._spectator = spectator
        self._game: Game | None = None

    def __enter__(self) -> Self:
        """Begin to receive the game."""
        self._game = self._client._run(self._client._open(self._game_id, self._spectator))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop receiving the game."""
        self._client._run(self._opened.__aexit__(None, None, None))

    @property
    def info(self) -> GameInfo:
        """What stays the same."""
        return self._opened.info

    @property
    def seat(self) -> int | None:
        """The caller's seat."""
        return self._opened.seat

    @property
    def seq(self) -> int:
        """Number of the last update contained."""
        return self._opened.seq

    @property
    def view(self) -> GameView:
        """The public state."""
        return self._opened.view

    @property
    def over(self) -> bool:
        """Whether the game has no further updates."""
        return self._opened.over

    @property
    def decision(self) -> Decision | None:
        """What is awaited from the caller's seat, if anything."""
        return self._opened.decision

    def submit(self, action: Action, *, decision: Decision | None = None) -> int:
        """As `Game.submit`."""
        return self._client._run(self._opened.submit(action, decision=decision))

    def check_trade(self, trade: ProposeTrade) -> TradeVerdict:
        """As `Game.check_trade`."""
        return self._client._run(self._opened.check_trade(trade))

    def __iter__(self) -> Iterator[Update]:
        """The coming updates, until the game is over."""
        while (update := self._client._run(self._next())) is not None:
            yield update

    async def _next(self) -> Update | None:
        """A coroutine may not raise StopAsyncIteration across threads."""
        return await anext(self._opened, None)

    @property
    def _opened(self) -> Game:
        if self._game is None:
            raise RuntimeError("the game is not open: use `with`")
        return self._game
