"""One sleeping task wakes all games at their due times."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from opolyx_engine.timers import Timers
from opolyx_servicekit.wall_clock import ManualClock


class Game:
    def __init__(self, due_ms: int | None) -> None:
        self.next_due_ms = due_ms
        self.woken_at: list[int] = []
        self.clock: ManualClock | None = None

    def wake(self) -> None:
        assert self.clock is not None
        self.woken_at.append(self.clock.now_ms())
        self.next_due_ms = None


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(0)


@pytest.fixture
async def timers(clock: ManualClock) -> AsyncIterator[Timers]:
    made = Timers(clock)
    task = asyncio.create_task(made.run())
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def watched(timers: Timers, clock: ManualClock, due_ms: int) -> Game:
    game = Game(due_ms)
    game.clock = clock
    timers.watch(game)
    return game


async def test_games_are_woken_when_they_are_due(timers: Timers, clock: ManualClock) -> None:
    late, soon = watched(timers, clock, 500), watched(timers, clock, 100)
    await clock.advance(99)
    assert [] == soon.woken_at
    await clock.advance(1)
    assert ([100], []) == (soon.woken_at, late.woken_at)
    await clock.advance(1_000)
    assert [500] == late.woken_at


async def test_a_deadline_may_move_later_and_earlier(timers: Timers, clock: ManualClock) -> None:
    game = watched(timers, clock, 100)
    game.next_due_ms = 300
    timers.watch(game)
    await clock.advance(200)
    assert [] == game.woken_at
    game.next_due_ms = 250
    timers.watch(game)
    await clock.advance(200)
    assert [250] == game.woken_at


async def test_a_game_without_a_deadline_is_left_alone(timers: Timers, clock: ManualClock) -> None:
    game = watched(timers, clock, 100)
    game.next_due_ms = None
    timers.watch(game)
    await clock.advance(1_000)
    assert [] == game.woken_at


async def test_a_game_can_be_watched_again_after_it_was_woken(
    timers: Timers, clock: ManualClock
) -> None:
    game = watched(timers, clock, 100)
    await clock.advance(100)
    game.next_due_ms = 150
    timers.watch(game)
    await clock.advance(100)
    assert [100, 150] == game.woken_at
