"""A game that a blocking client plays or watches."""

from collections.abc import Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from opolyx_sdk.actions import Action, ProposeTrade
from opolyx_sdk.decisions import Decision, TradeVerdict
from opolyx_sdk.enums import GameState
from opolyx_sdk.game import Game
from opolyx_sdk.updates import GameInfo, Update
from opolyx_sdk.views import GameView

T = TypeVar("T")


class Runs(Protocol):
    """Does asynchronous work and waits for it."""

    def __call__(self, work: Coroutine[Any, Any, T]) -> T:
        """The work's result."""
        ...


class SyncGame:
    """As `Game`, blocking. Use as a context; iterate over its updates."""

    def __init__(self, make: Callable[[], Game], run: Runs) -> None:
        """Made by `Client.play` and `Client.watch`."""
        self._make = make
        self._run = run
        self._game: Game | None = None

    def __enter__(self) -> Self:
        """Begin to receive the game."""
        self._game = self._run(self._open())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop receiving the game."""
        self._run(self._opened.__aexit__(None, None, None))

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
    def current(self) -> Update:
        """The game as it is now, as an update without events."""
        return self._opened.current

    @property
    def state(self) -> GameState:
        """Whether the game is running, finished or void."""
        return self._opened.state

    @property
    def log_digest(self) -> bytes:
        """Running digest of the game's log."""
        return self._opened.log_digest

    @property
    def connected(self) -> bool:
        """Whether the server is heard now."""
        return self._opened.connected

    @property
    def connected_seats(self) -> tuple[int, ...]:
        """Seats that are connected now."""
        return self._opened.connected_seats

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All open decisions, of all seats."""
        return self._opened.decisions

    @property
    def own_decisions(self) -> tuple[Decision, ...]:
        """The open decisions of the caller's seat."""
        return self._opened.own_decisions

    @property
    def over(self) -> bool:
        """Whether the game has no further updates."""
        return self._opened.over

    @property
    def decision(self) -> Decision | None:
        """What is awaited from the caller's seat, if anything."""
        return self._opened.decision

    def submit(
        self, action: Action, *, decision: Decision | None = None, command_id: str | None = None
    ) -> int:
        """As `Game.submit`."""
        return self._run(self._opened.submit(action, decision=decision, command_id=command_id))

    def check_trade(self, trade: ProposeTrade) -> TradeVerdict:
        """As `Game.check_trade`."""
        return self._run(self._opened.check_trade(trade))

    def __iter__(self) -> Iterator[Update]:
        """The coming updates, until the game is over."""
        while (update := self._run(self._next())) is not None:
            yield update

    async def _open(self) -> Game:
        """A game belongs to the loop that makes it."""
        return await self._make().__aenter__()

    async def _next(self) -> Update | None:
        """A coroutine may not raise StopAsyncIteration across threads."""
        return await anext(self._opened, None)

    @property
    def _opened(self) -> Game:
        if self._game is None:
            raise RuntimeError("the game is not open: use `with`")
        return self._game
