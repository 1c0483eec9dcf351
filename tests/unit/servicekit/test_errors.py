"""Errors as google.rpc.Status."""

from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from opolyx_servicekit import errors


def detail(status: Any, kind: type[Message]) -> Any:
    """The detail of a kind; fails unless there is exactly one."""
    (packed,) = [found for found in status.details if found.Is(kind.DESCRIPTOR)]
    message = kind()
    packed.Unpack(message)
    return message


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.InvalidArgument, grpc.StatusCode.INVALID_ARGUMENT),
        (errors.Unauthenticated, grpc.StatusCode.UNAUTHENTICATED),
        (errors.PermissionDenied, grpc.StatusCode.PERMISSION_DENIED),
        (errors.NotFound, grpc.StatusCode.NOT_FOUND),
        (errors.FailedPrecondition, grpc.StatusCode.FAILED_PRECONDITION),
        (errors.ResourceExhausted, grpc.StatusCode.RESOURCE_EXHAUSTED),
        (errors.Unavailable, grpc.StatusCode.UNAVAILABLE),
        (errors.StoreBusy, grpc.StatusCode.UNAVAILABLE),
        (errors.StoreUnavailable, grpc.StatusCode.UNAVAILABLE),
    ],
)
def test_each_kind_has_its_code_and_error_info(
    kind: type[errors.ServiceError], code: grpc.StatusCode
) -> None:
    error = kind("SHELF_GONE", "no shelf 7", metadata={"shelf": 7})

    status = error.to_status("shop")

    assert (status.code, status.message) == (code.value[0], "no shelf 7")
    info = detail(status, error_details_pb2.ErrorInfo)
    assert (info.reason, info.domain, dict(info.metadata)) == ("SHELF_GONE", "shop", {"shelf": "7"})


def test_an_error_s_own_domain_wins() -> None:
    status = errors.NotFound("X", "x", domain="mine").to_status("shop")

    assert detail(status, error_details_pb2.ErrorInfo).domain == "mine"


def test_bad_fields_become_a_bad_request() -> None:
    error = errors.InvalidArgument("BAD_NAME", "bad name", fields={"owner.name": "too long"})

    violations = detail(error.to_status(), error_details_pb2.BadRequest).field_violations

    assert [(v.field, v.description) for v in violations] == [("owner.name", "too long")]


def test_a_state_that_forbids_it_becomes_a_precondition_failure() -> None:
    error = errors.FailedPrecondition("CLOSED", "shop is closed", precondition=("STATE", "shop/7"))

    (violation,) = detail(error.to_status(), error_details_pb2.PreconditionFailure).violations

    assert (violation.type, violation.subject) == ("STATE", "shop/7")


def test_the_environment_s_faults_say_when_to_retry_and_callers_errors_do_not() -> None:
    limited = errors.ResourceExhausted("LIMIT", "too many", retry_after_ms=1_500).to_status()
    away = errors.Unavailable("AWAY", "away").to_status()
    missing = errors.NotFound("GONE", "gone").to_status()

    delay = detail(limited, error_details_pb2.RetryInfo).retry_delay
    assert delay.ToMilliseconds() == 1_500
    assert detail(away, error_details_pb2.RetryInfo).retry_delay.ToMilliseconds() == 1_000
    assert len(missing.details) == 1


def test_a_hostile_value_cannot_outgrow_the_trailers() -> None:
    huge = "é" * 100_000
    error = errors.InvalidArgument(
        "BAD",
        huge,
        metadata={f"k{n}": huge for n in range(100)},
        fields={f"f{n}": huge for n in range(100)},
        precondition=("T", huge),
    )

    status: status_pb2.Status = error.to_status("d")

    assert status.ByteSize() < 16_000
