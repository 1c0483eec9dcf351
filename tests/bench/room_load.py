"""Clients that play many rooms as fast as the server answers, or at a rate: the load of benchmarks.

A seat's client answers each of its decisions with one of the legal actions that came with it. It
needs no rules, so the same clients play at the engine and at the bare server that is its ceiling.
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import grpc

from opolyx.engine.v1 import engine_service_pb2 as pb

SEATS: Final = 4
_OPENED_AT_ONCE: Final = 20
_PLAY: Final = f"/{pb.DESCRIPTOR.services_by_name['EngineService'].full_name}/Play"

Metadata = tuple[tuple[str, str], ...]
NewGame = Callable[[], Awaitable[str]]
"""Starts a game and returns its id."""


@dataclass
class Played:
    """What happened between two moments."""

    actions: int = 0
    """Accepted actions."""

    refused: int = 0
    """Commands that were not accepted, whatever the reason."""

    received_bytes: int = 0
    """Bytes of all messages that all seats received."""

    waits: list[float] = field(default_factory=list)
    """Of each action, seconds from sending until all four seats had received it."""


class _Room:
    """One game: whose update has reached whom.

    The next seat may act before all others have the last update: several actions are under way then.
    """

    __slots__ = ("game_id", "last_sent_at", "number", "received", "sent_at")

    def __init__(self, game_id: str, number: int) -> None:
        self.game_id = game_id
        self.number = number
        self.last_sent_at = 0.0
        self.sent_at: deque[float] = deque()
        """Of the actions under way, in order."""
        self.received: dict[int, int] = {}
        """How many seats have an update that not all have yet, by its number."""

    def reached(self, seq: int) -> bool:
        """One seat more has an update; whether all have it now."""
        count = self.received.pop(seq, 0) + 1
        if count < SEATS:
            self.received[seq] = count
        return count == SEATS


class RoomLoad:
    """Plays rooms over streams. Use as a context; the streams are open within it."""

    def __init__(
        self,
        channels: Sequence[grpc.aio.Channel],
        metadata: Sequence[Metadata],
        new_game: NewGame,
        *,
        rooms: int,
        streams_a_room: bool = True,
    ) -> None:
        """Nothing is opened yet.

        Args:
            channels: the streams are spread over them.
            metadata: of each seat's calls.
            new_game: called for each room, and again when its game is over.
            rooms: how many.
            streams_a_room: a stream a seat and room; else one a seat for all rooms.
        """
        self.played = Played()
        self._channels = channels
        self._metadata = metadata
        self._new_game = new_game
        self._count = rooms
        self._streams_a_room = streams_a_room
        self._rooms: dict[str, _Room] = {}
        self._luck = random.Random(7)
        self._pace_s = 0.0
        self._going = False
        self._held: list[tuple[_Line, _Room, pb.Command]] = []
        self._at_rest = asyncio.Event()
        self._to_attach = rooms * SEATS
        self._attached = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._lines: list[list[_Line]] = []

    async def __aenter__(self) -> "RoomLoad":
        groups = self._count if self._streams_a_room else 1
        for group in range(groups):
            line = [
                _Line(
                    self,
                    seat,
                    self._channels[(group * SEATS + seat) % len(self._channels)],
                    self._metadata[seat],
                )
                for seat in range(SEATS)
            ]
            self._lines.append(line)
        for first in range(0, self._count, _OPENED_AT_ONCE):
            numbers = range(first, min(first + _OPENED_AT_ONCE, self._count))
            await asyncio.gather(*map(self._open_room, numbers))
        async with asyncio.timeout(60):
            await self._attached.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._going = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(line.close() for lines in self._lines for line in lines))

    async def play(self, seconds: float, rate: float = 0.0) -> Played:
        """Play for so long, each room as fast as it can or all together at `rate` actions a second."""
        self.played = Played()
        self._pace_s = self._count / rate if rate else 0.0
        self._going = True
        held, self._held = self._held, []
        for one in held:
            self._send(*one)
        await asyncio.sleep(seconds)
        return self.played

    async def rest(self) -> Played:
        """Send no more, and wait until all that is under way has reached everybody."""
        self._going = False
        self._at_rest.clear()
        self._look_whether_at_rest()
        async with asyncio.timeout(60):
            await self._at_rest.wait()
        return self.played

    async def _open_room(self, number: int) -> None:
        room = _Room(await self._new_game(), number)
        self._rooms[room.game_id] = room
        for line in self._lines[number % len(self._lines)]:
            line.send(pb.PlayRequest(attach=pb.Attach(game_id=room.game_id)))

    # What the lines tell.

    def received(self, line: "_Line", game_id: str, update: pb.Update) -> None:
        """A seat has an update: the last of the four makes the action count."""
        room = self._rooms[game_id]
        everybody = room.reached(update.seq)
        if everybody:
            self.played.actions += 1
            self.played.waits.append(time.perf_counter() - room.sent_at.popleft())
            if not self._going:
                self._look_whether_at_rest()
        if update.state == pb.GAME_STATE_RUNNING:
            self.answer(line, room, update.decisions)
        elif everybody:
            self._renew(room)

    def refused(self, game_id: str) -> None:
        """The room's last action came to nothing."""
        self.played.refused += 1
        if (room := self._rooms.get(game_id)) is not None and room.sent_at:
            room.sent_at.pop()

    def answer(self, line: "_Line", room: _Room, decisions: Any) -> None:
        """Let the seat answer if it is awaited."""
        for decision in decisions:
            if decision.seat == line.seat and decision.decision_id.startswith("d"):
                action = self._luck.choice(decision.legal_actions)
                command = pb.Command(
                    game_id=room.game_id,
                    command_id=f"c{line.next_number()}",
                    decision_id=decision.decision_id,
                    action=action,
                )
                self._send(line, room, command)

    def _send(self, line: "_Line", room: _Room, command: pb.Command) -> None:
        def send() -> None:
            if not self._going:
                self._held.append((line, room, command))
                return
            room.last_sent_at = time.perf_counter()
            room.sent_at.append(room.last_sent_at)
            line.send(pb.PlayRequest(command=command))

        if not self._pace_s or not self._going:
            send()
            return
        # Each room in its own rhythm, spread over the time between two of its actions.
        due = (
            room.last_sent_at + self._pace_s
            if room.last_sent_at
            else (time.perf_counter() + self._luck.random() * self._pace_s)
        )
        asyncio.get_running_loop().call_later(max(0.0, due - time.perf_counter()), send)

    def _look_whether_at_rest(self) -> None:
        if not any(room.sent_at for room in self._rooms.values()):
            self._at_rest.set()

    def _renew(self, room: _Room) -> None:
        del self._rooms[room.game_id]
        task = asyncio.create_task(self._open_room(room.number))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def attached(self) -> None:
        """A seat has the first snapshot of a room."""
        self._to_attach -= 1
        if not self._to_attach:
            self._attached.set()

    def first(self, line: "_Line", game_id: str, decisions: Any) -> None:
        """A seat may begin to play."""
        if (room := self._rooms.get(game_id)) is not None:
            self.answer(line, room, decisions)


