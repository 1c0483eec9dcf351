"""A thousand hostile connections while 100 games play on: what the players notice.

`make bench ARGS="--only flood"`, or `python tests/bench/bench_flood.py` alone; `--by-kind` measures
each kind of attacker by itself. Three quarters of the connections stall: they say nothing, halves, a
byte a second, or what is no HTTP/2. A quarter floods: calls without a token or with a bad one, calls
that are cancelled at once, pings, settings, and, each with an account of its own and a good token,
commands beyond the rate and streams that are left at once (`support_flood_talks.py`). Who is cut off
connects again after a second. The engine listens bare, without a proxy, with its defaults.

The engine, the attacker and the players are a process each, on one machine. What is asked is how
much the *server* keeps its players waiting; that a machine on which somebody attacks has less time for
everybody would be so without any server. So the attacker is the least urgent process (nice 19), and
the quiet rounds run beside the same attacker, who does the same against a sink: a process as
urgent as itself that takes all and answers nothing. What the attack costs the server, in whatever
thread, counts as the server's. The rounds alternate, so that both have the machine as it is, and p99
is over the moves of all of them. A round without any attacker comes first, for comparison.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

from flood_tables import Tables
from opolyx_engine.settings import EngineSettings
from support_flood import MIXED, FloodProcess
from support_flood_talks import TALKS
from support_observed import Look, ObservedEngine

GAMES: Final = 100
CONNECTIONS: Final = 1_000
SECONDS: Final = 30.0
MOST_TIMES: Final = 2.0
ROUNDS: Final = 3
SETTLE_S: Final = 3.0
"""After which a flood has all its connections, and its end is over."""

_DEFAULTS: Final = {"stream_burst": EngineSettings.model_fields["stream_burst"].default}
"""What tests have another value for."""


@dataclass(slots=True)
class Rounds:
    """What was measured in the rounds of one kind."""

    waits_s: list[float] = field(default_factory=list)
    """Of each move, up to its answer."""

    cpu_s: float = 0.0
    """Of the engine."""

    seconds: float = 0.0
    """That the rounds took."""

    frames: int = 0
    """That the attacker sent."""

    attacker_cpu_s: float = 0.0
    """Of the attacker."""

    counts: Counter[str] = field(default_factory=Counter)
    """What else the attacker counted, summed over the rounds."""

    def part(self, part: float) -> float:
        """What such a part of the answers didn't take longer than, milliseconds."""
        last = len(self.waits_s) - 1
        return sorted(self.waits_s)[min(last, int(len(self.waits_s) * part))] * 1e3

    @property
    def cores(self) -> float:
        """Of how many cores the engine had the time."""
        return self.cpu_s / self.seconds


class Attacked:
    """An engine with games, in rounds of peace and of war."""

    def __init__(self, engine: ObservedEngine, tables: Tables, connections: int) -> None:
        """Attack with so many connections, each with a good token of its own if it wants one."""
        self._engine = engine
        self._tables = tables
        self._connections = connections
        self._tokens = [engine.token(f"p_hostile_{number}") for number in range(connections)]

    async def round(
        self, rounds: Rounds, seconds: float, talks: Sequence[str], *, sink: bool
    ) -> None:
        """Play for a while beside an attacker of the engine or of a sink; nobody if no `talks`."""
        if not talks:
            await self._play(rounds, seconds)
            return
        async with FloodProcess(
            0 if sink else self._engine.port,
            self._connections,
            talks,
            self._tokens,
            self._tables.some_game_id,
        ) as attack:
            await asyncio.sleep(SETTLE_S)
            before = await attack.counts()
            await self._play(rounds, seconds)
            after = await attack.counts()
        rounds.counts.update(after)
        rounds.frames += after.get("frames", 0) - before.get("frames", 0)
        rounds.attacker_cpu_s += (after["cpu_ms"] - before["cpu_ms"]) / 1e3
        await asyncio.sleep(SETTLE_S)

    async def _play(self, rounds: Rounds, seconds: float) -> None:
        began = await self._engine.look(collect=False)
        rounds.waits_s += await self._tables.play(seconds)
        ended = await self._engine.look(collect=False)
        rounds.cpu_s += ended.cpu_s - began.cpu_s
        rounds.seconds += ended.at_s - began.at_s


