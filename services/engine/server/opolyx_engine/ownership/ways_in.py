"""Whether the replicas through which players came are still there."""

import asyncio
from collections.abc import Awaitable, Callable

from opolyx_engine.ownership.membership import Membership
from opolyx_engine.replica import Replica


class WaysIn:
    """Asks replicas for a sign of life; all who want to know of one at the same time ask once."""

    def __init__(
        self, membership: Membership, answers: Callable[[Replica], Awaitable[bool]]
    ) -> None:
        """Ask nobody yet.

        Args:
            membership: who lives.
            answers: whether a replica answers now; within a bounded time.
        """
        self._membership = membership
        self._answers = answers
        self._asking: dict[str, asyncio.Future[bool]] = {}

    async def stands(self, replica_id: str) -> bool:
        """Whether whoever came through a replica can still be reached through it.

        One that stands still counts among the living for a while, so it is asked itself.
        """
        replica = self._membership.find(replica_id)
        if replica is None:
            return False
        asking = self._asking.get(replica_id)
        if asking is None:
            asking = asyncio.ensure_future(self._answers(replica))
            self._asking[replica_id] = asking
            asking.add_done_callback(lambda _: self._asking.pop(replica_id, None))
        return await asyncio.shield(asking)
