"""Following the identity service's revocations, whatever becomes of the stream."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from opolyx_engine.rpc import revocation_calls as engine_calls
from opolyx_progression.rpc import revocation_calls as progression_calls
from opolyx_servicekit import revocation_watch
from opolyx_servicekit.access import Principal
from opolyx_servicekit.revocation_watch import RevocationWatch
from opolyx_servicekit.revocations import RevokedTokens
from opolyx_servicekit.tasks import TaskOwner
from support_identity import Identity, identity_served
from support_waiting import until

Calls = Callable[[grpc.aio.Channel, Callable[[], str]], Callable[[], Any]]


@pytest.fixture(params=[engine_calls.revocation_calls, progression_calls.revocation_calls])
def calls(request: pytest.FixtureRequest) -> Calls:
    """How each service that is not the identity service calls it."""
    found: Calls = request.param
    return found


@asynccontextmanager
async def following(calls: Calls) -> AsyncIterator[tuple[Identity, RevokedTokens, list[bool]]]:
    """The identity service, what is known of it, and what was told of the stream."""
    revoked, told = RevokedTokens(), [False]
    async with (
        identity_served() as (identity, address),
        grpc.aio.insecure_channel(address) as channel,
        TaskOwner("test") as tasks,
    ):
        watch = RevocationWatch(calls(channel, lambda: "own"), revoked, told.append)
        tasks.start(watch.run(), name="watch")
        yield identity, revoked, told


def knows(revoked: RevokedTokens, token_id: str) -> bool:
    return revoked.is_revoked(Principal("p_1", "player", token_id=token_id))


async def test_a_lost_stream_is_opened_anew_and_only_what_it_tells_stays(
    monkeypatch: pytest.MonkeyPatch, calls: Calls
) -> None:
    monkeypatch.setattr(revocation_watch, "_RETRY_SECONDS", 0.01)
    async with following(calls) as (identity, revoked, told):
        identity.says.put_nowait(["old", "kept"])
        await until(lambda: knows(revoked, "old") and knows(revoked, "kept"))
        assert told[-1]
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
    monkeypatch: pytest.MonkeyPatch, calls: Calls
) -> None:
    monkeypatch.setattr(revocation_watch, "_RETRY_SECONDS", 0.01)
    async with following(calls) as (identity, revoked, told):
        for _ in range(3):
            identity.says.put_nowait(None)
        await until(lambda: len(identity.metadata) >= 4)
        assert not told[-1]
        identity.says.put_nowait(["t"])
        await until(lambda: knows(revoked, "t"))
        await until(lambda: told[-1])
