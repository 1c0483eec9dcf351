"""The same measures on the compiled core, in a process that finds it before the source.

The wheel in `dist/core` is used if it was made of the source as it is now, else it is built anew.
"""

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import core_wheel
from results import RUN, read

WHEELS: Final = core_wheel.ROOT / "dist/core"


def find_wheel() -> Path | None:
    """The compiled wheel in `dist/core`, if it was made of the source as it is."""
    return next((wheel for wheel in WHEELS.glob("*.whl") if is_current(wheel)), None)


def is_current(wheel: Path) -> bool:
    """Whether a wheel is compiled, and holds the source of the rules as it is now."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        held = {name: archive.read(name) for name in names if name.endswith(".py")}
    is_compiled = any(name.endswith((".so", ".pyd")) for name in names)
    source = core_wheel.CORE / core_wheel.PACKAGE
    wanted = {
        path.relative_to(core_wheel.CORE).as_posix(): path.read_bytes()
        for path in source.rglob("*.py")
    }
    return is_compiled and held == wanted


def measure(parts: Sequence[str], *, quick: bool, may_build: bool) -> bool:
    """Measure these parts on the compiled core, and take their figures into this run's.

    Args:
        parts: names of parts.
        quick: as for the whole run.
        may_build: whether a wheel may be built, which takes a minute or more.

    Returns:
        Whether there was a compiled core to measure.
    """
    wheel = find_wheel()
    if wheel is None and may_build and core_wheel.has_compiler():
        print("the compiled core is built", flush=True)
        wheel = core_wheel.build(WHEELS, compiled=True)
    if wheel is None:
        print("the compiled core is not measured: there is none (`make core-wheel` builds it)")
        return False
    with tempfile.TemporaryDirectory(prefix="opolyx-bench-") as folder:
        site, found = Path(folder) / "site", Path(folder) / "found.json"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        command = [sys.executable, str(Path(__file__).parent), "--core", "this"]
        command += ["--json", str(found), *(["--quick"] if quick else []), "--only", *parts]
        environment = {**os.environ, "PYTHONPATH": str(site)}
        subprocess.run(command, env=environment, check=True)
        results = list(read(found))
    if any(one.core != "compiled" for one in results):
        raise RuntimeError("the core in the wheel is not compiled")
    RUN.results += results
    return True
