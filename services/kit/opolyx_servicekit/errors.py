"""What a service answers when it can't do what was asked: errors with a `google.rpc.Status`.

::

    ServiceError
    ├── CallerError              the caller must change something
    │   ├── InvalidArgument      a field is wrong (fields: its path and why)
    │   ├── Unauthenticated      no token, or a bad one
    │   ├── PermissionDenied     not for this caller
    │   ├── NotFound             no such thing
    │   ├── FailedPrecondition   not in this state (precondition: kind and subject)
    │   └── RequestLate          the request itself did not come in time
    └── EnvironmentFault         the same call may succeed later (retry_after_ms)
        ├── ResourceExhausted    a limit was reached
        └── Unavailable          the store or a peer is away, or the service drains
            ├── StoreBusy        too many writes wait
            └── StoreUnavailable the store failed or is closed

Anything else that is raised is a bug and reaches the caller as INTERNAL, without details.
A refusal under the rules is no error: it is a value in an answer.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

_LONGEST_MESSAGE: Final = 500  # in bytes: all travels in HTTP/2 trailers, bounded to 8 KiB
_LONGEST_VALUE: Final = 200
_MOST_VALUES: Final = 12


class ServiceError(Exception):
    """An answer other than success; subclasses fix the gRPC code."""

    code: grpc.StatusCode = grpc.StatusCode.UNKNOWN
    default_retry_ms: ClassVar[int | None] = None

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        domain: str = "",
        metadata: Mapping[str, object] | None = None,
        fields: Mapping[str, str] | None = None,
        precondition: tuple[str, str] | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        """Describe what went wrong.

        Args:
            reason: name of a value of the service's reason enum, `UPPER_SNAKE_CASE`.
            message: for developers; lower case, no trailing dot, names the thing and the value.
            domain: who defines `reason`; if empty, the package of the called method.
            metadata: every variable in the message, by name.
            fields: why each bad field is bad, by its path in the request.
            precondition: kind and subject of the state that isn't as required.
            retry_after_ms: when the same call may succeed.
        """
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.domain = domain
        self.metadata = {name: str(value) for name, value in (metadata or {}).items()}
        self.fields = dict(fields or {})
        self.precondition = precondition
        self.retry_after_ms = self.default_retry_ms if retry_after_ms is None else retry_after_ms

    def to_status(self, domain: str = "") -> status_pb2.Status:
        """The wire form: ErrorInfo always, other details as they apply; long texts are cut.

        Args:
            domain: used if the error names none itself.
        """
        return status_pb2.Status(
            code=self.code.value[0],
            message=_shortened(self.message, _LONGEST_MESSAGE),
            details=[_packed(detail) for detail in self._details(self.domain or domain)],
        )

    def _details(self, domain: str) -> list[Message]:
        details: list[Message] = [
            error_details_pb2.ErrorInfo(
                reason=self.reason, domain=domain, metadata=_cut(self.metadata)
            )
        ]
        if self.fields:
            details.append(_bad_request(_cut(self.fields)))
        if self.precondition:
            details.append(_precondition_failure(self.precondition, self.message))
        if self.retry_after_ms is not None:
            delay = duration_pb2.Duration()
            delay.FromMilliseconds(self.retry_after_ms)
            details.append(error_details_pb2.RetryInfo(retry_delay=delay))
        return details


class CallerError(ServiceError):
    """The caller must change something before it asks again."""


class InvalidArgument(CallerError):
    """A field of the request is wrong."""

    code = grpc.StatusCode.INVALID_ARGUMENT


class Unauthenticated(CallerError):
    """There is no token, or it isn't valid."""

    code = grpc.StatusCode.UNAUTHENTICATED


class PermissionDenied(CallerError):
    """This caller may not do this."""

    code = grpc.StatusCode.PERMISSION_DENIED


class NotFound(CallerError):
    """There is no such thing."""

    code = grpc.StatusCode.NOT_FOUND


class FailedPrecondition(CallerError):
    """The thing is not in a state that allows this."""

    code = grpc.StatusCode.FAILED_PRECONDITION


class RequestLate(CallerError):
    """The call was opened, but its request did not come in time."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED


class EnvironmentFault(ServiceError):
    """The same call may succeed after `retry_after_ms`."""

    default_retry_ms = 1_000


class ResourceExhausted(EnvironmentFault):
    """A limit was reached."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class Unavailable(EnvironmentFault):
    """Something the service needs is away, or the service drains."""

    code = grpc.StatusCode.UNAVAILABLE


class StoreBusy(Unavailable):
    """More jobs wait for the store than it accepts."""

    default_retry_ms = 200


class StoreUnavailable(Unavailable):
    """The store failed or is closed; whether the last job happened is unknown."""


def _packed(detail: Message) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(detail)
    return packed


def _cut(texts: Mapping[str, str]) -> dict[str, str]:
    few = list(texts.items())[:_MOST_VALUES]
    return {name: _shortened(text, _LONGEST_VALUE) for name, text in few}


def _shortened(text: str, most_bytes: int) -> str:
    """The beginning of `text` that fits into so many bytes of UTF-8."""
    return text.encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")


def _bad_request(fields: Mapping[str, str]) -> error_details_pb2.BadRequest:
    violation = error_details_pb2.BadRequest.FieldViolation
    return error_details_pb2.BadRequest(
        field_violations=[violation(field=field, description=why) for field, why in fields.items()]
    )


def _precondition_failure(
    precondition: tuple[str, str], message: str
) -> error_details_pb2.PreconditionFailure:
    kind, subject = precondition
    violation = error_details_pb2.PreconditionFailure.Violation(
        type=kind,
        subject=_shortened(subject, _LONGEST_VALUE),
        description=_shortened(message, _LONGEST_VALUE),
    )
    return error_details_pb2.PreconditionFailure(violations=[violation])
