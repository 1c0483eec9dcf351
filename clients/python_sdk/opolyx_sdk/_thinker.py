"""A thread that lets a bot think, and can be left behind when it thinks for too long."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

T = TypeVar("T")

_Job = Callable[[], None]


class Thinker:
    """Runs a bot's methods in one daemon thread, one after another. Belongs to one loop.

    A daemon, because a bot that never returns must not keep the process alive; and no more than
    one job waits, because the owner awaits each.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="opolyx-bot", daemon=True)
        self._thread.start()

    async def think(self, job: Callable[[], T], budget_s: float | None) -> T:
        """The job's result.

        Raises:
            TimeoutError: it is not there after `budget_s` seconds; this thinker is of no more use.
        """
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                value = job()
            except BaseException as error:  # handed to who awaits
                _tell(loop, partial(_fail, result, _raisable(error)))
            else:
                _tell(loop, partial(_succeed, result, value))

        self._jobs.put(run)
        async with asyncio.timeout(budget_s):
            return await result

    def close(self) -> None:
        """Let the thread end after its job."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _succeed(result: "asyncio.Future[T]", value: T) -> None:
    if not result.done():
        result.set_result(value)


def _fail(result: "asyncio.Future[T]", error: BaseException) -> None:
    if not result.done():
        result.set_exception(error)


def _raisable(error: BaseException) -> BaseException:
    """The error, or what stands for one that means something else to whoever awaits.

    A future can't raise StopIteration, which a `next` without a default raises, and a cancellation
    would look like the owner's own.
    """
    if not isinstance(error, StopIteration | asyncio.CancelledError):
        return error
    stand_in = RuntimeError(f"raised {type(error).__name__}")
    stand_in.__cause__ = error
    return stand_in


def _tell(loop: asyncio.AbstractEventLoop, tell: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(tell)
