"""Fail if the rules core or the server has become a quarter slower than it was: `make bench-guard`.

No figure here is a time. Core work is set against the same work of the core as it was when the guard was
renewed, the server against a bare server with the same messages; the two sides are measured in turn, in
CPU time, and the median of their ratios counts. What is unclear is measured again, twice at most.
"""

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))

import guard_reference
from guard_costs import measure, server_cost
from guard_limits import judge, load, python_version, save
from opolyx_rules import compiled

_TURNS_FOR_A_LIMIT = 5


def main() -> int:
    """Measure all, print the table, and say whether anything is over its limit."""
    parser = argparse.ArgumentParser(prog="make bench-guard", description=__doc__)
    parser.add_argument(
        "--renew",
        action="store_true",
        help="compare with the core as it is now from now on, and with what the server costs now",
    )
    chosen = parser.parse_args()
    if compiled:
        print("the interpreted core is guarded; this one is compiled", file=sys.stderr)
        return 2
    if chosen.renew:
        guard_reference.pack()
        cost = server_cost(None, turns=_TURNS_FOR_A_LIMIT)
        save(cost)
        print(f"the server costs {cost:.2f} bare ones on CPython {python_version()}")
        return 0
    limit = load()
    if limit is None:
        print(f"the server has no limit for CPython {python_version()}: it is not guarded")
    verdicts = judge(measure(limit), limit)
    print(f"{'':14}{'costs':>8}{'was':>8}{'times':>8}")
    for one in verdicts:
        mark = "  slower" if one.slower else ""
        print(f"{one.name:14}{one.cost:8.2f}{one.limit:8.2f}{one.times:8.2f}{mark}")
    return 1 if any(one.slower for one in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
