"""How many single calls an account may make: one budget for all that have none of their own."""

import time
from collections.abc import Callable, Iterable
from typing import Final

from opolyx_servicekit.access import Principal, is_infrastructure
from opolyx_servicekit.errors import ResourceExhausted
from opolyx_servicekit.rates import Buckets

_UNCOUNTED_ROLES: Final = frozenset({"service"})


class CallBudget:
    """Counts the calls of each account; the other services of this server aren't counted."""

    def __init__(
        self,
        per_second: int,
        burst: int,
        *,
        counted_elsewhere: Iterable[str] = (),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Count nothing yet.

        Args:
            per_second: calls of one account on average; 0 for no limit.
            burst: the same at once.
            counted_elsewhere: full names of methods with a budget of their own, so that who reads
                too much can still play.
            monotonic: the time, seconds.
        """
        self._per_second = per_second
        self._buckets = Buckets(per_second, burst) if per_second else None
        self._counted_elsewhere = frozenset(counted_elsewhere)
        self._monotonic = monotonic

    def take(self, method: str, principal: Principal | None) -> None:
        """Count a call.

        Raises:
            ResourceExhausted: the account has had all that it may; it says when there is one more.
        """
        if self._buckets is None or principal is None or principal.role in _UNCOUNTED_ROLES:
            return
        if method in self._counted_elsewhere or is_infrastructure(method):
            return
        now_ms = int(self._monotonic() * 1000)
        if wait_ms := self._buckets.wait_ms(principal.subject, now_ms):
            raise ResourceExhausted(
                "LIMIT",
                f"at most {self._per_second} calls a second on average",
                metadata={"limit": "calls_per_second", "value": self._per_second},
                retry_after_ms=wait_ms,
            )
