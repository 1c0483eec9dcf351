"""Rehearse a rollout of everything and the loss of a node, with the manifests' own pods.

`make rehearsal`: within five minutes, on one machine. Ends with 1 if a promise was broken, or a pod
did not do as its manifest says.
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

from support_rehearsal import Rehearsal, rehearse


def main() -> None:
    """Run it, and print the summary."""
    usual = Rehearsal()
    parser = argparse.ArgumentParser(prog="make rehearsal", description=__doc__)
    parser.add_argument("--overlay", default=usual.overlay)
    parser.add_argument("--games", type=int, default=usual.games)
    parser.add_argument("--rounds", type=int, default=usual.round_cap, help="of a game")
    chosen = parser.parse_args()
    plan = Rehearsal(overlay=chosen.overlay, games=chosen.games, round_cap=chosen.rounds)
    logging.basicConfig(level=logging.ERROR)
    summary = asyncio.run(rehearse(plan, lambda line: print(line, flush=True)))
    print(summary.table())
    sys.exit(1 if summary.problems else 0)


if __name__ == "__main__":
    main()
