"""A client stream's Play stream at another replica: its requests go there, the frames come back."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final, TypeVar

import grpc
import structlog
from google.protobuf.message import DecodeError

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.command import MOVED, Answer
from opolyx_engine.replica import Replica
from opolyx_engine.rpc.convert_answers import answer_to_proto
from opolyx_engine.rpc.forwarding import Forwarding
from opolyx_engine.rpc.frame_glance import find_frames
from opolyx_engine.rpc.frames import detached_frame, result_frame
from opolyx_engine.rpc.hops import Metadata
from opolyx_engine.rpc.peer_status import CALL_ERRORS, OwnerLost
from opolyx_engine.rpc.stream_writer import StreamWriter
from opolyx_servicekit.errors import ServiceError

_log = structlog.get_logger(__name__)

_PLAY: Final = "/opolyx.engine.v1.EngineService/Play"

_RESULT: Final = pb.Frame.COMMAND_RESULT_FIELD_NUMBER
_DETACHED: Final = pb.Frame.DETACHED_FIELD_NUMBER
_DRAINING: Final = pb.Frame.DRAINING_FIELD_NUMBER
_ATTACHED: Final = pb.Frame.ATTACHED_FIELD_NUMBER
_LOOKED_AT: Final = frozenset({_RESULT, _DETACHED, _DRAINING, _ATTACHED})

K = TypeVar("K")


class Upstream:
    """One stream, from its first request until it is lost or the client's stream ends.

    Frames aren't kept here: the next are read when the client has taken the last. What the client
    asks waits in a queue, as an owner that stands still must not keep it from its other games; if
    the queue is full the stream counts as lost.
    """

    def __init__(
        self,
        forwarding: Forwarding,
        replica: Replica,
        metadata: Metadata,
        writer: StreamWriter,
        on_answered: Callable[[int], None],
    ) -> None:
        """Open nothing before `run`.

        Args:
            forwarding: has the channels and the limits.
            replica: where the stream goes.
            metadata: the caller's.
            writer: writes to the client.
            on_answered: told how many commands were answered, once the client has the answers.
        """
        self._forwarding = forwarding
        self._replica = replica
        self._metadata = metadata
        self._writer = writer
        self._on_answered = on_answered
        self._call: Any = None
        self._requests: deque[bytes] = deque()
        self._bytes = 0
        self._filled = asyncio.Event()
        self._overfull = False
        self._games: dict[str, None] = {}
        self._detaching: Counter[str] = Counter()
        self._commands: Counter[tuple[str, str]] = Counter()

    def __contains__(self, game_id: object) -> bool:
        """Whether the game is received, or asked for, here."""
        return game_id in self._games

    def __len__(self) -> int:
        """How many games are received, or asked for, here."""
        return len(self._games)

    def send(self, request: pb.PlayRequest) -> None:
        """Send on an attach, a detach or a command."""
        kind = request.WhichOneof("kind")
        if kind == "command":
            self._commands[request.command.game_id, request.command.command_id] += 1
        elif kind == "attach":
            self._games[request.attach.game_id] = None
        else:
            self._games.pop(request.detach.game_id, None)
            self._detaching[request.detach.game_id] += 1
        raw = request.SerializeToString()
        self._overfull = self._overfull or not self._has_room(len(raw))
        if not self._overfull:
            self._requests.append(raw)
            self._bytes += len(raw)
            self._filled.set()
        elif self._call is not None:
            self._call.cancel()

    async def run(self) -> ServiceError:
        """Carry requests and frames until the stream ends; with what it did.

        Raises:
            StreamOver: the client's stream has ended.
        """
        try:
            with self._forwarding.stream():
                await self._carry()
        except CALL_ERRORS as error:
            return self._forwarding.failure(error)
        except ServiceError as error:
            return error
        except (IndexError, ValueError, DecodeError):
            _log.exception("frames_not_understood", replica=self._replica.replica_id)
        self._forwarding.count(None)
        return OwnerLost(self._forwarding.settings.forward_wait_ms)

    def farewell(self, failure: ServiceError) -> tuple[bytes, int]:
        """What the client must be told when the stream is lost, and how many commands that answers.

        It attaches again after a while, and repeats its commands, which have no second effect.
        """
        retry_ms = failure.retry_after_ms or self._forwarding.settings.forward_wait_ms
        reason = pb.DETACH_REASON_UNAVAILABLE
        message = "the replica that runs the game has gone, attach again"
        frames = [detached_frame(game_id, reason, message, retry_ms) for game_id in self._games]
        answer = Answer(retry_after_ms=retry_ms, retry_reason=MOVED)
        for (game_id, command_id), count in self._commands.items():
            frames += [result_frame(game_id, answer_to_proto(command_id, answer))] * count
        return b"".join(frames), self._commands.total()

    def _has_room(self, octets: int) -> bool:
        settings = self._forwarding.settings
        most = settings.most_attachments + settings.most_stream_commands
        few = len(self._requests) < most and self._bytes + octets <= settings.most_queued_bytes
        return few or not self._requests

    async def _carry(self) -> None:
        channel = self._forwarding.channels.to(self._replica)
        self._call = channel.stream_stream(_PLAY)(metadata=self._metadata)
        writing = asyncio.create_task(self._write())
        try:
            if not self._overfull:
                await self._read()
        finally:
            self._call.cancel()
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    async def _write(self) -> None:
        """Send what waits; a call that has ended is the reader's business."""
        try:
            while True:
                await self._filled.wait()
                self._filled.clear()
                while self._requests:
                    raw = self._requests.popleft()
                    self._bytes -= len(raw)
                    await self._call.write(raw)
        except (asyncio.InvalidStateError, grpc.aio.AioRpcError, grpc.aio.BaseError):
            return

    async def _read(self) -> None:
        while (response := await self._call.read()) is not grpc.aio.EOF:
            frames, answers = self._look(response)
            if frames:
                await self._writer.pass_on(frames)
            if answers:
                self._on_answered(answers)

    def _look(self, response: bytes) -> tuple[bytes, int]:
        """The frames for the client, as they came, and how many commands they answer.

        That the owner drains is none of the client's business: its own server doesn't.
        """
        answers, kept, passed = 0, [], 0
        for found in find_frames(response, _LOOKED_AT):
            if found.kind == _DRAINING:
                kept.append(response[passed : found.begin])
                passed = found.end
            else:
                answers += self._note(pb.Frame.FromString(response[found.body : found.end]))
        if not kept:
            return response, answers
        return b"".join([*kept, response[passed:]]), answers

    def _note(self, frame: pb.Frame) -> int:
        """Keep in mind what a frame says; the number of commands that it answers."""
        kind, game_id = frame.WhichOneof("kind"), frame.game_id
        if kind == "command_result":
            return _take_one(self._commands, (game_id, frame.command_result.command_id))
        if kind == "detached" and frame.detached.reason == pb.DETACH_REASON_REQUESTED:
            _take_one(self._detaching, game_id)
        elif game_id in self._detaching:
            pass  # older than what the client asked last
        elif kind == "detached":
            self._games.pop(game_id, None)
        elif kind == "attached":
            self._games[game_id] = None
        return 0


def _take_one(counts: Counter[K], key: K) -> int:
    """Count one less; 0 if there was none."""
    if key not in counts:
        return 0
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
    return 1
