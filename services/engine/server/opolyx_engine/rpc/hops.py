"""What a call carries when one replica repeats it at another: whose it is, and that it came so."""

from typing import Any, Final

import structlog

HOPS: Final = "x-opolyx-hops"
"""Key of the metadata of a call that another replica has sent on; the value is that replica's id."""

_AUTHORIZATION: Final = "authorization"
_REQUEST_ID: Final = "x-request-id"

Metadata = tuple[tuple[str, str], ...]


def was_forwarded(context: Any) -> bool:
    """Whether another replica has sent the call on, so that it must not go any further.

    A client can say so too. All that it gets by it is a refusal where its game isn't.
    """
    return any(key == HOPS for key, _ in context.invocation_metadata() or ())


def sender(context: Any) -> str:
    """Who says to have sent the call on; empty if nobody.

    A client can say so too, so only an id that no client knows may mean anything.
    """
    for key, value in context.invocation_metadata() or ():
        if key == HOPS and isinstance(value, str):
            return value
    return ""


def forwarded_metadata(context: Any, replica_id: str) -> Metadata:
    """The metadata to repeat a call with: the caller's own token, and the same id in the logs.

    Args:
        context: of the caller's call.
        replica_id: who repeats it.
    """
    passed_on = [
        (key, value)
        for key, value in context.invocation_metadata() or ()
        if key == _AUTHORIZATION and isinstance(value, str)
    ]
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    if isinstance(request_id, str):
        passed_on.append((_REQUEST_ID, request_id))
    return (*passed_on, (HOPS, replica_id))
