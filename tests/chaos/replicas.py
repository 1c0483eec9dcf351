"""Strike three engines, their Redis and Envoy under a hundred running games, and count what was lost.

`make chaos`, or `make chaos ARGS="--blows 30 --games 20 --minutes 2"` for a first look. Kills with -9,
drains, pauses of 20 seconds and kills of Redis come one after another; then all engines are restarted
in turn under load, and how long clients wait is measured. Ends with 1 if a promise was broken. It
takes ten minutes at most. The same seed draws the same blows; the machine decides what they meet.
"""

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

from support_chaos_replicas import ReplicaChaos, ReplicaPlan


def main() -> None:
    """Run it, and print the summary."""
    usual = ReplicaPlan()
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--blows", type=int, default=usual.blows)
    parser.add_argument("--games", type=int, default=usual.games, help="that run at every blow")
    parser.add_argument("--minutes", type=float, default=usual.minutes, help="of blows, at most")
    parser.add_argument("--engines", type=int, default=usual.engines)
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--rounds", type=int, default=usual.round_cap, help="of a game")
    parser.add_argument(
        "--cluster", action="store_true", help="on a Redis Cluster of three masters"
    )
    parser.add_argument("--no-rolling", action="store_true", help="no rolling restart at the end")
    chosen = parser.parse_args()
    plan = ReplicaPlan(
        blows=chosen.blows,
        games=chosen.games,
        minutes=chosen.minutes,
        engines=chosen.engines,
        seed=chosen.seed,
        round_cap=chosen.rounds,
        cluster=chosen.cluster,
        rolling=not chosen.no_rolling,
    )
    logging.basicConfig(level=logging.ERROR)
    summary = asyncio.run(ReplicaChaos(plan, lambda line: print(line, flush=True)).run())
    print(summary.table())
    sys.exit(1 if summary.problems else 0)


if __name__ == "__main__":
    main()
