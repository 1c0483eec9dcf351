"""Sends calls on to the replica that runs their game.

A call that reaches a replica without its game is repeated, as the caller sent it, at the game's
owner: with the caller's own token, so that the owner admits and limits it like any other, with what
is left of its time, and marked, so that it goes no further (see `hops.py`). An owner that has lost
the game meanwhile says so; the owner is then looked for anew, a few times.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import grpc

from opolyx_engine.errors import GameElsewhere
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.ownership.membership import Membership
from opolyx_engine.replica import Replica
from opolyx_engine.rpc.hops import Metadata, forwarded_metadata, sender, was_forwarded
from opolyx_engine.rpc.peer_status import CALL_ERRORS, NOT_OWNER, OwnerLost, error_of
from opolyx_engine.rpc.replica_channels import ReplicaChannels
from opolyx_engine.settings import EngineSettings
from opolyx_servicekit.errors import ServiceError, Unavailable
from opolyx_servicekit.streams import was_cancelled
from opolyx_servicekit.wall_clock import Clock

_LONGEST_CALL_S: Final = 30.0  # of a caller that sets no deadline

T = TypeVar("T")

# Messages and handlers are whatever generated code makes of them: Any is the honest type here.
_Handler = Callable[[Any, Any], Awaitable[Any]]


class Forwarding:
    """Calls to the owners of games."""

    def __init__(
        self,
        channels: ReplicaChannels,
        settings: EngineSettings,
        clock: Clock,
        metrics: EngineMetrics,
        membership: Membership,
    ) -> None:
        """Reach other replicas, of which `membership` knows, through `channels`."""
        self.channels = channels
        self.settings = settings
        self.metrics = metrics
        self._clock = clock
        self._membership = membership
        self._streams = 0

    def metadata(self, context: Any) -> Metadata:
        """What to repeat a caller's call with, from here."""
        return forwarded_metadata(context, self._membership.me.replica_id)

    def way_of(self, context: Any) -> str:
        """Id of the living replica through which a call came; empty if it came by itself."""
        replica = self._membership.find(sender(context))
        return replica.replica_id if replica else ""

    async def unary(self, method: str, handler: _Handler, request: Any, context: Any) -> Any:
        """The response to a single call, from here or, as bytes, from the owner of its game.

        All calls that are about one game may be repeated: who lost an answer gets the same again.

        Raises:
            ServiceError: the handler's, or the owner's, or no owner could be reached.
        """
        return await self.served(
            context,
            lambda: handler(request, context),
            lambda replica: self._repeat(method, request, context, replica),
        )

    async def served(
        self,
        context: Any,
        here: Callable[[], Awaitable[T]],
        there: Callable[[Replica], Awaitable[T]],
    ) -> T:
        """Serve a call here, or there if its game is elsewhere; look again if it isn't there.

        Raises:
            Unavailable: with the reason NOT_OWNER, after some tries: nobody who could be reached
                runs the game. At once if the call was sent on by another replica.
            ServiceError: whatever else either of them raises.
        """
        give_up_ms = self._clock.now_ms() + self.settings.forward_within_ms
        tries_left = self.settings.forward_tries
        while True:
            try:
                try:
                    return await here()
                except GameElsewhere as elsewhere:
                    if was_forwarded(context) or not elsewhere.replica.address:
                        raise
                    replica = elsewhere.replica
                return await there(replica)
            except ServiceError as error:
                tries_left -= 1
                again_ms = self._clock.now_ms() + self.settings.forward_wait_ms
                passes = error.reason == NOT_OWNER and not was_forwarded(context)
                if not passes or not tries_left or again_ms > give_up_ms:
                    raise
            await self._clock.sleep_until(again_ms)

    def failure(self, error: BaseException) -> ServiceError:
        """What a call to another replica ended with, out of `CALL_ERRORS`; counted.

        Raises:
            CancelledError: the task was cancelled, not the call.
        """
        if isinstance(error, grpc.aio.AioRpcError):
            failure = error_of(error, self.settings.drain_retry_ms)
        elif isinstance(error, asyncio.CancelledError) and was_cancelled():
            raise error
        else:
            failure = OwnerLost(self.settings.drain_retry_ms)
        self.count(failure)
        return failure

    def count(self, failure: ServiceError | None) -> None:
        """Count how a forwarded call ended."""
        result = "answered"
        if isinstance(failure, OwnerLost):
            result = "lost"
        elif failure is not None and failure.reason == NOT_OWNER:
            result = "not_owner"
        self.metrics.forwards.labels(result).inc()

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Count a stream that is sent on, for as long as it is open.

        Raises:
            Unavailable: as many are open as may be.
        """
        if self._streams >= self.settings.most_forwarded_streams:
            self.metrics.forwards.labels("limit").inc()
            raise self._full()
        self._change(1)
        try:
            yield
        finally:
            self._change(-1)

    def _change(self, by: int) -> None:
        self._streams += by
        self.metrics.forwarded_streams.set(self._streams)

    def _full(self) -> ServiceError:
        return Unavailable(
            "LIMIT",
            "as many streams are sent on to other replicas as may be",
            metadata={
                "what": "forwarded_streams",
                "limit": self.settings.most_forwarded_streams,
            },
            retry_after_ms=self.settings.drain_retry_ms,
        )

    async def _repeat(self, method: str, request: Any, context: Any, replica: Replica) -> bytes:
        left_s = context.time_remaining()
        call: Any = self.channels.to(replica).unary_unary(method)
        try:
            response: bytes = await call(
                request.SerializeToString(),
                timeout=_LONGEST_CALL_S if left_s is None else left_s,
                metadata=self.metadata(context),
            )
        except CALL_ERRORS as error:
            raise self.failure(error) from None
        self.count(None)
        return response
