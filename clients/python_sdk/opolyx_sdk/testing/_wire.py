"""The scripted server's gRPC: handlers of every method, made from the services' descriptors."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, Protocol

import grpc
from google.protobuf import any_pb2, duration_pb2, message_factory
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from opolyx.engine.v1 import engine_service_pb2
from opolyx.identity.v1 import identity_service_pb2
from opolyx.matchmaker.v1 import matchmaker_service_pb2
from opolyx.progression.v1 import progression_service_pb2
from opolyx_sdk import _convert
from opolyx_sdk._frames import Command, Frame, Request
from opolyx_sdk.errors import Failure
from opolyx_sdk.offers import BotOffer

_SERVICES: Final[tuple[ServiceDescriptor, ...]] = (
    engine_service_pb2.DESCRIPTOR.services_by_name["EngineService"],
    identity_service_pb2.DESCRIPTOR.services_by_name["IdentityService"],
    matchmaker_service_pb2.DESCRIPTOR.services_by_name["MatchmakerService"],
    progression_service_pb2.DESCRIPTOR.services_by_name["ProgressionService"],
)
METHODS: Final = frozenset(method.name for one in _SERVICES for method in one.methods)
"""Names of all methods."""


class Failed(Exception):
    """A call is to end with this failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Actor(Protocol):
    """What the handlers ask: the scripted server, in values."""

    def enter(self, method: str, token: str) -> None:
        """A call begins.

        Raises:
            Failed: it is to fail.
        """
        ...

    def unary(self, method: str, request: Any) -> dict[str, object]:
        """The fields of a unary method's response.

        Raises:
            Failed: it is to fail.
        """
        ...

    def leave(self, method: str) -> None:
        """A unary call has had its effect.

        Raises:
            Failed: its answer is to be lost.
        """
        ...

    def open_stream(self, method: str, token: str, request: Any) -> "Stream":
        """A stream is open."""
        ...

    def asked(self, stream: "Stream", request: Any) -> None:
        """A client says something on its stream."""
        ...

    def close_stream(self, stream: "Stream") -> None:
        """A stream has ended."""
        ...


class Stream:
    """One open stream: what waits to be sent on it."""

    def __init__(self, method: str, token: str) -> None:
        self.method = method
        self.token = token
        self.games: set[str] = set()
        self.topic = ""
        """The room that is watched."""
        self._waiting: asyncio.Queue[dict[str, object] | Failed | None] = asyncio.Queue(10_000)

    def send(self, fields: dict[str, object]) -> None:
        """Send a response with these fields."""
        self._waiting.put_nowait(fields)

    def send_frame(self, frame: Frame) -> None:
        """Send a batch of one frame."""
        self.send({"frames": [frame]})

    def end(self, failure: Failure | None = None) -> None:
        """End after what waits: well, or with a failure."""
        self._waiting.put_nowait(None if failure is None else Failed(failure))

    async def next(self) -> dict[str, object] | None:
        """The next response; None at the end."""
        item = await self._waiting.get()
        if isinstance(item, Failed):
            raise item
        return item


def add_services(actor: Actor, server: grpc.aio.Server) -> None:
    """Serve every method of every service."""
    handlers = [
        grpc.method_handlers_generic_handler(
            service.full_name,
            {method.name: _handler(actor, method) for method in service.methods},
        )
        for service in _SERVICES
    ]
    server.add_generic_rpc_handlers(tuple(handlers))


def read_play(request: Any) -> Request | None:
    """What is asked for on the stream that plays games."""
    return _convert.read_request(request)


def read_command(request: Any) -> Command | None:
    """The command of a unary call."""
    message = engine_service_pb2.PlayRequest(command=request.command)
    read = _convert.read_request(message)
    return read if isinstance(read, Command) else None


def read_offer(request: Any) -> BotOffer:
    """What a bot offers."""
    return _convert.read(request.offer, BotOffer)


def _handler(actor: Actor, method: Any) -> Any:
    response_class = message_factory.GetMessageClass(method.output_type)
    read = message_factory.GetMessageClass(method.input_type).FromString
    write = response_class.SerializeToString
    name: str = method.name
    if not method.server_streaming:

        async def unary(request: Any, context: Any) -> Any:
            try:
                actor.enter(name, _token_of(context))
                response = _response(response_class, actor.unary(name, request))
                actor.leave(name)
                return response
            except Failed as failed:
                return await _abort(context, failed.failure)

        return grpc.unary_unary_rpc_method_handler(unary, read, write)

    async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
        try:
            actor.enter(name, _token_of(context))
        except Failed as failed:
            await _abort(context, failed.failure)
        one = actor.open_stream(name, _token_of(context), request)
        listening = (
            asyncio.create_task(_listen(actor, one, request)) if method.client_streaming else None
        )
        try:
            while (fields := await one.next()) is not None:
                yield _response(response_class, fields)
        except Failed as failed:
            await _abort(context, failed.failure)
        finally:
            actor.close_stream(one)
            if listening is not None:
                listening.cancel()
                await asyncio.gather(listening, return_exceptions=True)

    if method.client_streaming:
        return grpc.stream_stream_rpc_method_handler(stream, read, write)
    return grpc.unary_stream_rpc_method_handler(stream, read, write)


async def _listen(actor: Actor, stream: Stream, requests: Any) -> None:
    async for request in requests:
        actor.asked(stream, request)
    stream.end()


def _response(response_class: Callable[[], Message], fields: dict[str, object]) -> Message:
    message = response_class()
    frames = fields.pop("frames", None)
    if isinstance(frames, list):
        getattr(message, "frames").extend(_convert.write_frame(one) for one in frames)  # noqa: B009
    for name, value in fields.items():
        if isinstance(value, Message):
            getattr(message, name).CopyFrom(value)
        else:
            _convert.fill(message, {name: value})
    return message


def _token_of(context: Any) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == "authorization":
            return str(value).removeprefix("Bearer ")
    return ""


def _abort(context: Any, failure: Failure) -> Awaitable[Any]:
    code = grpc.StatusCode[failure.status]
    if not (failure.reason or failure.fields or failure.retry_after_s is not None):
        aborted: Awaitable[Any] = context.abort(code, failure.message)
        return aborted
    status = status_pb2.Status(
        code=code.value[0], message=failure.message, details=_details(failure)
    )
    trailing = (("grpc-status-details-bin", status.SerializeToString()),)
    rich: Awaitable[Any] = context.abort(code, failure.message, trailing)
    return rich


def _details(failure: Failure) -> list[any_pb2.Any]:
    details: list[Message] = []
    if failure.reason:
        details.append(
            error_details_pb2.ErrorInfo(
                reason=failure.reason, domain=failure.domain, metadata=dict(failure.metadata)
            )
        )
    if failure.retry_after_s is not None:
        whole, part = divmod(failure.retry_after_s, 1)
        delay = duration_pb2.Duration(seconds=int(whole), nanos=round(part * 1e9))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    if failure.fields:
        violation = error_details_pb2.BadRequest.FieldViolation
        details.append(
            error_details_pb2.BadRequest(
                field_violations=[
                    violation(field=name, description=why) for name, why in failure.fields.items()
                ]
            )
        )
    packed = []
    for detail in details:
        packed.append(any_pb2.Any())
        packed[-1].Pack(detail)
    return packed
