"""The channels to the other replicas: one each, shared by all calls, closed when it dies."""

from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Final

import grpc

from opolyx_engine.replica import Replica
from opolyx_servicekit.tasks import TaskOwner

_MOST: Final = 256


class ReplicaChannels:
    """Opens a channel when it is first needed. gRPC connects again by itself.

    Bounded: the channel that was used least lately is closed for one too many; its calls are lost
    and tried again.
    """

    def __init__(
        self, open_channel: Callable[[str], grpc.aio.Channel], *, most: int = _MOST
    ) -> None:
        """No channel yet.

        Args:
            open_channel: opens one to an address.
            most: how many may be open at once.
        """
        self._open_channel = open_channel
        self._tasks = TaskOwner("channels")
        self._most = most
        self._open: OrderedDict[str, grpc.aio.Channel] = OrderedDict()
        self._retired: set[grpc.aio.Channel] = set()

    def __len__(self) -> int:
        """How many are open."""
        return len(self._open)

    def to(self, replica: Replica) -> grpc.aio.Channel:
        """The channel to a replica that has an address."""
        channel = self._open.get(replica.replica_id)
        if channel is None:
            channel = self._open[replica.replica_id] = self._open_channel(replica.address)
        self._open.move_to_end(replica.replica_id)
        while len(self._open) > self._most:
            self._close(self._open.popitem(last=False)[1])
        return channel

    def keep(self, living: Collection[str]) -> None:
        """Close the channels to all replicas but those with these ids; their calls are lost."""
        for replica_id in [known for known in self._open if known not in living]:
            self._close(self._open.pop(replica_id))

    async def close(self) -> None:
        """Close all."""
        await self._tasks.close()
        for channel in [*self._retired, *self._open.values()]:
            await channel.close()
        self._open.clear()

    def _close(self, channel: grpc.aio.Channel) -> None:
        self._retired.add(channel)
        self._tasks.start(self._closed(channel), name="close channel")

    async def _closed(self, channel: grpc.aio.Channel) -> None:
        await channel.close()
        self._retired.discard(channel)
