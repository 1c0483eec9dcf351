"""Blows to a deployment: replicas killed, drained and paused, its Redis killed; one after another.

Whose turn it is and what happens is drawn from a seed; the machine decides what it meets.
"""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

from support_chaos_ledger import Summary
from support_programs import Program

_PAUSE_SECONDS: Final = 20.0
_DRAIN_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Odds:
    """How likely each kind of blow is, as weights."""

    kill: float = 11
    drain: float = 5
    pause: float = 0.6  # it keeps a replica down ten times as long as a kill
    store: float = 3.5
    other: float = 3


class Blows:
    """Strikes until enough or the time is up; all replicas but one may lie down at the same time."""

    def __init__(
        self,
        replicas: list[Program],
        others: list[Program],
        restart_store: Callable[[], None],
        summary: Summary,
        rng: random.Random,
        *,
        odds: Odds,
        pause_s: float = _PAUSE_SECONDS,
        between_s: tuple[float, float] = (0.1, 0.6),
    ) -> None:
        """Strike nobody yet.

        Args:
            replicas: the engines.
            others: programs that are killed now and then too.
            restart_store: kills the store with -9 and starts it again; from another thread.
            summary: counts the blows.
            rng: where they are drawn from.
            odds: of each kind.
            pause_s: how long a paused one stands still.
            between_s: seconds between two blows, at least and at most.
        """
        self.count = 0
        """Blows so far."""
        self._replicas = replicas
        self._others = others
        self._restart_store = restart_store
        self._summary = summary
        self._rng = rng
        self._odds = odds
        self._pause_s = pause_s
        self._between_s = between_s
        self._struck: set[Program] = set()
        self._recovering: set[asyncio.Task[None]] = set()
        self._store_lock = asyncio.Lock()

    async def strike(self, most: int, until: float, ready: Callable[[], bool]) -> None:
        """Strike until `most` blows, `until` on the monotonic clock, or a broken promise.

        Args:
            most: so many blows.
            until: when to stop.
            ready: whether there is enough to strike at.
        """
        try:
            while self.count < most and time.monotonic() < until and not self._summary.problems:
                await asyncio.sleep(self._rng.uniform(*self._between_s))
                await self.start_ended()
                if len(self._struck & set(self._replicas)) < len(self._replicas) - 1 and ready():
                    self._one()
                for task in [one for one in self._recovering if one.done()]:
                    self._recovering.discard(task)
                    task.result()
        finally:
            await asyncio.gather(*self._recovering)

    async def start_ended(self) -> None:
        """As a kubelet: what ended by itself, such as a matchmaker without its lease, is started."""
        for program in self._others:
            if program not in self._struck and not program.running:
                self._summary.counts[f"{_service(program)} ended by itself"] += 1
                await program.spawn()

    def _one(self) -> None:
        weights = asdict(self._odds)
        kind = self._rng.choices(list(weights), list(weights.values()))[0]
        if kind == "store":
            if self._store_lock.locked():
                return
            work = self._strike_store()
            self._summary.blows.append((time.time(), kind))
        else:
            targets = self._others if kind == "other" else self._replicas
            free = [one for one in targets if one not in self._struck]
            if not free:
                return
            program = self._rng.choice(free)
            self._struck.add(program)
            self._summary.blows.append((time.time(), f"{kind} {program.name}"))
            work = (
                self._strike_other(program)
                if kind == "other"
                else self._strike_replica(kind, program)
            )
        self.count += 1
        self._recovering.add(asyncio.create_task(work, name=kind))

    async def _strike_replica(self, kind: str, program: Program) -> None:
        try:
            if kind == "kill":
                self._summary.counts[f"kills of the {_service(program)} with -9"] += 1
                await program.kill()
                await program.start()
            elif kind == "drain":
                self._summary.counts["drains by SIGTERM"] += 1
                code = await program.terminate(_DRAIN_SECONDS)
                if code:
                    self._summary.wrong(f"{program.name} drained with exit code {code}")
                await program.start()
            else:
                self._summary.counts[f"pauses of {self._pause_s:.0f} s"] += 1
                program.pause()
                await asyncio.sleep(self._pause_s)
                program.go_on()
                await program.serving()
        except RuntimeError as error:
            self._summary.wrong(str(error)[-2_000:])
        finally:
            self._struck.discard(program)

    async def _strike_other(self, program: Program) -> None:
        """Nobody waits until it serves: it may lose its lease to another before, and end."""
        try:
            self._summary.counts[f"kills of the {_service(program)} with -9"] += 1
            await program.kill()
            await program.spawn()
        finally:
            self._struck.discard(program)

    async def _strike_store(self) -> None:
        async with self._store_lock:
            self._summary.counts["kills of Redis with -9"] += 1
            await asyncio.to_thread(self._restart_store)


def _service(program: Program) -> str:
    return program.name.partition("-")[0]


async def restart_in_turn(programs: list[Program], rest_s: float) -> None:
    """A rolling restart: one at a time, the next when the last serves and has done so a while."""
    for program in programs:
        await program.terminate(_DRAIN_SECONDS)
        await program.start()
        await asyncio.sleep(rest_s)
