"""Prove the guard: no false alarm in many runs, every planted loss of a quarter noticed.

`make bench-guard-proof`, a quarter of an hour. Every other run has a busy loop on each core beside it.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

from guard_costs import measure
from guard_limits import Verdict, judge, load
from guard_planted import slower_core, slower_engine

LOSS: Final = 1.25
"""How many times its cost a planted loss makes a piece of work."""


def main() -> int:
    """Run it so often without a loss, then with one in each piece of work; 1 if it was ever wrong."""
    parser = argparse.ArgumentParser(prog="make bench-guard-proof", description=__doc__)
    parser.add_argument("--clean", type=int, default=20, help="runs without a loss")
    parser.add_argument("--planted", type=int, default=10, help="runs with one in all works")
    chosen = parser.parse_args()
    limit = load()
    alarms = missed = planted = 0
    for number in range(chosen.clean):
        with _busy(number % 2 == 1):
            begun = time.perf_counter()
            verdicts = judge(measure(limit), limit)
            took = time.perf_counter() - begun
        alarms += any(one.slower for one in verdicts)
        print(f"clean {number + 1}{_beside(number)}: {_shown(verdicts)}; {took:.0f} s", flush=True)
    for number in range(chosen.planted):
        with _busy(number % 2 == 1):
            found = measure(limit, core=slower_core(LOSS), observed=slower_engine(LOSS))
        verdicts = judge(found, limit)
        planted += len(verdicts)
        missed += sum(not one.slower for one in verdicts)
        print(f"planted {number + 1}{_beside(number)}: {_shown(verdicts)}", flush=True)
    print(f"{alarms} false alarms in {chosen.clean} runs")
    print(f"{missed} of {planted} planted losses missed")
    return 1 if alarms or missed else 0


def _shown(verdicts: list[Verdict]) -> str:
    return ", ".join(f"{one.name} {one.times:.2f}" for one in verdicts)


def _beside(number: int) -> str:
    return " beside busy loops" if number % 2 else ""


@contextmanager
def _busy(wanted: bool) -> Iterator[None]:
    """A busy loop for each core while the block runs."""
    context = multiprocessing.get_context("spawn")
    cores = sorted(_CORES) if wanted else []
    loops = [context.Process(target=_loop, args=(core,), daemon=True) for core in cores]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


_CORES: Final = (
    os.sched_getaffinity(0) if sys.platform == "linux" else set(range(os.cpu_count() or 1))
)
"""As it was before anything was bound to one of them."""


def _loop(core: int) -> None:
    if sys.platform == "linux":
        os.sched_setaffinity(0, {core})
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(100_000))


if __name__ == "__main__":
    sys.exit(main())
