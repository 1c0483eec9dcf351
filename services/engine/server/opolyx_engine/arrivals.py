"""Games on their way out of the store: one load for all who ask, and who waits for it."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import structlog

from opolyx_engine.errors import store_unavailable
from opolyx_engine.game_actor import GameActor
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.tasks import TaskOwner

_log = structlog.get_logger(__name__)

Deliver = Callable[[GameActor], None]


class Arrival:
    """One game on its way, and who waits for it."""

    __slots__ = ("task", "waiting")

    def __init__(self) -> None:
        """Nobody waits yet."""
        self.waiting: list[Deliver] = []
        """Called with the game as soon as it is there, before its clock acts."""
        self.task: asyncio.Task[ServiceError | None]
        """Ends with why there is no game."""


Bring = Callable[[Arrival], Coroutine[Any, Any, ServiceError | None]]


class Arrivals:
    """The games on their way, by id."""

    def __init__(self, tasks: TaskOwner, retry_ms: int) -> None:
        """None yet; `tasks` owns the work, `retry_ms` is when to come again once it is closed."""
        self._tasks = tasks
        self._retry_ms = retry_ms
        self._coming: dict[str, Arrival] = {}

    def __contains__(self, game_id: object) -> bool:
        """Whether the game is on its way."""
        return game_id in self._coming

    def find(self, game_id: str) -> Arrival | None:
        """The game on its way."""
        return self._coming.get(game_id)

    def begin(self, game_id: str, bring: Bring) -> Arrival:
        """What is under way for the game, or else what `bring` does.

        Raises:
            Unavailable: the server goes away.
        """
        if arrival := self._coming.get(game_id):
            return arrival
        arrival = Arrival()
        try:
            arrival.task = self._tasks.start(
                self._brought(game_id, arrival, bring), name=f"load {game_id[:64]}"
            )
        except RuntimeError:
            raise store_unavailable(self._retry_ms) from None
        self._coming[game_id] = arrival
        return arrival

    async def wait_for_all(self, longest_s: float) -> bool:
        """Return once all that is on its way now is there, or isn't to be had; False if it isn't yet."""
        tasks = [arrival.task for arrival in self._coming.values()]
        return not tasks or not (await asyncio.wait(tasks, timeout=longest_s))[1]

    async def wait(self, arrival: Arrival) -> None:
        """Return once the game is there; nobody's cancellation keeps the others from it.

        Raises:
            ServiceError: there is none.
        """
        error = await asyncio.shield(arrival.task)
        if error is not None:
            raise error

    async def _brought(self, game_id: str, arrival: Arrival, bring: Bring) -> ServiceError | None:
        try:
            return await bring(arrival)
        except ServiceError as error:
            return error
        finally:
            del self._coming[game_id]


def deliver_all(game: GameActor, waiting: Iterable[Deliver]) -> None:
    """Hand the game to all who waited for it."""
    for deliver in waiting:
        try:
            deliver(game)
        except Exception:  # who asked is at fault, not the game
            _log.exception("delivery_failed", game_id=game.game_id)
