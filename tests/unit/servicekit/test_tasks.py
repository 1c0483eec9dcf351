"""Tasks have an owner."""

import asyncio

import pytest
import structlog
from structlog.testing import capture_logs

from opolyx_servicekit.access import Principal, current_principal, set_principal
from opolyx_servicekit.errors import Unauthenticated
from opolyx_servicekit.tasks import TaskOwner


async def forever() -> None:
    await asyncio.Event().wait()


async def test_close_cancels_and_awaits_all() -> None:
    cleaned: list[str] = []

    async def work() -> None:
        try:
            await forever()
        finally:
            await asyncio.sleep(0)
            cleaned.append("yes")

    async with TaskOwner("owner") as owner:
        tasks = [owner.start(work(), name=f"t{number}") for number in range(3)]
        await asyncio.sleep(0)
        assert len(owner) == 3

    assert cleaned == ["yes"] * 3
    assert all(task.cancelled() for task in tasks)
    assert len(owner) == 0


async def test_a_task_has_nothing_of_the_call_that_started_it() -> None:
    """It outlives the call: its log lines must not name that caller, nor may it act for it."""
    caller = Principal(subject="p_1", role="player")

    async def work() -> None:
        structlog.get_logger().info("worked")
        with pytest.raises(Unauthenticated):
            current_principal()

    set_principal(caller)
    with (
        structlog.contextvars.bound_contextvars(subject="p_1"),
        capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines,
    ):
        async with TaskOwner("owner") as owner:
            await owner.start(work(), name="t")
    assert [{"event": "worked", "log_level": "info"}] == lines
    assert caller is current_principal()


async def test_a_crash_is_logged_and_the_others_go_on() -> None:
    async def crash() -> None:
        raise LookupError("oops")

    with capture_logs() as lines:
        async with TaskOwner("owner") as owner:
            crashed = owner.start(crash(), name="bad")
            other = owner.start(forever(), name="good")
            await asyncio.wait({crashed})
            await asyncio.sleep(0)
            assert not other.done()

    assert [(line["event"], line["task"]) for line in lines] == [("task_crashed", "bad")]
    assert isinstance(lines[0]["exc_info"], LookupError)


async def test_a_task_that_will_not_stop_is_given_up_and_logged() -> None:
    freed = asyncio.Event()

    async def stubborn() -> None:
        while not freed.is_set():
            try:
                await freed.wait()
            except asyncio.CancelledError:
                continue

    owner = TaskOwner("owner", close_seconds=0.01)
    task = owner.start(stubborn(), name="stubborn")
    await asyncio.sleep(0)
    with capture_logs() as lines:
        await owner.close()
    freed.set()
    await task

    assert [(line["event"], line["task"]) for line in lines] == [("task_stuck", "stubborn")]


async def test_a_task_may_close_its_owner() -> None:
    owner = TaskOwner("owner")
    other = owner.start(forever(), name="other")

    await owner.start(owner.close(), name="closer")

    assert other.cancelled()


async def test_nothing_starts_once_closed() -> None:
    owner = TaskOwner("owner")
    await owner.close()

    with pytest.raises(RuntimeError, match="owner is closed"):
        owner.start(forever(), name="late")
