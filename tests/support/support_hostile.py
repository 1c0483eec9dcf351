"""Requests that nobody should send, and what a call with raw bytes ends with."""

import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import grpc
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

BUGS = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS}
"""Codes that say that the fault is ours."""

_TEXTS = (
    "",
    "x" * 100_000,
    "\u202e\u200b\u0000",
    "\U0001f600" * 490,
    "' OR 1=1 --",
    "9" * 5000,
    "../../etc/passwd",
    "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTkucl94",  # base64 of a number beyond 64 bits
)
_NUMBERS = (0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, -1, -(2**31), -(2**63))
_BY_TYPE: dict[int, Sequence[Any]] = {
    FieldDescriptor.TYPE_STRING: _TEXTS,
    FieldDescriptor.TYPE_BYTES: (b"", b"\xff" * 64, bytes(100_000)),
    FieldDescriptor.TYPE_BOOL: (False, True),
}


def hostile_requests(kind: type[Message], chance: random.Random) -> list[bytes]:
    """Random bytes, and messages of the kind with every field as absurd as its type allows."""
    noise = [chance.randbytes(chance.randrange(200)) for _ in range(15)]
    return noise + [_absurd(kind, chance).SerializeToString() for _ in range(25)]


async def code_of(
    channel: Any, method: str, request: bytes, metadata: Any, *, streams: str = "11"
) -> grpc.StatusCode:
    """What a call with these bytes ends with; a stream that answers is cancelled.

    Args:
        channel: to the service.
        method: full name.
        request: the one request.
        metadata: the caller's.
        streams: "11", "1n" or "nn": one or more requests, one or more responses.
    """
    sent = {"metadata": metadata, "timeout": 10}
    try:
        if streams == "11":
            await channel.unary_unary(method)(request, **sent)
            return grpc.StatusCode.OK
        if streams == "1n":
            call = channel.unary_stream(method)(request, **sent)
        else:
            call = channel.stream_stream(method)(iter([request]), **sent)
        async for _ in call:
            call.cancel()
            break
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def _absurd(kind: type[Message], chance: random.Random) -> Message:
    message = kind()
    for field in kind.DESCRIPTOR.fields:
        if chance.random() < 0.3:
            continue
        value = getattr(message, field.name)
        if field.message_type is not None:
            value.CopyFrom(_absurd(type(value), chance))
        elif isinstance(value, str | bytes | int):
            _set_absurd(message, field, chance)
        elif field.type == FieldDescriptor.TYPE_STRING:
            value.extend(chance.choices(_TEXTS, k=50))
        else:
            for number in chance.choices(_NUMBERS, k=chance.choice((1, 50, 200))):
                with suppress(ValueError):  # out of the type's range
                    value.append(number)
    return message


def _set_absurd(message: Message, field: Any, chance: random.Random) -> None:
    """Set a field to the first absurd value that fits its type."""
    values = list(_BY_TYPE.get(field.type, _NUMBERS))
    chance.shuffle(values)
    for value in values:
        try:
            setattr(message, field.name, value)
        except ValueError:  # out of the type's range
            continue
        return
