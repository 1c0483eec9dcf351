"""A limit on how long a bot may think, kept without a thread: the system's timer interrupts it."""

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
            self._before = signal.setitimer(signal.ITIMER_REAL, 0)
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
            return self._interrupted(job, self._seconds)
        started = time.monotonic()
        result = job()
        if time.monotonic() - started > self._seconds:
            raise OutOfTime
        return result

    def _interrupted(self, job: Callable[[], T], seconds: float) -> T:
        self._armed, self._rang = True, False
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
        try:
            result = job()
        finally:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        if self._rang:
            raise OutOfTime
        return result

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self._armed:
            self._rang = True
            raise OutOfTime
