"""A failed call as an error of this package: google.rpc.Status and its details, read once."""

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from opolyx_sdk.errors import Failure, RequestError, request_error

_DETAILS_KEY = "grpc-status-details-bin"
_REASON_PREFIX = "ERROR_REASON_"


def to_error(error: grpc.aio.AioRpcError) -> RequestError:
    """The error that says what the server said; it holds nothing of the request."""
    return request_error(to_failure(error))


def to_failure(error: grpc.aio.AioRpcError) -> Failure:
    """What the server said, also when it gave no details."""
    reason, domain, retry_after = "", "", None
    metadata: dict[str, str] = {}
    fields: dict[str, str] = {}
    for detail in _status_of(error).details:
        info = error_details_pb2.ErrorInfo()
        retry = error_details_pb2.RetryInfo()
        bad = error_details_pb2.BadRequest()
        if detail.Unpack(info):
            reason = info.reason.removeprefix(_REASON_PREFIX)
            domain = info.domain
            metadata = dict(info.metadata)
        elif detail.Unpack(retry):
            delay = retry.retry_delay  # its own conversion raises on what no server should send
            retry_after = max(0.0, delay.seconds + delay.nanos / 1e9)
        elif detail.Unpack(bad):
            fields = {one.field: one.description for one in bad.field_violations}
    return Failure(
        status=error.code().name,
        message=error.details() or "",
        reason=reason,
        domain=domain,
        metadata=metadata,
        retry_after_s=retry_after,
        fields=fields,
    )


def _status_of(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    status = status_pb2.Status()
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            try:
                status.ParseFromString(value)
            except DecodeError:
                return status_pb2.Status()
    return status
