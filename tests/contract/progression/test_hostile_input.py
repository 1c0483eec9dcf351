"""Whatever anybody sends to progression is answered with a kind of error that is theirs."""

import random
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry

from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx_progression.access import ACCESS
from opolyx_progression.service import ProgressionService
from opolyx_progression.settings import ProgressionSettings
from opolyx_servicekit.server import ServiceServer
from support_hostile import BUGS, code_of, hostile_requests
from support_progression import RoleVerifier, bearer, open_store


@pytest.fixture
async def channel(tmp_path: Path) -> Any:
    settings = ProgressionSettings(grace_seconds=0.1)
    async with (
        open_store(tmp_path / "p.db") as store,
        grpc.aio.insecure_channel("127.0.0.1:1") as engine,
    ):
        service = ProgressionService(
            settings, store=store, engine=engine, registry=CollectorRegistry()
        )
        server = ServiceServer(
            settings,
            add_services=service.add_to,
            service_names=service.service_names,
            roles=service.access,
            verifier=RoleVerifier(),
        )
        async with server, grpc.aio.insecure_channel(f"127.0.0.1:{server.bound_port}") as opened:
            yield opened


@pytest.mark.parametrize("method", sorted(ACCESS))
async def test_random_bytes_and_absurd_fields_are_no_bug_of_ours(channel: Any, method: str) -> None:
    chance = random.Random(method)
    request = getattr(pb, method.rpartition("/")[2] + "Request")

    codes = [
        await code_of(channel, method, sent, bearer(chance.choice(sorted(ACCESS[method]))))
        for sent in hostile_requests(request, chance)
    ]

    assert not BUGS.intersection(codes), codes
    assert grpc.StatusCode.DEADLINE_EXCEEDED not in codes


@pytest.mark.parametrize("method", sorted(ACCESS))
async def test_every_other_role_is_refused(channel: Any, method: str) -> None:
    for role in ("player", "bot", "service", "operator"):
        if role not in ACCESS[method]:
            code = await code_of(channel, method, b"", bearer(role))
            assert grpc.StatusCode.PERMISSION_DENIED is code, role
    for metadata in ((), bearer("bad")):
        assert grpc.StatusCode.UNAUTHENTICATED is await code_of(channel, method, b"", metadata)


@pytest.mark.parametrize("token", ["0", "-1", "9" * 19, "9" * 4000, "\u0661", "1e3", " 1", "1_0"])
async def test_page_tokens_that_were_never_given_are_bad_fields(channel: Any, token: str) -> None:
    request = pb.ListAwardsRequest(page_token=token).SerializeToString()
    method = "/opolyx.progression.v1.ProgressionService/ListAwards"

    code = await code_of(channel, method, request, bearer("player"))

    assert grpc.StatusCode.INVALID_ARGUMENT is code
