"""Background tasks with an owner: crashes are logged, and none outlives its owner."""

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from types import TracebackType
from typing import Any, Self, TypeVar

import structlog

_log = structlog.get_logger(__name__)

T = TypeVar("T")


class TaskOwner:
    """Owns tasks until they end, and ends them all when it is closed."""

    def __init__(self, name: str, *, close_seconds: float = 5.0) -> None:
        """Own nothing yet.

        Args:
            name: for logs.
            close_seconds: how long `close` waits for cancelled tasks to clean up.
        """
        self._name = name
        self._close_seconds = close_seconds
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def __len__(self) -> int:
        """How many tasks run."""
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        """Run `work` in a task that this owner keeps; if it raises, that is logged.

        It begins with an empty context: whoever calls now is not who works then.

        Raises:
            RuntimeError: the owner is closed; `work` isn't run.
        """
        if self._closed:
            work.close()
            raise RuntimeError(f"{self._name} is closed, {name} can't start")
        task = asyncio.get_running_loop().create_task(work, name=name, context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("task_crashed", owner=self._name, task=task.get_name(), exc_info=error)

    async def close(self) -> None:
        """Cancel all tasks and wait for them, within the limit; those left are logged.

        May be called by one of the tasks, which is then not cancelled.
        """
        self._closed = True
        others = self._tasks - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if not others:
            return
        _, stuck = await asyncio.wait(others, timeout=self._close_seconds)
        for task in stuck:
            _log.error("task_stuck", owner=self._name, task=task.get_name())

    async def __aenter__(self) -> Self:
        """The owner itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        await self.close()
