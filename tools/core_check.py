"""Run the golden playouts and the property tests on the compiled core: `make core-check`.

Builds the wheel, unpacks it into a directory of its own and puts that first on the path of a new
process, so that the compiled modules stand before the source for these tests and nowhere else.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from core_wheel import build, has_compiler

ROOT: Final = Path(__file__).parents[1]
TESTS: Final = ("tests/golden/test_playouts.py", "tests/property")
PROBE: Final = "import opolyx_rules, sys; sys.exit(not opolyx_rules.compiled)"


def main() -> int:
    """Build, unpack, test."""
    parser = argparse.ArgumentParser(prog="make core-check", description=__doc__)
    parser.add_argument("--wheel", type=Path, help="this wheel, instead of building one")
    parser.add_argument("tests", nargs="*", default=TESTS, help="other tests, or options of pytest")
    chosen = parser.parse_args()
    if chosen.wheel is None and not has_compiler():
        print("there is no C compiler here (Debian: gcc): nothing to check", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="opolyx-core-check-") as folder:
        wheel = chosen.wheel or build(Path(folder) / "wheel", compiled=True)
        site = Path(folder) / "site"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        if _run(site, "-c", PROBE):
            print("the core in this wheel is not compiled", file=sys.stderr)
            return 1
        return _run(site, "-m", "pytest", "-q", *chosen.tests)


def _run(site: Path, *arguments: str) -> int:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(  # noqa: S603 - our own interpreter and arguments
        [sys.executable, *arguments], cwd=ROOT, env=environment, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
