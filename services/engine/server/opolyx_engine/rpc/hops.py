"""What a call carries when one replica repeats it at another: whose it is, and that it came so."""

from typing import Any, Final

import structlog

HOPS: Final = "x-opolyx-hops"
"""Key of the metadata of a call that another replica has sent on."""

_AUTHORIZATION: Final = "authorization"
_REQUEST_ID: Final = "x-request-id"

Metadata = tuple[tuple[str, str], ...]


def was_forwarded(context: Any) -> bool:
    """Whether another replica has sent the call on, so that it must not go any further.

    A client can say so too. All that it gets by it is a refusal where its game isn't.
    """
    return any(key == HOPS for key, _ in context.invocation_metadata() or ())


def forwarded_metadata(context: Any) -> Metadata:
    """The metadata to repeat a call with: the caller's own token, and the same id in the logs."""
    passed_on = [
        (key, value)
        for key, value in context.invocation_metadata() or ()
        if key == _AUTHORIZATION and isinstance(value, str)
    ]
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    if isinstance(request_id, str):
        passed_on.append((_REQUEST_ID, request_id))
    return (*passed_on, (HOPS, "1"))
