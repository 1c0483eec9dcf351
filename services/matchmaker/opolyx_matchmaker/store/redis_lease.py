"""Which of several matchmakers may write: a lease in Redis that fences every write.

No clock is trusted but each process's own, for lengths. Who holds the lease raises its beat again
and again; who waits takes it when it has seen no new beat for a whole lease while Redis answered.
After an outage of Redis the holder so keeps it. The fence, epoch and random nonce, is unique to each
taking, so that what a former holder sends is refused, whenever it arrives.
"""

import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from opolyx_matchmaker.store.base import LeaseLost
from opolyx_matchmaker.store.redis_keys import LEASE
from opolyx_matchmaker.store.redis_scripts import FENCED, HOLD, RELEASE
from opolyx_servicekit.redis_job import Script, Value
from opolyx_servicekit.redis_link import RedisLink

_NONE: Final = (b"", b"")


class RedisLease:
    """The lease as this process sees it, and the one way to write."""

    def __init__(
        self,
        link: RedisLink,
        lease_seconds: float,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Hold nothing yet.

        Args:
            link: the connection.
            lease_seconds: for how long a holder must not be heard of to lose the lease.
            monotonic: seconds that never go back.
        """
        self.observe_fenced: Callable[[], object] = _nobody
        """Told of each write that was refused."""
        self._link = link
        self._lease_seconds = lease_seconds
        self._monotonic = monotonic
        self._nonce = secrets.token_hex(8)
        self._fence = b""
        self._seen: tuple[bytes, bytes] = _NONE
        self._seen_since = 0.0

    async def hold(self) -> bool:
        """Keep the lease, or take it if it is free; whether this process has it now.

        Raises:
            StoreUnavailable: Redis doesn't answer; who waits begins to watch the holder anew.
        """
        quiet = self._monotonic() - self._seen_since >= self._lease_seconds
        asked_for = self._seen if quiet else _NONE
        try:
            fence, beat, mine = await self._link.run(HOLD, (LEASE,), (self._nonce, *asked_for))
        except BaseException:
            self._seen = _NONE
            raise
        if mine:
            self._fence = fence
        if (fence, beat) != self._seen:
            self._seen, self._seen_since = (fence, beat), self._monotonic()
        return bool(mine)

    async def release(self) -> None:
        """Let the next one have it at once, if this process has it."""
        if self._fence:
            await self._link.run(RELEASE, (LEASE,), (self._fence,))
            self._fence = b""

    async def write(  # what scripts answer has no type
        self, script: Script, keys: Iterable[str], args: Iterable[Value] = ()
    ) -> Any:  # noqa: ANN401
        """Run a script that writes; lease and fence go before its keys and arguments.

        Raises:
            LeaseLost: nothing was written, as this process doesn't hold the lease.
            StoreBusy: nothing was written.
            StoreUnavailable: whether it was written is unknown.
        """
        answer = await self._link.run(script, (LEASE, *keys), (self._fence, *args))
        if answer == FENCED:
            self.observe_fenced()
            raise LeaseLost
        return answer


def _nobody() -> None:
    """Who is told when nobody asked."""
