"""An identity service that tells of revocations alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc

from opolyx.identity.v1 import identity_service_pb2 as pb
from opolyx.identity.v1.identity_service_pb2_grpc import (
    IdentityServiceServicer,
    add_IdentityServiceServicer_to_server,
)


class Identity(IdentityServiceServicer):
    """Tells what it is told to: lists of token ids; None breaks the stream."""

    def __init__(self) -> None:
        self.says: asyncio.Queue[list[str] | None] = asyncio.Queue()
        self.metadata: list[Any] = []
        """Of the calls."""

    async def WatchRevocations(
        self, request: pb.WatchRevocationsRequest, context: Any
    ) -> AsyncIterator[pb.WatchRevocationsResponse]:
        self.metadata.append(dict(context.invocation_metadata()))
        while (tokens := await self.says.get()) is not None:
            revocations = [pb.Revocation(token_id=token) for token in tokens]
            yield pb.WatchRevocationsResponse(revocations=revocations)
        await context.abort(grpc.StatusCode.UNAVAILABLE, "away")


@asynccontextmanager
async def identity_served() -> AsyncIterator[tuple[Identity, str]]:
    """One on loopback, and its address."""
    identity = Identity()  # type: ignore[abstract]
    server = grpc.aio.server()
    add_IdentityServiceServicer_to_server(identity, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield identity, f"127.0.0.1:{port}"
    finally:
        await server.stop(None)
