"""What all handlers share: the words of the contract for a store that is away, and long streams."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, TypeVar

from opolyx_matchmaker.revocations import Revocations
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import StoreBusy, StoreUnavailable, Unauthenticated
from opolyx_servicekit.wall_clock import Clock

_Answer = TypeVar("_Answer")


def answers(
    method: Callable[..., Coroutine[Any, Any, _Answer]],
) -> Callable[..., Coroutine[Any, Any, _Answer]]:
    """A store that is away, in the words of this service's own contract."""

    @wraps(method)
    async def answer(*args: Any) -> _Answer:
        try:
            return await method(*args)
        except (StoreBusy, StoreUnavailable) as error:
            raise type(error)(
                "STORE_UNAVAILABLE", error.message, retry_after_ms=error.retry_after_ms
            ) from error

    return answer


def streams(method: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., Any]:
    """As `answers`, for a method that writes its responses; its stub says that it yields them."""
    return answers(method)


class StreamCheck:
    """Looks, while a stream is open, whether its token is still good."""

    def __init__(self, revocations: Revocations, clock: Clock) -> None:
        """Look in `revocations` and at the clock."""
        self._revocations = revocations
        self._clock = clock

    def check(self, caller: Principal) -> None:
        """Raises Unauthenticated if the caller's token was revoked or has expired."""
        if self._revocations.is_revoked(caller):
            raise Unauthenticated("TOKEN", "token is revoked")
        if self._clock.now_ms() >= caller.expires_unix * 1000:
            raise Unauthenticated("TOKEN", "token is expired")
