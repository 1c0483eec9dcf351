"""Games that go on while a server is attacked, and how long each answer takes."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Final, Self

import grpc

from opolyx.engine.v1 import decision_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from support_engine import Caller, Stream, awaited, new_game, people
from support_observed import ObservedEngine

PACE_S: Final = 1.0
"""Between two moves of one game: people are not faster."""

_CHANNELS: Final = 10


class Table:
    """One game of two, played by one who holds both seats' streams."""

    def __init__(self, game_id: str, callers: list[Caller]) -> None:
        """Not begun."""
        self.game_id = game_id
        self._callers = callers
        self._streams: list[Stream] = []
        self._decision = decision_pb2.Decision()
        self._number = 0
        self.waits_s: list[float] = []

    async def begin(self) -> None:
        """Open the streams."""
        for caller in self._callers:
            stream = await caller.play(self.game_id)
            snapshot = await stream.next("snapshot")
            self._decision = awaited(snapshot.decisions)
            self._streams.append(stream)

    async def play(self, until: float, delay_s: float) -> None:
        """Move once each `PACE_S`, and note how long each answer takes."""
        await asyncio.sleep(delay_s)
        while time.monotonic() < until and self._decision.legal_actions:
            began = time.monotonic()
            self._number += 1
            stream = self._streams[self._decision.seat]
            await stream.send(
                command=pb.Command(
                    game_id=self.game_id,
                    command_id=f"c{self._number}",
                    decision_id=self._decision.decision_id,
                    action=self._decision.legal_actions[0],
                )
            )
            await self._answered(stream)
            self.waits_s.append(time.monotonic() - began)
            await asyncio.sleep(max(0.0, began + PACE_S - time.monotonic()))

    async def _answered(self, stream: Stream) -> None:
        """Read up to the answer to the last command and the update that it caused."""
        wanted, seq = -1, -1
        while wanted < 0 or seq < wanted:
            frame = await stream.frame()
            kind = frame.WhichOneof("kind")
            if kind == "command_result" and frame.command_result.command_id == f"c{self._number}":
                if not frame.command_result.HasField("accepted"):
                    return
                wanted = frame.command_result.accepted.seq
            elif kind == "update":
                seq = frame.update.seq
                self._decision = _own(frame.update.decisions)


class Tables:
    """Many of them, on a few channels. Use as a context."""

    def __init__(self, engine: ObservedEngine, games: int) -> None:
        """So many games of an engine."""
        self._engine = engine
        self._games = games
        self._channels = AsyncExitStack()
        self._tables: list[Table] = []

    @property
    def some_game_id(self) -> str:
        """One of the games."""
        return self._tables[0].game_id

    async def play(self, seconds: float) -> list[float]:
        """Play them all for a while; how long each answer took, seconds."""
        until = time.monotonic() + seconds
        for table in self._tables:
            table.waits_s.clear()
        delays = [PACE_S * number / self._games for number in range(self._games)]
        pairs = zip(self._tables, delays, strict=True)
        await asyncio.gather(*(table.play(until, delay) for table, delay in pairs))
        return [wait for table in self._tables for wait in table.waits_s]

    async def __aenter__(self) -> Self:
        address = f"127.0.0.1:{self._engine.port}"
        options = (("grpc.use_local_subchannel_pool", 1),)
        channels = [
            await self._channels.enter_async_context(
                grpc.aio.insecure_channel(address, options=options)
            )
            for _ in range(_CHANNELS)
        ]
        service = Caller(channels[0], self._engine.token("s_matchmaker", "service"))
        players = [self._engine.token(f"p_{seat}") for seat in range(2)]
        for number in range(self._games):
            game_id = await new_game(service, f"r{number}", people(2), turn_seconds=600)
            channel = channels[number % _CHANNELS]
            self._tables.append(Table(game_id, [Caller(channel, token) for token in players]))
        await asyncio.gather(*(table.begin() for table in self._tables))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._channels.aclose()


def _own(decisions: Sequence[decision_pb2.Decision]) -> decision_pb2.Decision:
    """The decision of the table's own; an empty one if the game is over."""
    own = [one for one in decisions if one.decision_id.startswith("d")]
    return own[0] if own else decision_pb2.Decision()
