"""The services' stubs on one channel, and what their methods look like."""

from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import grpc

from opolyx.engine.v1 import (
    allocation_service_pb2_grpc,
    engine_service_pb2_grpc,
    operations_service_pb2_grpc,
)
from opolyx.identity.v1 import identity_service_pb2_grpc
from opolyx.matchmaker.v1 import matchmaker_service_pb2_grpc
from opolyx.progression.v1 import progression_service_pb2_grpc

Q_contra = TypeVar("Q_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)


class UnaryMethod(Protocol[Q_contra, R_co]):
    """A unary method of a stub."""

    def __call__(
        self,
        request: Q_contra,
        *,
        timeout: float | None = None,
        metadata: tuple[tuple[str, str], ...] | None = None,
    ) -> Awaitable[R_co]:
        """Make the call."""
        ...


class StreamCall(Protocol[R_co]):
    """A server stream under way; None is a response that can't be read."""

    def __aiter__(self) -> AsyncIterator[R_co | None]:
        """The responses."""
        ...

    def cancel(self) -> bool:
        """End the call."""
        ...


class StreamMethod(Protocol[Q_contra, R_co]):
    """A server-streaming method of a stub."""

    def __call__(
        self, request: Q_contra, *, metadata: tuple[tuple[str, str], ...] | None = None
    ) -> StreamCall[R_co]:
        """Begin the call."""
        ...


@dataclass(frozen=True, slots=True)
class Stubs:
    """The services on one channel."""

    engine: engine_service_pb2_grpc.EngineServiceStub
    identity: identity_service_pb2_grpc.IdentityServiceStub
    matchmaker: matchmaker_service_pb2_grpc.MatchmakerServiceStub
    progression: progression_service_pb2_grpc.ProgressionServiceStub
    operations: operations_service_pb2_grpc.OperationsServiceStub
    allocation: allocation_service_pb2_grpc.AllocationServiceStub


def stubs_on(channel: grpc.aio.Channel) -> Stubs:
    """All services over one channel."""
    return Stubs(
        engine_service_pb2_grpc.EngineServiceStub(channel),
        identity_service_pb2_grpc.IdentityServiceStub(channel),
        matchmaker_service_pb2_grpc.MatchmakerServiceStub(channel),
        progression_service_pb2_grpc.ProgressionServiceStub(channel),
        operations_service_pb2_grpc.OperationsServiceStub(channel),
        allocation_service_pb2_grpc.AllocationServiceStub(channel),
    )
