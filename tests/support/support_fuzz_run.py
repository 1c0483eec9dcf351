"""A run of the fuzzers: which, how many, and what was found."""

import collections
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from support_fuzz_inputs import HostileInputs
from support_fuzz_parsers import Accepted, replays, tokens
from support_fuzz_server import FuzzedServer
from support_fuzz_wire import Attack

_BATCH: Final = {"calls": 480, "frames": 2_400}
_WARM_UP: Final = 2
"""Batches before memory counts: the first ones fill caches that have bounds."""
_MOST_GROWTH: Final = 0.10
_SLACK_KIB: Final = 16 << 10


@dataclass
class Plan:
    """What is run."""

    kinds: tuple[str, ...]
    inputs: int
    seconds: float
    seed: int
    directory: Path


@dataclass
class Report:
    """What was done and found."""

    inputs: collections.Counter[str] = field(default_factory=collections.Counter)
    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    problems: list[str] = field(default_factory=list)
    memory_kib: dict[str, tuple[int, int]] = field(default_factory=dict)

    def table(self) -> str:
        """All of it, as lines."""
        rows = [(f"inputs: {kind}", f"{count:,}") for kind, count in self.inputs.items()]
        rows += [(f"ended {code}", f"{n:,}") for code, n in sorted(self.outcomes.items())]
        for kind, (before, after) in self.memory_kib.items():
            rows.append(
                (f"server's memory, {kind}, MiB", f"{before / 1024:.0f} to {after / 1024:.0f}")
            )
        rows.append(("problems", f"{len(self.problems):,}"))
        return "\n".join([f"{name:44}{value:>12}" for name, value in rows] + self.problems[:20])


async def run(plan: Plan, report: Report, say: Callable[[str], object]) -> None:
    """Run every kind, each until it has had its inputs or its time."""
    for kind in plan.kinds:
        luck = random.Random(f"{plan.seed} {kind}")
        if kind in _BATCH:
            await _over_the_wire(kind, plan, luck, report)
        else:
            _parse(kind, plan, luck, report)
        say(f"{kind}: {report.inputs[kind]:,} inputs, {len(report.problems)} problems")


def _parse(kind: str, plan: Plan, luck: random.Random, report: Report) -> None:
    inputs = HostileInputs(luck)
    feed = replays(inputs, luck) if kind == "replays" else tokens(inputs, luck, plan.directory)
    until = time.monotonic() + plan.seconds
    while report.inputs[kind] < plan.inputs and time.monotonic() < until:
        report.inputs[kind] += 1
        try:
            feed()
        except Accepted as accepted:
            report.problems.append(f"{kind}: believed {accepted}")
        except Exception as error:  # what must not be is what is looked for
            report.problems.append(f"{kind}: {error!r}")


async def _over_the_wire(kind: str, plan: Plan, luck: random.Random, report: Report) -> None:
    directory = plan.directory / kind
    directory.mkdir()
    async with FuzzedServer(directory) as server:
        attack = Attack(server.address, directory / "data", luck)
        await attack.begin()
        send = attack.calls if kind == "calls" else attack.frames
        until = time.monotonic() + plan.seconds
        batch = min(_BATCH[kind], plan.inputs)
        before, batches = 0, 0
        while report.inputs[kind] < plan.inputs and time.monotonic() < until:
            if batches == _WARM_UP:
                before = await server.memory_kib()
            await send(batch)
            report.inputs[kind] += batch
            batches += 1
            await attack.renew_game()
        await attack.end()
        after = await server.memory_kib()
        report.outcomes.update(attack.findings.codes)
        report.problems += attack.findings.problems
        report.problems += [f"logged: {line}" for line in server.log()]
        if not server.alive:
            report.problems.append("the server ended")
        if before:
            report.memory_kib[kind] = before, after
            if after > before * (1 + _MOST_GROWTH) + _SLACK_KIB:
                report.problems.append(f"{kind}: memory grew from {before:,} to {after:,} KiB")
