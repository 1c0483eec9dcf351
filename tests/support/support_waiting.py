"""Waiting for what nothing tells: for tests whose store or network works in real time."""

import asyncio
from collections.abc import Callable

_LOOKS = 2_000
_LOOK_SECONDS = 0.005


async def until(condition: Callable[[], object]) -> None:
    """Return as soon as something is so; AssertionError if it doesn't become so."""
    for _ in range(_LOOKS):
        if condition():
            return
        await asyncio.sleep(_LOOK_SECONDS)
    raise AssertionError("it did not get so")
