"""Feed hostile inputs to what strangers can reach, and see that nothing gives way.

`make fuzz` for two minutes; `make fuzz ARGS="--inputs 300000 --kinds tokens"` for so many of one kind.
Ends with 1 if anything crashed, was believed, touched a game of others, or kept memory.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

from support_fuzz_inputs import KINDS


def main() -> int:
    """Run, and print a table."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=40_000, help="of each kind, at most")
    parser.add_argument("--minutes", type=float, default=0.5, help="for each kind, at most")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--seed", type=int, default=None, help="the same inputs again")
    parser.add_argument("--guided", action="store_true", help="parsers by coverage; needs atheris")
    chosen = parser.parse_args()
    seed = random.randrange(1 << 32) if chosen.seed is None else chosen.seed
    print(f"seed {seed}", flush=True)
    if chosen.guided:  # before anything is imported that it is to follow
        from support_fuzz_guided import guided

        return guided(chosen.kinds, chosen.inputs, seed)
    from support_fuzz_run import Plan, Report, run

    report = Report()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        plan = Plan(tuple(chosen.kinds), chosen.inputs, chosen.minutes * 60, seed, Path(name))
        asyncio.run(run(plan, report, lambda line: print(line, flush=True)))
    print(f"{'seconds':44}{time.monotonic() - began:12,.0f}")
    print(report.table())
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