class _Line:
    """One seat's stream."""

    def __init__(
        self, load: RoomLoad, seat: int, channel: grpc.aio.Channel, metadata: Metadata
    ) -> None:
        self.seat = seat
        self._load = load
        self._numbers = 0
        self._requests: asyncio.Queue[pb.PlayRequest | None] = asyncio.Queue()  # bounded by rooms
        play: Any = channel.stream_stream(  # bytes come in, so that their number costs nothing
            _PLAY, request_serializer=pb.PlayRequest.SerializeToString
        )
        self._call = play(self._outgoing(), metadata=metadata)
        self._reader = asyncio.create_task(self._read())

    def next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def send(self, request: pb.PlayRequest) -> None:
        self._requests.put_nowait(request)

    async def close(self) -> None:
        self._call.cancel()
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)

    async def _outgoing(self) -> AsyncIterator[pb.PlayRequest]:
        while (request := await self._requests.get()) is not None:
            yield request

    async def _read(self) -> None:
        async for message in self._call:
            self._load.played.received_bytes += len(message)
            for frame in pb.PlayResponse.FromString(message).frames:
                kind = frame.WhichOneof("kind")
                if kind == "update":
                    self._load.received(self, frame.game_id, frame.update)
                elif kind == "command_result":
                    if frame.command_result.WhichOneof("outcome") != "accepted":
                        self._load.refused(frame.game_id)
                elif kind == "snapshot":
                    self._load.attached()
                    self._load.first(self, frame.game_id, frame.snapshot.decisions)
