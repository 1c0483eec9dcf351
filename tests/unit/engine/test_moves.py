"""Games that others took meanwhile are let go of, also those that are only on their way."""

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from opolyx_engine.arrivals import Arrival, Arrivals
from opolyx_engine.moves import Moves
from opolyx_engine.take_ups import TakeUps
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.tasks import TaskOwner


@dataclass
class Game:
    """One that runs here."""

    epoch: int = 1
    running: bool = True
    lost: bool = False

    def let_go(self) -> None:
        self.lost = True


@dataclass
class Places:
    """Where the games are."""

    running: dict[str, Game] = field(default_factory=dict)
    absent: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(forget=lambda _: None))

    def here(self) -> list[str]:
        return list(self.running)

    def take_out(self, game: Game) -> None:
        self.running = {known: each for known, each in self.running.items() if each is not game}


class Store:
    """All games are somebody else's."""

    async def game(self, game_id: str) -> object:
        return object()


async def test_a_game_that_comes_while_it_is_looked_for_is_looked_at_too() -> None:
    """It was claimed before this replica stood still, and another took it then."""
    places, game, may_come = Places(), Game(), asyncio.Event()

    async def bring(arrival: Arrival) -> ServiceError | None:
        await may_come.wait()
        places.running["g"] = game
        return None

    async with TaskOwner("test") as tasks:
        arrivals = Arrivals(tasks, 1)
        moves = Moves(
            SimpleNamespace(store=Store()),  # type: ignore[arg-type]
            places,  # type: ignore[arg-type]
            SimpleNamespace(arrivals=arrivals),  # type: ignore[arg-type]
            SimpleNamespace(is_mine=lambda stored, epoch: False),  # type: ignore[arg-type]
        )
        arrivals.begin("g", bring)
        making_sure = asyncio.create_task(moves.make_sure())
        await asyncio.sleep(0)
        may_come.set()
        await making_sure
    assert game.lost
    assert {} == places.running


async def test_a_game_whose_taking_up_crashes_keeps_no_other_waiting() -> None:
    class CrashingStore:
        async def game(self, game_id: str) -> None:
            raise ZeroDivisionError

    async with TaskOwner("test") as tasks:
        tools = SimpleNamespace(
            store=CrashingStore(),
            tasks=tasks,
            settings=SimpleNamespace(drain_retry_ms=1, store_retry_ms=1),
        )
        places = SimpleNamespace(running={}, absent=SimpleNamespace(held={}))
        take_ups = TakeUps(tools, places, SimpleNamespace())  # type: ignore[arg-type]
        assert not await take_ups.took_up("g")
        with pytest.raises(ZeroDivisionError):
            await take_ups.hand("g", lambda game: None)
