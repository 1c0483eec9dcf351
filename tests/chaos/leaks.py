"""Open and end 10,000 streams in four ways, and see what the server keeps of them: nothing.

`make leaks`, or `python tests/chaos/leaks.py --streams 2000` for a first look. Ends with 1 if a
stream, a receiver or a handler's task is left after 5 s, or if the server's memory grew by 10 % or
more in the second half.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

from support_engine import Caller, new_game, people
from support_observed import Look, ObservedEngine
from support_stream_ends import WAYS, StreamEnder

MOST_GROWTH = 0.10
STEP = 1_000


async def measure(streams: int) -> int:
    """The exit code."""
    with tempfile.TemporaryDirectory() as name:
        async with ObservedEngine(Path(name)) as engine:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{engine.port}") as channel:
                service = Caller(channel, engine.token("s_matchmaker", "service"))
                game_id = await new_game(service, "r1", people(2))
            ender = StreamEnder(engine.port, engine.token("p_w"), game_id)
            await ender.end(40)
            await asyncio.sleep(1)
            tasks = (await engine.look()).tasks
            print(f"ways: {', '.join(WAYS)}; Play and WatchGame in turn", flush=True)
            print(f"{'streams':>10}{'open':>8}{'receivers':>12}{'tasks':>8}{'memory KiB':>14}")
            looks: dict[int, Look] = {}
            for done in range(STEP, streams + 1, STEP):
                await ender.end(STEP)
                look = looks[done] = await engine.settled(tasks)
                print(
                    f"{done:10,}{look.streams:8}{look.receivers:12}{look.tasks:8}"
                    f"{look.memory_kib:14,}",
                    flush=True,
                )
    half, end = looks[streams // 2 // STEP * STEP], looks[streams // STEP * STEP]
    growth = end.memory_kib / half.memory_kib - 1
    print(f"memory in the second half: {growth:+.1%}; allowed: below {MOST_GROWTH:+.0%}")
    return 1 if growth >= MOST_GROWTH else 0


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="make leaks", description=__doc__)
    parser.add_argument("--streams", type=int, default=10_000, help=f"in steps of {STEP:,}")
    sys.exit(asyncio.run(measure(max(2 * STEP, parser.parse_args().streams))))


if __name__ == "__main__":
    main()
