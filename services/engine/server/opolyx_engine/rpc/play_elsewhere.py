"""The games of one client stream that other replicas run."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import grpc
import structlog

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.outbox import Outbox
from opolyx_engine.replica import Replica
from opolyx_engine.rpc.forwarding import Forwarding
from opolyx_engine.rpc.stream_writer import StreamOver, StreamWriter
from opolyx_engine.rpc.upstream import Upstream
from opolyx_servicekit.errors import ServiceError, Unavailable

_log = structlog.get_logger(__name__)

_OF_THE_CALLER: Final = frozenset(
    {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}
)
_SLOW_READER: Final = "SLOW_READER"


class PlayElsewhere:
    """One stream to each other replica that runs a game of this one; there are no more of them."""

    def __init__(
        self,
        forwarding: Forwarding,
        context: Any,
        writer: StreamWriter,
        outbox: Outbox,
        on_answered: Callable[[int], None],
    ) -> None:
        """No stream yet.

        Args:
            forwarding: sends on.
            context: of the client's call.
            writer: writes to the client.
            outbox: ended with what an owner has against the client.
            on_answered: told how many commands were answered, once the client has the answers.
        """
        self._forwarding = forwarding
        self._metadata = forwarding.metadata(context)
        self._writer = writer
        self._outbox = outbox
        self._on_answered = on_answered
        self._upstreams: dict[str, Upstream] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = False

    def __len__(self) -> int:
        """How many games are received from elsewhere."""
        return sum(len(upstream) for upstream in self._upstreams.values())

    def via(self, game_id: str) -> Upstream | None:
        """The stream over which a game is received."""
        for upstream in self._upstreams.values():
            if game_id in upstream:
                return upstream
        return None

    def send(self, replica: Replica, request: pb.PlayRequest) -> None:
        """Send a request on to `replica`; nothing is sent once the client's stream has ended."""
        if self._ended:
            return
        upstream = self._upstreams.get(replica.replica_id)
        if upstream is None:
            upstream = Upstream(
                self._forwarding, replica, self._metadata, self._writer, self._on_answered
            )
            self._upstreams[replica.replica_id] = upstream
            task = asyncio.create_task(self._run(replica.replica_id, upstream))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        upstream.send(request)

    def end(self) -> None:
        """End all streams, and receive nothing more; takes effect though nobody waits for it."""
        self._ended = True
        for task in self._tasks:
            task.cancel()

    async def ended(self) -> None:
        """Wait until all streams have ended, after `end`."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, replica_id: str, upstream: Upstream) -> None:
        try:
            failure = await upstream.run()
            # No await up to the farewell: what is asked from now on goes to the next one.
            del self._upstreams[replica_id]
            await self._part(upstream, failure)
        except StreamOver:
            return
        except ServiceError as error:
            self._outbox.fail(error)
        except Exception:
            _log.exception("upstream_crashed", replica=replica_id)
            self._outbox.fail(Unavailable("CALL_LOST", "the call was lost, connect again"))

    async def _part(self, upstream: Upstream, failure: ServiceError) -> None:
        """Tell the client to come again, or end its stream if it is at fault itself."""
        if failure.code in _OF_THE_CALLER or failure.reason == _SLOW_READER:
            raise failure
        frames, answers = upstream.farewell(failure)
        if frames:
            await self._writer.pass_on(frames)
            self._on_answered(answers)
