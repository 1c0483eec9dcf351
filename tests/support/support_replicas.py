"""Several engines in one process with a book of whose each game is, and an owner that is scripted."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.errors import GameElsewhere
from opolyx_engine.game_actor import GameActor
from opolyx_engine.replica import Replica
from support_engine import WAIT_SECONDS, Engine, running_engine

SOON_MS = 20
"""When a client should come again, where tests script it."""

_SERVICE = "opolyx.engine.v1.EngineService"


class Owners:
    """Says whose each game is, in place of the store; who isn't asked is nobody's neighbour."""

    def __init__(self) -> None:
        self.of: dict[str, Replica] = {}
        """The owner of each game that isn't where it is looked for."""

    def join(self, engine: Engine) -> Replica:
        """Let an engine ask here before it looks for a game itself."""
        me = replica_at(engine.port)
        registry: Any = engine.service.registry
        hand = registry.hand

        async def asked_first(game_id: str, deliver: Callable[[GameActor], None]) -> None:
            owner = self.of.get(game_id)
            if owner is not None and owner != me:
                raise GameElsewhere(game_id, owner, SOON_MS)
            await hand(game_id, deliver)

        registry.hand = asked_first
        return me


def replica_at(port: int) -> Replica:
    """The replica that listens on a port of loopback."""
    return Replica(f"replica-{port}", f"127.0.0.1:{port}")


@asynccontextmanager
async def running_engines(
    directory: Path, count: int, **settings: Any
) -> AsyncIterator[tuple[list[Engine], Owners]]:
    """Engines with a store each and the same keys; no two make the same game."""
    owners = Owners()
    quick = {"forward_wait_ms": SOON_MS, "drain_retry_ms": SOON_MS, **settings}

    @asynccontextmanager
    async def started(number: int) -> AsyncIterator[list[Engine]]:
        if number == count:
            yield []
            return
        url = f"sqlite:///{directory / f'engine{number}.db'}"
        seed = f"test {number}"
        async with running_engine(
            directory, store_url=url, development_seed=seed, **quick
        ) as engine:
            owners.join(engine)
            async with started(number + 1) as others:
                yield [engine, *others]

    async with started(0) as engines:
        yield engines, owners


@dataclass
class ScriptedCall:
    """One call that a scripted owner was sent."""

    metadata: dict[str, str]
    deadline_s: float | None
    context: Any = field(repr=False)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    status: status_pb2.Status | None = None

    async def request(self) -> pb.PlayRequest:
        """The next request of a Play stream; EOFError at its end."""
        raw = await asyncio.wait_for(self.context.read(), WAIT_SECONDS)
        if raw is grpc.aio.EOF:
            raise EOFError
        return pb.PlayRequest.FromString(raw)

    async def say(self, *frames: pb.Frame) -> None:
        """Send frames in one message."""
        await self.context.write(pb.PlayResponse(frames=frames).SerializeToString())

    def end(self, status: status_pb2.Status | None = None) -> None:
        """End the call, with a failure if one is named."""
        self.status = status
        self.over.set()


class ScriptedOwner:
    """A replica whose every word the test says."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[ScriptedCall] = asyncio.Queue()
        self.answers: list[pb.GetGameResponse | status_pb2.Status] = []
        """What GetGame is answered with, one after the other."""
        self.port = 0
        self._server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))

    @property
    def replica(self) -> Replica:
        """As the others know it."""
        return replica_at(self.port)

    async def call(self) -> ScriptedCall:
        """The next call."""
        return await asyncio.wait_for(self.calls.get(), WAIT_SECONDS)

    async def start(self) -> None:
        handlers: dict[str, Any] = {
            "Play": grpc.stream_stream_rpc_method_handler(self._stream),
            "WatchGame": grpc.unary_stream_rpc_method_handler(self._stream),
            "GetGame": grpc.unary_unary_rpc_method_handler(self._get_game),
        }
        self._server.add_registered_method_handlers(_SERVICE, handlers)
        generic = grpc.method_handlers_generic_handler(_SERVICE, handlers)
        self._server.add_generic_rpc_handlers((generic,))
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()

    async def stop(self) -> None:
        """Be gone at once, as after kill -9."""
        await self._server.stop(None)

    async def _stream(self, _: Any, context: Any) -> None:
        call = _called(context)
        self.calls.put_nowait(call)
        await call.over.wait()
        if call.status is not None:
            await _abort(context, call.status)

    async def _get_game(self, _: bytes, context: Any) -> bytes:
        self.calls.put_nowait(_called(context))
        answer = self.answers.pop(0)
        if isinstance(answer, status_pb2.Status):
            await _abort(context, answer)
        return bytes(answer.SerializeToString())


@asynccontextmanager
async def scripted_owner() -> AsyncIterator[ScriptedOwner]:
    """A scripted owner on loopback."""
    owner = ScriptedOwner()
    await owner.start()
    try:
        yield owner
    finally:
        await owner.stop()


def failure(code: grpc.StatusCode, reason: str = "", retry_ms: int = 0) -> status_pb2.Status:
    """The status that a replica ends a call with."""
    status = status_pb2.Status(code=code.value[0], message=f"scripted {reason}")
    if reason:
        info = error_details_pb2.ErrorInfo(reason=reason, domain="opolyx.engine")
        status.details.add().Pack(info)
    if retry_ms:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(retry_ms)
        status.details.add().Pack(retry)
    return status


def error_info(error: Any) -> Any:
    """The ErrorInfo that a call failed with."""
    status = rpc_status.from_call(error)
    assert status is not None
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return info


async def _abort(context: Any, status: status_pb2.Status) -> None:
    rich = rpc_status.to_status(status)
    await context.abort(rich.code, rich.details, rich.trailing_metadata)


def _called(context: Any) -> ScriptedCall:
    metadata = {key: str(value) for key, value in context.invocation_metadata()}
    return ScriptedCall(metadata, context.time_remaining(), context)
