"""Watch the whole system with a real Prometheus, and have everything go wrong once.

`make monitoring-check`: three services, a router, a Prometheus and `opolyx load`. Every query of
every dashboard must have an answer; every alert must fire when its fault happens, and none before.
The rules are the real ones in quick motion. Ends with 1 if something isn't so; about five minutes.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

from support_faults import FAULTS
from support_monitored import find_envoy, find_prometheus
from support_monitoring import rules
from support_monitoring_check import QUIET_S, run_check


def main() -> int:
    """Run it, and print what was found."""
    parser = argparse.ArgumentParser(prog="make monitoring-check", description=__doc__)
    parser.add_argument("--only", default="", help="faults whose name holds this")
    parser.add_argument("--well", type=float, default=QUIET_S, help="seconds without a fault first")
    parser.add_argument("--pictures", action="store_true", help="draw the dashboards into docs")
    parser.add_argument("--keep", type=Path, help="directory for logs and data, kept")
    chosen = parser.parse_args()
    for name, found in (("prometheus", find_prometheus()), ("envoy", find_envoy())):
        if found is None:
            print(f"needs {name}")
            return 1
    draw = None
    if chosen.pictures:
        from dashboard_pictures import draw_all

        draw = draw_all
    faults = [fault for fault in FAULTS if chosen.only in fault.name]
    folder = chosen.keep or Path(tempfile.mkdtemp(prefix="opolyx-monitoring-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        findings = asyncio.run(
            run_check(
                folder, lambda line: print(line, flush=True), faults, quiet_s=chosen.well, draw=draw
            )
        )
    finally:
        if not chosen.keep:
            shutil.rmtree(folder, ignore_errors=True)
    if not chosen.only and chosen.well >= QUIET_S:
        alerts = {rule.name for rule in rules() if rule.is_alert}
        findings.problems += [
            f"{name} was not made to fire" for name in sorted(alerts - findings.fired.keys())
        ]
    print(f"{len(findings.fired)} alerts fired, {findings.queries} queries answered")
    for problem in findings.problems:
        print(f"PROBLEM: {problem}")
    return 1 if findings.problems else 0


if __name__ == "__main__":
    sys.exit(main())
