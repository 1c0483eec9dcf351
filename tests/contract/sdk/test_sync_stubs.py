"""The generated blocking stubs, driven by grpcio-testing: errors read as the SDK reads its own.

The SDK's blocking client has no channel of its own: it is a facade over the asynchronous one, which
grpcio-testing can't drive (`docs/adr/0014-one-client-and-a-scripted-server.md`). But whoever uses the
stubs without it gets the same statuses, and `to_failure` reads them alike.
"""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import grpc
import grpc_testing
import pytest
from google.protobuf import any_pb2, duration_pb2, message_factory
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from opolyx.engine.v1 import engine_service_pb2, engine_service_pb2_grpc
from opolyx.identity.v1 import identity_service_pb2, identity_service_pb2_grpc
from opolyx.matchmaker.v1 import matchmaker_service_pb2, matchmaker_service_pb2_grpc
from opolyx.progression.v1 import progression_service_pb2, progression_service_pb2_grpc
from opolyx_sdk import errors
from opolyx_sdk._status import to_failure
from opolyx_sdk.errors import Failure, request_error

SERVICES: dict[Any, Any] = {
    engine_service_pb2.DESCRIPTOR.services_by_name[
        "EngineService"
    ]: engine_service_pb2_grpc.EngineServiceStub,
    identity_service_pb2.DESCRIPTOR.services_by_name[
        "IdentityService"
    ]: identity_service_pb2_grpc.IdentityServiceStub,
    matchmaker_service_pb2.DESCRIPTOR.services_by_name[
        "MatchmakerService"
    ]: matchmaker_service_pb2_grpc.MatchmakerServiceStub,
    progression_service_pb2.DESCRIPTOR.services_by_name[
        "ProgressionService"
    ]: progression_service_pb2_grpc.ProgressionServiceStub,
}
METHODS = [method for service in SERVICES for method in service.methods]
UNARY = [one for one in METHODS if not (one.client_streaming or one.server_streaming)]


class Driven:
    """A stub whose server is the test."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._channel = grpc_testing.channel(list(SERVICES), grpc_testing.strict_real_time())

    def call(self, method: Any, timeout: float | None = None) -> tuple["Future[Any]", Any]:
        """A call under way, and the server's end of it."""
        stub = SERVICES[method.containing_service](self._channel)
        request = message_factory.GetMessageClass(method.input_type)()
        made = self._pool.submit(getattr(stub, method.name), request, timeout=timeout)
        _, sent, rpc = self._channel.take_unary_unary(method)
        assert request == sent
        return made, rpc


@pytest.fixture
def driven() -> Iterator[Driven]:
    with ThreadPoolExecutor(1) as pool:
        yield Driven(pool)


@pytest.mark.parametrize("method", UNARY, ids=lambda one: one.name)
def test_every_unary_method_answers(driven: Driven, method: Any) -> None:
    response = message_factory.GetMessageClass(method.output_type)()
    made, rpc = driven.call(method)
    rpc.send_initial_metadata(())
    rpc.terminate(response, (), grpc.StatusCode.OK, "")

    assert response == made.result(10)


@pytest.mark.parametrize("code", [one for one in grpc.StatusCode if one is not grpc.StatusCode.OK])
def test_every_status_reads_as_the_clients_error(driven: Driven, code: grpc.StatusCode) -> None:
    details = [any_pb2.Any() for _ in range(3)]
    details[0].Pack(
        error_details_pb2.ErrorInfo(
            reason="ERROR_REASON_LIMIT", domain="opolyx.engine", metadata={"limit": "streams"}
        )
    )
    details[1].Pack(error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=7)))
    violation = error_details_pb2.BadRequest.FieldViolation(field="game_id", description="empty")
    details[2].Pack(error_details_pb2.BadRequest(field_violations=[violation]))
    status = status_pb2.Status(code=code.value[0], message="no", details=details)
    made, rpc = driven.call(UNARY[0])
    trailing = (("grpc-status-details-bin", status.SerializeToString()),)
    rpc.terminate(None, trailing, code, "no")
    with pytest.raises(grpc.RpcError) as caught:
        made.result(10)
    failure = to_failure(caught.value)  # type: ignore[arg-type]

    assert failure == Failure(
        status=code.name,
        message="no",
        reason="LIMIT",
        domain="opolyx.engine",
        metadata={"limit": "streams"},
        retry_after_s=7.0,
        fields={"game_id": "empty"},
    )
    kind = errors._BY_STATUS.get(code.name, errors.RequestError)
    assert type(request_error(failure)) is kind


@pytest.mark.parametrize("details", [b"", b"\xff\xff\xff", b"\x08\x08\x12\x02no"])
def test_details_that_are_missing_or_broken_leave_the_status(
    driven: Driven, details: bytes
) -> None:
    made, rpc = driven.call(UNARY[0])
    trailing = (("grpc-status-details-bin", details), ("other", "x"))
    rpc.terminate(None, trailing, grpc.StatusCode.NOT_FOUND, "no such game")
    with pytest.raises(grpc.RpcError) as caught:
        made.result(10)

    failure = to_failure(caught.value)  # type: ignore[arg-type]
    assert Failure("NOT_FOUND", "no such game") == failure


def test_the_streams_are_those_that_the_client_bridges() -> None:
    streams = {one.name for one in METHODS if one.client_streaming or one.server_streaming}

    assert {
        "Play",
        "WatchGame",
        "WatchRoom",
        "QuickMatch",
        "OfferBot",
        "WatchRevocations",  # for services only
    } == streams
