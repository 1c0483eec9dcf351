"""WatchGame of a game that another replica runs: its stream, passed on as it comes."""

import asyncio
from typing import Any, Final

import grpc
import structlog

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.outbox import Outbox
from opolyx_engine.replica import Replica
from opolyx_engine.rpc.forwarding import Forwarding
from opolyx_engine.rpc.peer_status import CALL_ERRORS, NOT_OWNER
from opolyx_engine.rpc.stream_writer import StreamOver, StreamWriter
from opolyx_engine.rpc.streams import Streams, write_all
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import ServiceError, Unavailable

_log = structlog.get_logger(__name__)

_WATCH: Final = "/opolyx.engine.v1.EngineService/WatchGame"


class WatchElsewhere:
    """Serves WatchGame where only another replica can."""

    def __init__(self, streams: Streams, forwarding: Forwarding) -> None:
        """Reach the others over `forwarding`."""
        self._streams = streams
        self._forwarding = forwarding

    async def serve(
        self, request: pb.WatchGameRequest, context: Any, principal: Principal, replica: Replica
    ) -> None:
        """One stream; the outbox is for what this server has to say: that it drains, say.

        Raises:
            ServiceError: what the owner ended the stream with. Its reason is NOT_OWNER only if
                nothing was received before, so that another replica may be asked.
        """
        outbox = self._streams.open(principal)
        writer = StreamWriter(context, self._forwarding.settings.longest_write_seconds)
        relay = asyncio.create_task(self._relay(request, context, replica, writer, outbox))
        try:
            await write_all(writer, outbox)
        finally:
            relay.cancel()
            self._streams.close(outbox)
            await asyncio.gather(relay, return_exceptions=True)

    async def _relay(
        self,
        request: pb.WatchGameRequest,
        context: Any,
        replica: Replica,
        writer: StreamWriter,
        outbox: Outbox,
    ) -> None:
        begun = False
        try:
            with self._forwarding.stream():
                method: Any = self._forwarding.channels.to(replica).unary_stream(_WATCH)
                call = method(
                    request.SerializeToString(), metadata=self._forwarding.metadata(context)
                )
                try:
                    while (frames := await call.read()) is not grpc.aio.EOF:
                        begun = True
                        await writer.pass_on(frames)
                finally:
                    call.cancel()
            self._forwarding.count(None)
            outbox.end()
        except StreamOver:
            return
        except CALL_ERRORS as error:
            failure = self._forwarding.failure(error)
            outbox.end(_moved(failure) if begun and failure.reason == NOT_OWNER else failure)
        except ServiceError as error:
            outbox.fail(error)
        except Exception:
            _log.exception("relay_crashed", replica=replica.replica_id)
            outbox.fail(Unavailable("CALL_LOST", "the call was lost, watch again"))


def _moved(failure: ServiceError) -> Unavailable:
    return Unavailable(
        "CALL_LOST",
        "the replica that runs the game has gone, watch again",
        retry_after_ms=failure.retry_after_ms,
    )
