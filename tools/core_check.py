"""Run the golden playouts and the property tests on the compiled core: `make core-check`.

Builds the wheel, unpacks it into a directory of its own and puts that first on the path of a new
process, so that the compiled modules stand before the source for these tests and nowhere else.

`make check` runs the quick form: built without optimising, since what mypyc makes of the source is
the same, with all golden playouts and fewer random ones. Where nothing can be compiled it says so and lets the
check go on; in CI that is a failure.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from core_wheel import build, lacking

ROOT: Final = Path(__file__).parents[1]
TESTS: Final = ("tests/golden/test_playouts.py", "tests/property")
QUICK: Final = (
    "tests/golden/test_playouts.py",
    "tests/property/test_playouts.py",
    "tests/property/test_states.py",
)
QUICK_PLAYOUTS: Final = "3"
PROBE: Final = "import opolyx_rules, sys; sys.exit(not opolyx_rules.compiled)"


def main() -> int:
    """Build, unpack, test."""
    parser = argparse.ArgumentParser(prog="make core-check", description=__doc__)
    parser.add_argument("--wheel", type=Path, help="this wheel, instead of building one")
    parser.add_argument("--quick", action="store_true", help="built plainly, with fewer games")
    parser.add_argument("tests", nargs="*", help="other tests, or options of pytest")
    chosen = parser.parse_args()
    if chosen.wheel is None and lacking():
        print(f"NOT CHECKED: the compiled core. There is {lacking()}.", file=sys.stderr)
        return 0 if chosen.quick and not os.environ.get("CI") else 2
    tests = chosen.tests or (QUICK if chosen.quick else TESTS)
    more = {"OPOLYX_PLAYOUTS": QUICK_PLAYOUTS} if chosen.quick else {}
    with tempfile.TemporaryDirectory(prefix="opolyx-core-check-") as folder:
        wheel = chosen.wheel
        if wheel is None:
            print("compiling the rules core", flush=True)
            wheel = build(Path(folder) / "wheel", compiled=True, opt="0" if chosen.quick else "1")
        site = Path(folder) / "site"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        if _run(site, more, "-c", PROBE):
            print("the core in this wheel is not compiled", file=sys.stderr)
            return 1
        return _run(site, more, "-m", "pytest", "-q", "-n", "2", *tests)


def _run(site: Path, more: Mapping[str, str], *arguments: str) -> int:
    environment = {**os.environ, **more, "PYTHONPATH": str(site)}
    return subprocess.run(  # noqa: S603 - our own interpreter and arguments
        [sys.executable, *arguments], cwd=ROOT, env=environment, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
