"""A limit on how long a bot may think, kept without a thread: the system's timer interrupts it.

The timer isn't set for each answer, because that costs more than most answers. It goes on by itself;
when it rings, a job that has time left is given exactly that.
"""

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self, TypeVar

T = TypeVar("T")


class OutOfTime(BaseException):
    """A bot thinks for too long. No `Exception`, so that a bot that catches those can't stop it."""


class Budget:
    """Lets jobs run for so long at most. A context, because the timer is the whole process's.

    Only the main thread of a system with interval timers can be interrupted; elsewhere a job that
    took too long is found out when it ends. So is one that swallows the interruption, which comes
    again and again; only a job that swallows each and never ends isn't stopped.
    """

    def __init__(self, seconds: float | None) -> None:
        """Allow each job `seconds`; None is no limit."""
        self._seconds = seconds
        self._armed = False
        self._rang = False
        self._started = 0.0
        self._interrupts = (
            seconds is not None
            and hasattr(signal, "setitimer")
            and threading.current_thread() is threading.main_thread()
        )
        self._entered = 0.0
        self._before: tuple[float, float] = (0.0, 0.0)
        self._handler: object = None

    def __enter__(self) -> Self:
        """Take over the timer, if there is something to limit."""
        if self._interrupts:
            self._entered = time.monotonic()
            self._handler = signal.signal(signal.SIGALRM, self._ring)
            self._before = signal.setitimer(signal.ITIMER_REAL, *self._rhythm())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the timer back to who had it, with the time that has gone by taken off."""
        if not self._interrupts:
            return
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler)  # type: ignore[arg-type]
        left, interval = self._before
        if left:
            gone = time.monotonic() - self._entered
            signal.setitimer(signal.ITIMER_REAL, max(left - gone, 0.001), interval)

    def run(self, job: Callable[[], T]) -> T:
        """The job's result.

        Raises:
            OutOfTime: it took too long.
        """
        if self._seconds is None:
            return job()
        if self._interrupts:
            return self._interrupted(job)
        started = time.monotonic()
        result = job()
        if time.monotonic() - started > self._seconds:
            raise OutOfTime
        return result

    def _interrupted(self, job: Callable[[], T]) -> T:
        self._started, self._rang, self._armed = time.monotonic(), False, True
        try:
            result = job()
        finally:
            self._armed = False
        if self._rang:
            raise OutOfTime
        if time.monotonic() - self._started > self._rhythm()[0]:  # the job has taken the timer away
            signal.setitimer(signal.ITIMER_REAL, *self._rhythm())
            raise OutOfTime
        return result

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if not self._armed:
            return
        left = self._rhythm()[0] - (time.monotonic() - self._started)
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001), self._rhythm()[1])
            return
        self._rang = True
        raise OutOfTime

    def _rhythm(self) -> tuple[float, float]:
        """When the timer rings first, and how often from then on."""
        seconds = self._seconds or 0.0
        return seconds, seconds