async def measure(games: int, connections: int, seconds: float) -> list[tuple[str, str]]:
    """Lines of the table."""
    alone, quiet, flooded = Rounds(), Rounds(), Rounds()
    memory: list[Look] = []
    with tempfile.TemporaryDirectory() as name:
        async with (
            ObservedEngine(Path(name), **_DEFAULTS) as engine,
            Tables(engine, games) as tables,
        ):
            attacked = Attacked(engine, tables, connections)
            await tables.play(seconds / ROUNDS)  # to warm up
            memory.append(await engine.look())
            await attacked.round(alone, seconds / ROUNDS, (), sink=True)
            for _ in range(ROUNDS):
                await attacked.round(quiet, seconds / ROUNDS, MIXED, sink=True)
                await attacked.round(flooded, seconds / ROUNDS, MIXED, sink=False)
                memory.append(await engine.look())
    return [
        ("games, hostile connections", f"{games:,}, {connections:,}"),
        ("no attacker: p50, p99", f"{alone.part(0.5):.1f}, {alone.part(0.99):.1f} ms"),
        ("quiet: p50, p99", f"{quiet.part(0.5):.1f}, {quiet.part(0.99):.1f} ms"),
        ("flooded: p50, p99", f"{flooded.part(0.5):.1f}, {flooded.part(0.99):.1f} ms"),
        (f"p99, times quiet (goal {MOST_TIMES:g})", f"{times(quiet, flooded):.2f}"),
        ("the same, times without an attacker", f"{times(alone, flooded):.2f}"),
        (
            "moves answered, quiet and flooded",
            f"{len(quiet.waits_s):,}, {len(flooded.waits_s):,}",
        ),
        (
            "frames a second, quiet and flooded",
            f"{quiet.frames / quiet.seconds:,.0f}, {flooded.frames / flooded.seconds:,.0f}",
        ),
        (
            "connections opened, closed by the engine",
            f"{flooded.counts['opened']:,}, {flooded.counts.get('closed', 0):,}",
        ),
        ("connections open at a round's end", f"{flooded.counts['open'] / ROUNDS:,.0f}"),
        (
            "memory before, after each flood, MiB",
            ", ".join(f"{look.memory_kib / 1024:.0f}" for look in memory),
        ),
        (
            "engine's cores, alone, quiet, flooded",
            f"{alone.cores:.2f}, {quiet.cores:.2f}, {flooded.cores:.2f}",
        ),
        (
            "attacker's cores, quiet, flooded",
            f"{quiet.attacker_cpu_s / quiet.seconds:.2f},"
            f" {flooded.attacker_cpu_s / flooded.seconds:.2f}",
        ),
    ]


def times(quiet: Rounds, flooded: Rounds) -> float:
    """How many times the quiet p99 the flooded one is."""
    return flooded.part(0.99) / quiet.part(0.99)


async def measure_kinds(games: int, connections: int, seconds: float, kinds: Sequence[str]) -> None:
    """Print a line for each kind of attacker: as many as there are of it among `connections`."""
    print(f"{'kind':12}{'frames/s':>10}{'open':>6}{'cores':>7}{'p50':>8}{'p99':>9}{'times':>8}")
    with tempfile.TemporaryDirectory() as name:
        async with (
            ObservedEngine(Path(name), **_DEFAULTS) as engine,
            Tables(engine, games) as tables,
        ):
            await tables.play(seconds)
            for kind in kinds:
                share = connections * MIXED.count(kind) // len(MIXED)
                attacked = Attacked(engine, tables, share)
                quiet, flooded = Rounds(), Rounds()
                await attacked.round(quiet, seconds, (kind,), sink=True)
                await attacked.round(flooded, seconds, (kind,), sink=False)
                print(
                    f"{kind:12}{flooded.frames / flooded.seconds:10,.0f}"
                    f"{flooded.counts['open']:6,}"
                    f"{flooded.cores - quiet.cores:7.2f}"
                    f"{flooded.part(0.5):8.1f}{flooded.part(0.99):9.1f}"
                    f"{times(quiet, flooded):8.2f}",
                    flush=True,
                )


def run(*, quick: bool) -> None:
    """Measure, and print the lines."""
    plan = (20, 200, 5.0) if quick else (GAMES, CONNECTIONS, SECONDS)
    for name, value in asyncio.run(measure(*plan)):
        print(f"{'flood: ' + name:48}{value:>24}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a fifth of the games")
    parser.add_argument("--by-kind", nargs="*", help="each kind of attacker by itself, or some")
    chosen = parser.parse_args()
    if chosen.by_kind is None:
        run(quick=chosen.quick)
    else:
        names = chosen.by_kind or list(TALKS)
        asyncio.run(measure_kinds(GAMES, CONNECTIONS, SECONDS / 6, names))
