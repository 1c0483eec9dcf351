"""The engine's facts over gRPC."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

import grpc
from google.protobuf.message import DecodeError

from opolyx.engine.v1.allocation_service_pb2 import Fact, WatchFactsRequest
from opolyx.engine.v1.allocation_service_pb2_grpc import AllocationServiceStub
from opolyx_progression.deliveries import Delivery, Unreadable
from opolyx_progression.rpc.convert import delivery_of
from opolyx_servicekit.streams import responses

_CONSUMER: Final = "progression"


class EngineFactSource:
    """Facts of the engine behind a channel; see `FactSource`."""

    def __init__(self, channel: grpc.aio.Channel, token: Callable[[], str] | None) -> None:
        """Use an open channel.

        Args:
            channel: to the engine.
            token: makes the token for the next stream; none is sent if absent.
        """
        self._stub = AllocationServiceStub(channel)
        self._token = token

    async def watch(self, after: int) -> AsyncGenerator[list[Delivery], None]:
        """Batches of facts with greater numbers; an empty one is a sign of life."""
        request = WatchFactsRequest(after=after, consumer=_CONSUMER)
        call = self._stub.WatchFacts(request, metadata=self._metadata())
        async with aclosing(responses(call)) as batches:
            async for batch in batches:
                yield [delivery_of(fact) for fact in batch.facts]

    def parse(self, raw: bytes) -> Delivery:
        """A fact out of its bytes."""
        try:
            return delivery_of(Fact.FromString(raw))
        except DecodeError as error:
            return Delivery(
                number=0, game_id="", at_unix_ms=0, effect=Unreadable(str(error)), raw=raw
            )

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        if self._token is None:
            return ()
        return (("authorization", f"Bearer {self._token()}"),)
