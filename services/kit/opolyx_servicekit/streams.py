"""Long streams from other services: how they end, and how long to wait before the next attempt."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from typing import Any, Final, TypeVar

import grpc

T = TypeVar("T")

_MOST_DOUBLINGS: Final = 30


class StreamLost(Exception):
    """A stream ended, broke, could not be opened or fell silent; it may be opened anew."""


async def responses(call: Any) -> AsyncGenerator[Any, None]:
    """The responses of a call that answers with a stream; the call ends with this generator.

    Raises:
        StreamLost: whatever ends the call but a cancellation of the task that reads.
    """
    try:
        while (response := await call.read()) is not grpc.aio.EOF:
            yield response
    except grpc.aio.AioRpcError as error:
        raise StreamLost(f"{error.code().name}: {error.details()}") from error
    except asyncio.CancelledError:
        if was_cancelled():
            raise
        # gRPC says so too when the channel was closed or the call was cancelled elsewhere.
        raise StreamLost("the stream was cancelled elsewhere") from None
    finally:
        call.cancel()
    raise StreamLost("the peer ended the stream")


async def heard(items: AsyncGenerator[T, None], quiet_seconds: float) -> AsyncGenerator[T, None]:
    """The items of a stream that must say something at least every `quiet_seconds`.

    Raises:
        StreamLost: it said nothing for so long, or ended.
    """
    try:
        while True:
            # Not wait_for: before Python 3.12 it can swallow a cancellation.
            async with asyncio.timeout(quiet_seconds):
                item = await anext(items)
            yield item
    except TimeoutError:
        raise StreamLost(f"the stream said nothing for {quiet_seconds} s") from None
    except StopAsyncIteration:
        raise StreamLost("the stream ended") from None
    finally:
        await items.aclose()


class BackOff:
    """Waits that double with every failure in a row, each a random half to the whole of that."""

    def __init__(
        self,
        base_seconds: float,
        cap_seconds: float,
        *,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Begin with no failure.

        Args:
            base_seconds: the longest first wait.
            cap_seconds: the longest wait ever.
            jitter: 0 to 1: which part of the upper half of a wait is taken.
        """
        self._base_seconds = base_seconds
        self._cap_seconds = cap_seconds
        self._jitter = jitter
        self.failures = 0
        """Failures in a row."""

    def reset(self) -> None:
        """Something worked: the next wait is a first one."""
        self.failures = 0

    def next_seconds(self) -> float:
        """Count a failure; how many seconds to wait before the next attempt."""
        doubled = self._base_seconds * 2.0 ** min(self.failures, _MOST_DOUBLINGS)
        self.failures += 1
        return min(self._cap_seconds, doubled) * (1 + self._jitter()) / 2


def was_cancelled() -> bool:
    """Whether a CancelledError that was caught is meant for the current task."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
