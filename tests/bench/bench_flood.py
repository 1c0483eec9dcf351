"""A thousand hostile connections while 100 games play on: what the players notice.

`make bench ARGS="--only flood"`, or `python tests/bench/bench_flood.py` alone. A quarter of the
connections says nothing, a quarter halves, a quarter a byte a second, a quarter floods with calls,
resets, pings and settings. The engine, the attacker and the players are a process each; the engine
listens bare, without a proxy.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

from opolyx.engine.v1 import decision_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from support_engine import Caller, Stream, awaited, new_game, people
from support_flood import FloodProcess
from support_observed import ObservedEngine

GAMES: Final = 100
CONNECTIONS: Final = 1_000
SECONDS: Final = 30.0
MOST_TIMES: Final = 2.0
PACE_S: Final = 1.0
"""Between two moves of one game: people are not faster."""

ROUNDS: Final = 3
SETTLE_S: Final = 3.0
"""After which a flood has all its connections, and its end is over."""

_CHANNELS: Final = 10


class Table:
    """One game of two, played by one who holds both seats' streams."""

    def __init__(self, game_id: str, callers: list[Caller]) -> None:
        self._game_id = game_id
        self._callers = callers
        self._streams: list[Stream] = []
        self._decision = decision_pb2.Decision()
        self._number = 0
        self.waits_s: list[float] = []

    async def begin(self) -> None:
        """Open the streams."""
        for caller in self._callers:
            stream = await caller.play(self._game_id)
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
                    game_id=self._game_id,
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
                self._decision = awaited_or_none(frame.update.decisions)


def awaited_or_none(decisions: Sequence[decision_pb2.Decision]) -> decision_pb2.Decision:
    """The decision of the table's own; an empty one if the game is over."""
    own = [one for one in decisions if one.decision_id.startswith("d")]
    return own[0] if own else decision_pb2.Decision()


async def measure(games: int, connections: int, seconds: float) -> list[tuple[str, str]]:
    """Lines of the table."""
    with tempfile.TemporaryDirectory() as name:
        async with ObservedEngine(Path(name)) as engine, AsyncExitStack() as stack:
            channels = [
                await stack.enter_async_context(
                    grpc.aio.insecure_channel(
                        f"127.0.0.1:{engine.port}", options=(("grpc.use_local_subchannel_pool", 1),)
                    )
                )
                for _ in range(_CHANNELS)
            ]
            service = Caller(channels[0], engine.token("s_matchmaker", "service"))
            tables = []
            for number in range(games):
                game_id = await new_game(service, f"r{number}", people(2), turn_seconds=600)
                channel = channels[number % _CHANNELS]
                callers = [
                    Caller(channel, engine.token(f"p_{seat}", "player")) for seat in range(2)
                ]
                tables.append(Table(game_id, callers))
            await asyncio.gather(*(table.begin() for table in tables))
            await _play(tables, seconds / ROUNDS)  # to warm up
            before = await engine.look()
            quiet: list[float] = []
            flooded: list[float] = []
            counts: Counter[str] = Counter()
            cpu_s, during = 0.0, before
            for _ in range(ROUNDS):  # in turn, so that both have the machine as it is
                quiet += await _play(tables, seconds / ROUNDS)
                async with FloodProcess(engine.port, connections) as attack:
                    await asyncio.sleep(SETTLE_S)
                    began = await engine.look(collect=False)
                    flooded += await _play(tables, seconds / ROUNDS)
                    during = await engine.look(collect=False)
                    cpu_s += during.cpu_s - began.cpu_s
                    counts.update(await attack.counts())
                await asyncio.sleep(SETTLE_S)
            after = await engine.look()
    times = _p(flooded, 0.99) / _p(quiet, 0.99)
    return [
        ("games, hostile connections", f"{games:,}, {connections:,}"),
        ("quiet p50, p99", f"{_p(quiet, 0.5) * 1e3:.1f}, {_p(quiet, 0.99) * 1e3:.1f} ms"),
        ("flooded p50, p99", f"{_p(flooded, 0.5) * 1e3:.1f}, {_p(flooded, 0.99) * 1e3:.1f} ms"),
        (f"p99, times quiet (goal {MOST_TIMES:g})", f"{times:.2f}"),
        ("moves answered, quiet and flooded", f"{len(quiet):,}, {len(flooded):,}"),
        (
            "hostile connections opened, closed",
            f"{counts['opened']:,}, {counts.get('closed', 0):,}",
        ),
        ("hostile connections open at a round's end", f"{counts['open'] / ROUNDS:,.0f}"),
        (
            "memory before, during, after, MiB",
            ", ".join(f"{look.memory_kib / 1024:.0f}" for look in (before, during, after)),
        ),
        ("of a core while flooded", f"{cpu_s / seconds:.0%}"),
    ]


async def _play(tables: list[Table], seconds: float) -> list[float]:
    """Play them all for a while; how long each answer took."""
    until = time.monotonic() + seconds
    for table in tables:
        table.waits_s.clear()
    delays = [PACE_S * number / len(tables) for number in range(len(tables))]
    pairs = zip(tables, delays, strict=True)
    await asyncio.gather(*(table.play(until, delay) for table, delay in pairs))
    return [wait for table in tables for wait in table.waits_s]


def _p(waits_s: list[float], part: float) -> float:
    return sorted(waits_s)[min(len(waits_s) - 1, int(len(waits_s) * part))]


def run(*, quick: bool) -> None:
    """Measure, and print the lines."""
    plan = (20, 200, 5.0) if quick else (GAMES, CONNECTIONS, SECONDS)
    for name, value in asyncio.run(measure(*plan)):
        print(f"{'flood: ' + name:44}{value:>24}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a fifth of the games")
    run(quick=parser.parse_args().quick)
