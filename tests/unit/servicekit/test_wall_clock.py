"""The clock that tests move by hand, and the system's."""

import asyncio

from opolyx_servicekit.wall_clock import Clock, ManualClock, SystemClock


async def test_advance_wakes_sleepers_in_the_order_of_their_deadlines() -> None:
    clock = ManualClock(1_000)
    woken: list[tuple[str, int]] = []

    async def sleep(name: str, until_ms: int) -> None:
        await clock.sleep_until(until_ms)
        woken.append((name, clock.now_ms()))

    async with asyncio.TaskGroup() as tasks:
        for name, until_ms in (("late", 1_300), ("early", 1_100), ("middle", 1_200)):
            tasks.create_task(sleep(name, until_ms))
        await clock.advance(250)
        assert woken == [("early", 1_100), ("middle", 1_200)]
        assert clock.sleepers == 1
        await clock.advance(50)

    assert woken[-1] == ("late", 1_300)


async def test_a_sleeper_that_sleeps_again_wakes_in_the_same_advance() -> None:
    clock = ManualClock(0)
    ticks: list[int] = []

    async def tick() -> None:
        for number in range(1, 6):
            await clock.sleep_until(number * 10)
            ticks.append(clock.now_ms())

    task = asyncio.create_task(tick())
    await clock.advance(50)

    assert ticks == [10, 20, 30, 40, 50]
    await task


async def test_the_past_is_no_wait_and_a_cancelled_sleeper_is_forgotten() -> None:
    clock = ManualClock(100)
    await clock.sleep_until(100)
    task = asyncio.create_task(clock.sleep_until(200))
    await asyncio.sleep(0)
    assert clock.sleepers == 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    await clock.advance(500)

    assert clock.sleepers == 0
    assert clock.now_ms() == 600
    assert clock.monotonic() == 0.5


async def test_the_system_clock_never_returns_early() -> None:
    clock: Clock = SystemClock()
    until_ms = clock.now_ms() + 3
    before = clock.monotonic()

    await clock.sleep_until(until_ms)

    assert clock.now_ms() >= until_ms
    assert clock.monotonic() > before
