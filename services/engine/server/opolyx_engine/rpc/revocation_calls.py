"""Calls the identity service to hear of revoked tokens."""

from collections.abc import Callable
from typing import Any

import grpc

from opolyx.identity.v1 import identity_service_pb2 as pb
from opolyx.identity.v1.identity_service_pb2_grpc import IdentityServiceStub


def revocation_calls(channel: grpc.aio.Channel, token: Callable[[], str]) -> Callable[[], Any]:
    """What opens a stream of revocations, for a `RevocationWatch`.

    Args:
        channel: to the identity service.
        token: makes the service's own token for the next stream.
    """
    stub = IdentityServiceStub(channel)

    def open_call() -> Any:
        metadata = (("authorization", f"Bearer {token()}"),)
        return stub.WatchRevocations(pb.WatchRevocationsRequest(), metadata=metadata)

    return open_call
