"""Following the identity service's revocations, whatever becomes of the stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from opolyx.identity.v1 import identity_service_pb2 as pb
from opolyx.identity.v1.identity_service_pb2_grpc import (
    IdentityServiceServicer,
    add_IdentityServiceServicer_to_server,
)
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.rpc import revocation_watch
from opolyx_engine.rpc.revocation_watch import RevocationWatch
from opolyx_servicekit.access import Principal
from opolyx_servicekit.revocations import RevokedTokens
from opolyx_servicekit.tasks import TaskOwner
from support_waiting import until


class Identity(IdentityServiceServicer):
    """Tells what it is told to: lists of token ids; None breaks the stream."""

    def __init__(self) -> None:
        self.says: asyncio.Queue[list[str] | None] = asyncio.Queue()
        self.metadata: list[Any] = []

    async def WatchRevocations(
        self, request: pb.WatchRevocationsRequest, context: Any
    ) -> AsyncIterator[pb.WatchRevocationsResponse]:
        self.metadata.append(dict(context.invocation_metadata()))
        while (tokens := await self.says.get()) is not None:
            revocations = [pb.Revocation(token_id=token) for token in tokens]
            yield pb.WatchRevocationsResponse(revocations=revocations)
        await context.abort(grpc.StatusCode.UNAVAILABLE, "away")


@asynccontextmanager
async def following(identity: Identity) -> AsyncIterator[tuple[RevokedTokens, EngineMetrics]]:
    server = grpc.aio.server()
    add_IdentityServiceServicer_to_server(identity, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    revoked, metrics = RevokedTokens(), EngineMetrics()
    async with (
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
        TaskOwner("test") as tasks,
    ):
        watch = RevocationWatch(channel, lambda: "own", revoked, metrics)
        tasks.start(watch.run(), name="watch")
        yield revoked, metrics
    await server.stop(None)


def knows(revoked: RevokedTokens, token_id: str) -> bool:
    return revoked.is_revoked(Principal("p_1", "player", token_id=token_id))


async def test_a_lost_stream_is_opened_anew_and_only_what_it_tells_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(revocation_watch, "_RETRY_SECONDS", 0.01)
    identity = Identity()  # type: ignore[abstract]
    async with following(identity) as (revoked, metrics):
        identity.says.put_nowait(["old", "kept"])
        await until(lambda: knows(revoked, "old") and knows(revoked, "kept"))
        assert 1 == metrics.revocations_followed._value.get()
        assert "Bearer own" == identity.metadata[0]["authorization"]
        identity.says.put_nowait(None)
        await until(lambda: len(identity.metadata) == 2)
        assert knows(revoked, "old"), "nothing is forgotten while nothing is heard"
        identity.says.put_nowait(["kept", "new"])
        await until(lambda: knows(revoked, "new"))
        assert knows(revoked, "old")
        identity.says.put_nowait([])
        await until(lambda: not knows(revoked, "old"))
        assert knows(revoked, "kept")
        identity.says.put_nowait(["later"])
        await until(lambda: knows(revoked, "later"))
        assert knows(revoked, "new")


async def test_an_identity_service_that_is_away_is_shown_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(revocation_watch, "_RETRY_SECONDS", 0.01)
    identity = Identity()  # type: ignore[abstract]
    async with following(identity) as (revoked, metrics):
        for _ in range(3):
            identity.says.put_nowait(None)
        await until(lambda: len(identity.metadata) >= 4)
        assert 0 == metrics.revocations_followed._value.get()
        identity.says.put_nowait(["t"])
        await until(lambda: knows(revoked, "t"))
        await until(lambda: metrics.revocations_followed._value.get() == 1)
