"""The Play stream: one reader that takes requests in order, one writer that sends what waits."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import structlog

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.errors import GameElsewhere, invalid_field, too_many
from opolyx_engine.game_actor import GameActor
from opolyx_engine.hub import Subscription
from opolyx_engine.outbox import Outbox
from opolyx_engine.registry import Registry
from opolyx_engine.resume import attach
from opolyx_engine.rpc.commands import LONGEST_ID, CommandEntrance
from opolyx_engine.rpc.forwarding import Forwarding
from opolyx_engine.rpc.frames import detached_frame, pong_frame, result_frame
from opolyx_engine.rpc.hops import was_forwarded
from opolyx_engine.rpc.other_requests import OtherRequests
from opolyx_engine.rpc.play_elsewhere import PlayElsewhere
from opolyx_engine.rpc.receivers import detached_for, seat_to_receive
from opolyx_engine.rpc.stream_writer import StreamWriter
from opolyx_engine.rpc.streams import Streams, write_all
from opolyx_engine.settings import EngineSettings
from opolyx_servicekit.access import Principal, current_principal
from opolyx_servicekit.errors import ServiceError, Unavailable
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)


class PlayStreams:
    """Serves Play."""

    def __init__(
        self,
        registry: Registry,
        entrance: CommandEntrance,
        streams: Streams,
        settings: EngineSettings,
        clock: Clock,
        others: OtherRequests,
        forwarding: Forwarding,
    ) -> None:
        """Play the games of `registry`, and over `forwarding` those of other replicas."""
        self.registry = registry
        self.entrance = entrance
        self.settings = settings
        self.clock = clock
        self.streams = streams
        self.others = others
        self.forwarding = forwarding

    async def serve(self, requests: AsyncIterator[pb.PlayRequest], context: Any) -> None:
        """One stream, from its first request to its end."""
        principal = current_principal()
        outbox = self.streams.open(principal)
        writer = StreamWriter(context, self.settings.longest_write_seconds)
        stream = _PlayStream(self, principal, outbox, writer, context)
        reader = asyncio.create_task(stream.read(requests))
        try:
            await write_all(writer, outbox)
        finally:
            # All without an await: a client's cancel may come at any of them, and leave out the rest.
            reader.cancel()  # first, so that it attaches to nothing any more
            self.streams.close(outbox)
            stream.detach_all()
            stream.elsewhere.end()
            if not stream.heard:
                self.streams.patience.note_nonsense(principal)
            await asyncio.gather(reader, stream.elsewhere.ended(), return_exceptions=True)


class _PlayStream:
    """The state of one stream."""

    def __init__(
        self,
        owner: PlayStreams,
        principal: Principal,
        outbox: Outbox,
        writer: StreamWriter,
        context: Any,
    ) -> None:
        self._owner = owner
        self._principal = principal
        self._outbox = outbox
        self._attached: dict[str, tuple[GameActor, Subscription]] = {}
        self.heard = False
        """Whether the caller has said anything."""
        self._unanswered = 0
        self._fewer = asyncio.Event()
        self._goes_no_further = was_forwarded(context)
        self._way = owner.forwarding.way_of(context)
        self.elsewhere = PlayElsewhere(
            owner.forwarding, context, writer, outbox, self._count_answered
        )

    async def read(self, requests: AsyncIterator[pb.PlayRequest]) -> None:
        """Take requests until the caller ends; then what is owed is answered, and the stream ends."""
        try:
            async for request in requests:
                self.heard = True
                await self._take(request)
                await self._wait_answered(self._owner.settings.most_stream_commands)
                await self._owner.streams.patience.hold(self._principal)
            await self._wait_answered(0)
            self._outbox.end()
        except ServiceError as error:
            self._outbox.end(error)
        except asyncio.CancelledError:
            self._outbox.end()
            raise
        except Exception:
            _log.exception("stream_reader_crashed")
            self._outbox.end(Unavailable("CALL_LOST", "the call was lost, connect again"))

    def detach_all(self) -> None:
        """Receive nothing more."""
        for game, subscription in self._attached.values():
            game.hub.remove(subscription)
        self._attached.clear()

    async def _take(self, request: pb.PlayRequest) -> None:
        kind = request.WhichOneof("kind")
        if kind == "command":
            await self._command(request)
        elif kind == "attach":
            await self._attach(request)
        elif kind == "detach":
            self._owner.others.admit(self._principal)
            self._detach(request)
        elif kind == "ping":
            self._owner.others.admit(self._principal)
            self._outbox.put(pong_frame(request.ping.nonce, self._owner.clock.now_ms()))
        else:
            raise invalid_field("kind", "must be one that this server knows")

    async def _command(self, request: pb.PlayRequest) -> None:
        command = request.command
        self._unanswered += 1
        upstream = self.elsewhere.via(command.game_id)
        if upstream is not None and 1 <= len(command.command_id) <= LONGEST_ID:
            upstream.send(request)
            return
        try:
            await self._owner.entrance.submit(
                command, self._principal, lambda result: self._answered(command.game_id, result)
            )
        except GameElsewhere as error:
            if self._can_send_on(error):
                self.elsewhere.send(error.replica, request)
            else:
                self._answered(command.game_id, self._owner.entrance.moved(command, error))

    def _can_send_on(self, error: GameElsewhere) -> bool:
        return not self._goes_no_further and bool(error.replica.address)

    def _answered(self, game_id: str, result: pb.CommandResult) -> None:
        self._owner.streams.patience.note(self._principal, result)
        self._outbox.put(result_frame(game_id, result))
        self._count_answered(1)

    def _count_answered(self, commands: int) -> None:
        self._unanswered -= commands
        self._fewer.set()

    async def _wait_answered(self, most: int) -> None:
        """Read on when at most `most` commands wait for their answers."""
        while self._unanswered > most:
            self._fewer.clear()
            await self._fewer.wait()

    async def _attach(self, request: pb.PlayRequest) -> None:
        game_id = request.attach.game_id
        self._remove(game_id)
        try:
            self._owner.streams.admit_attach(self._principal)
            if upstream := self.elsewhere.via(game_id):
                upstream.send(request)
                return
            self._forget_ended()
            if len(self._attached) + len(self.elsewhere) >= self._owner.settings.most_attachments:
                raise too_many("attachments", self._owner.settings.most_attachments)
            await self._attach_here(request.attach)
        except GameElsewhere as error:
            if self._can_send_on(error):
                self.elsewhere.send(error.replica, request)
            else:
                self._outbox.put(detached_for(game_id, error))
        except ServiceError as error:
            self._outbox.put(detached_for(game_id, error))

    async def _attach_here(self, request: pb.Attach) -> None:
        game = await self._owner.registry.find(request.game_id)
        seat = seat_to_receive(game, self._principal, spectator=request.spectator)
        subscription = Subscription(self._outbox, seat, game.snapshot_frame, way=self._way)
        after_seq = request.after_seq if request.HasField("after_seq") else None
        may_read_back = partial(self._owner.streams.may_read_back, self._principal)
        await attach(self._owner.registry, game, subscription, after_seq, may_read_back)
        if subscription in game.hub:
            self._attached[request.game_id] = (game, subscription)

    def _forget_ended(self) -> None:
        """Games that have ended, or moved, are neither counted nor kept in memory."""
        for game_id, (game, subscription) in list(self._attached.items()):
            if subscription not in game.hub:
                del self._attached[game_id]

    def _detach(self, request: pb.PlayRequest) -> None:
        game_id = request.detach.game_id
        if upstream := self.elsewhere.via(game_id):
            upstream.send(request)
            return
        self._remove(game_id)
        reason = pb.DETACH_REASON_REQUESTED
        self._outbox.put(detached_frame(game_id, reason, "detached as asked"))

    def _remove(self, game_id: str) -> None:
        found = self._attached.pop(game_id, None)
        if found is not None:
            found[0].hub.remove(found[1])
