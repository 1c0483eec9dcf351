"""What another replica answered a call with that was sent on to it."""

import asyncio
from typing import Final

import grpc
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx_servicekit.errors import ServiceError, Unavailable

NOT_OWNER: Final = "NOT_OWNER"
"""The reason of whoever doesn't run the game; another look at its owner helps."""

CALL_ERRORS: Final = (grpc.aio.AioRpcError, grpc.aio.BaseError, asyncio.CancelledError)
"""What gRPC raises when a call to another replica ends; the last one also when its channel is closed."""

_LOST: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.CANCELLED,  # not by us: the channel was closed under it
        grpc.StatusCode.UNKNOWN,  # "Stream removed"
        grpc.StatusCode.INTERNAL,  # RST_STREAM
    }
)
_BUG: Final = "internal error"  # what the interceptor says of one


class PeerAnswered(ServiceError):
    """The status of another replica, word for word."""

    def __init__(self, status: status_pb2.Status) -> None:
        """Carry `status` to the caller."""
        reason, retry_after_ms = _read(status)
        super().__init__(reason, status.message, retry_after_ms=retry_after_ms)
        self.code = _CODES.get(status.code, grpc.StatusCode.UNKNOWN)
        self._status = status

    def to_status(self, domain: str = "") -> status_pb2.Status:
        """The status as it came."""
        return self._status


class OwnerLost(Unavailable):
    """The replica that runs the game can't be reached, or its answer was lost."""

    def __init__(self, retry_after_ms: int) -> None:
        """It may be reached, or another may run the game, after a while."""
        super().__init__(
            NOT_OWNER,
            "the replica that runs the game can't be reached",
            retry_after_ms=retry_after_ms,
        )


def error_of(error: grpc.aio.AioRpcError, retry_after_ms: int) -> ServiceError:
    """What ended a call to another replica: its own words if it had any, else that it was lost."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type]  # an AioRpcError has all of it
    if status is not None and status.details:
        return PeerAnswered(status)
    text = error.details() or ""
    if error.code() in _LOST and text != _BUG:
        return OwnerLost(retry_after_ms)
    return PeerAnswered(status_pb2.Status(code=error.code().value[0], message=text))


def _read(status: status_pb2.Status) -> tuple[str, int | None]:
    """The reason and when to come again, as far as they are said."""
    reason, retry_after_ms = "", None
    for detail in status.details:
        info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            reason = info.reason
        elif detail.Unpack(retry):
            retry_after_ms = retry.retry_delay.ToMilliseconds()
    return reason, retry_after_ms


_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
