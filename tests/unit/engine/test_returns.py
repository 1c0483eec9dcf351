"""Games that come back without being asked for."""

import asyncio

import pytest

from opolyx_engine.returns import Returns
from opolyx_servicekit.tasks import TaskOwner


class Away:
    """A store that is away for some tries."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.tries: list[str] = []

    async def take_up(self, game_id: str) -> bool:
        self.tries.append(game_id)
        self.failures -= 1
        return self.failures < 0


async def settled(returns: Returns) -> None:
    async with asyncio.timeout(5):
        while returns.coming:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_a_game_is_tried_until_it_is_taken_up() -> None:
    away = Away(failures=3)
    async with TaskOwner("test") as tasks:
        returns = Returns(away.take_up, tasks, 0.001)
        returns.now("g_1")
        assert ["g_1"] == list(returns.coming)
        await settled(returns)
        assert ["g_1"] * 4 == away.tries


async def test_a_game_is_tried_by_one_task_at_a_time_and_sooner_if_it_is_due() -> None:
    away = Away(failures=0)
    async with TaskOwner("test") as tasks:
        returns = Returns(away.take_up, tasks, 3_600)
        returns.later("g_1")
        returns.moved("g_1")
        await asyncio.sleep(0)
        assert ([], 1) == (away.tries, len(tasks))
        returns.now("g_1")
        await settled(returns)
        assert ["g_1"] == away.tries


async def test_the_oftener_a_game_moves_the_later_it_is_taken_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []

    def noted(returns: Returns, game_id: str, wait_s: float) -> None:
        waits.append(wait_s)

    monkeypatch.setattr(Returns, "_start", noted)
    async with TaskOwner("test") as tasks:
        returns = Returns(Away(0).take_up, tasks, 0.1)
        for _ in range(20):
            returns.moved("g_1")
        assert all(later > sooner for sooner, later in zip(waits, waits[2:9], strict=False))
        assert max(waits) <= 30
        returns.forget("g_1")
        returns.moved("g_1")
        assert waits[-1] <= 0.1


async def test_nothing_is_taken_up_once_the_server_goes_away() -> None:
    away = Away(failures=0)
    tasks = TaskOwner("test")
    returns = Returns(away.take_up, tasks, 0.001)
    await tasks.close()
    returns.now("g_1")
    assert not returns.coming
