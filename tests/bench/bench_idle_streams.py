"""What 2,000 quiet streams cost: 500 games of four, a stream a seat, held in one process.

`make bench ARGS="--only idle"`, or `python tests/bench/bench_idle_streams.py` alone. All streams are
opened in one burst, as after a restart. The engine is a process of its own: its memory and processor
time are its own.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

from results import note
from support_engine import Caller, Stream, new_game, people
from support_observed import ObservedEngine

GAMES: Final = 500
SEATS: Final = 4
CHANNELS: Final = 20
IDLE_SECONDS: Final = 10.0
_QUICK: Final = 10
_A_GAME: Final = "memory a game, KiB"
_A_STREAM: Final = "memory a stream, KiB"
_IDLE_CPU: Final = "of a core while idle"
_GAME_GOAL_KIB: Final = 220_000 / 1024
_IDLE_GOAL: Final = 0.1


async def measure(games: int, idle_s: float) -> list[tuple[str, str]]:
    """Lines of the table."""
    streams = games * SEATS
    with tempfile.TemporaryDirectory() as name:
        async with ObservedEngine(Path(name)) as engine, AsyncExitStack() as stack:
            channels = [
                await stack.enter_async_context(
                    grpc.aio.insecure_channel(
                        f"127.0.0.1:{engine.port}", options=(("grpc.use_local_subchannel_pool", 1),)
                    )
                )
                for _ in range(CHANNELS)
            ]
            empty = await engine.look()
            service = Caller(channels[0], engine.token("s_matchmaker", "service"))
            ids = [await new_game(service, f"r{n}", people(SEATS)) for n in range(games)]
            await asyncio.sleep(1)
            with_games = await engine.look()
            callers = [
                [Caller(channel, engine.token(f"p_{seat}")) for seat in range(SEATS)]
                for channel in channels
            ]
            began = time.monotonic()
            held = await asyncio.gather(
                *(
                    _attach(callers[number % CHANNELS][seat], game_id)
                    for number, game_id in enumerate(ids)
                    for seat in range(SEATS)
                )
            )
            opened_s = time.monotonic() - began
            await asyncio.sleep(2)
            before = await engine.look()
            await asyncio.sleep(1)
            quiet = await engine.look(collect=False)
            await asyncio.sleep(idle_s)
            after = await engine.look(collect=False)
            for stream in held:
                stream.call.cancel()
    cpu = (after.cpu_s - quiet.cpu_s) / (after.at_s - quiet.at_s)
    return [
        ("streams open, receivers", f"{after.streams:,}, {after.receivers:,}"),
        ("games", f"{after.games:,}"),
        ("burst until all were attached", f"{opened_s:.1f} s"),
        (_A_GAME, f"{(with_games.memory_kib - empty.memory_kib) / games:.1f}"),
        (_A_STREAM, f"{(before.memory_kib - with_games.memory_kib) / streams:.1f}"),
        ("memory in all, MiB", f"{after.memory_kib / 1024:.0f}"),
        (_IDLE_CPU, f"{cpu:.2%}"),
    ]


async def _attach(caller: Caller, game_id: str) -> Stream:
    stream = await caller.play(game_id)
    async with asyncio.timeout(120):
        while not any(frame.HasField("attached") for frame in (await stream.call.read()).frames):
            pass
    return stream


def run(*, quick: bool) -> None:
    """Measure, and print the lines."""
    games = GAMES // _QUICK if quick else GAMES
    for name, value in asyncio.run(measure(games, 2.0 if quick else IDLE_SECONDS)):
        print(f"{'idle: ' + name:44}{value:>18}", flush=True)
        if name == _A_GAME:
            note(
                "idle-streams", "memory a game", float(value), "KiB", goal=_GAME_GOAL_KIB, less=True
            )
        elif name == _A_STREAM:
            note("idle-streams", "memory a stream", float(value), "KiB")
        elif name == _IDLE_CPU:
            cpu = float(value.rstrip("%"))
            title = f"{games * SEATS:,} idle streams"
            note("idle-streams", title, cpu, "% of a core", goal=_IDLE_GOAL, less=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the games")
    run(quick=parser.parse_args().quick)
