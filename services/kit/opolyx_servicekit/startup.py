"""A start that waits for what passes: a store that is away for a moment ends no program."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import structlog

from opolyx_servicekit.errors import EnvironmentFault

_log = structlog.get_logger(__name__)

_WAIT_S: Final = 60.0
_PAUSE_S: Final = 0.25

T = TypeVar("T")


async def patiently(step: Callable[[], Awaitable[T]], *, wait_s: float = _WAIT_S) -> T:
    """The result of a step of the start, taken again while the environment fails.

    Args:
        step: may be taken again after it failed.
        wait_s: for how long, seconds.

    Raises:
        EnvironmentFault: the last one, when the time is up.
    """
    clock = asyncio.get_running_loop()
    until = clock.time() + wait_s
    told = False
    while True:
        try:
            return await step()
        except EnvironmentFault as error:
            if clock.time() + _PAUSE_S >= until:
                raise
            if not told:
                _log.warning("start_waits", error=str(error), seconds=wait_s)
            told = True
        await asyncio.sleep(_PAUSE_S)
