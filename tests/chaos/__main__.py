"""Kill a server under fifty running games, cut its connections, and count what was lost: nothing.

`make chaos-alone`, or `make chaos-alone ARGS="--kills 20 --games 10"` for a first look. Ends with 1 if a promise
was broken. The same seed draws the same moments; the machine decides what they meet.
"""

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

from support_chaos import Chaos, Plan


def main() -> None:
    """Run it, and print the summary."""
    usual = Plan()
    parser = argparse.ArgumentParser(prog="make chaos-alone", description=__doc__)
    parser.add_argument("--kills", type=int, default=usual.kills)
    parser.add_argument("--games", type=int, default=usual.games, help="that run at every kill")
    parser.add_argument("--minutes", type=float, default=usual.minutes, help="at most")
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--rounds", type=int, default=usual.round_cap, help="of a game")
    parser.add_argument("--no-cuts", action="store_true", help="leave the network alone")
    chosen = parser.parse_args()
    plan = Plan(
        kills=chosen.kills,
        games=chosen.games,
        minutes=chosen.minutes,
        seed=chosen.seed,
        round_cap=chosen.rounds,
        cuts=not chosen.no_cuts,
    )
    logging.basicConfig(level=logging.ERROR)
    summary = asyncio.run(Chaos(plan, lambda line: print(line, flush=True)).run())
    print(summary.table())
    sys.exit(1 if summary.problems else 0)


if __name__ == "__main__":
    main()
