"""Builds the wheels that a user of the SDK needs, and tries them as a user would.

    python tools/sdk_check.py [--python PATH ...] [--wheels DIR]

Installs them into empty environments, once with the lowest versions of everything that they declare
and once with the newest, for each Python from 3.11 on that is here; imports every public module from
another directory; plays with the scripted server; and sees that an older pin is refused by the
installer instead of failing at run time. Needs a package index. Case A-36.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
MEMBERS: Final = ("proto", "services/engine/rules", "clients/python_sdk")
"""What `pip install opolyx-sdk[local]` needs of this repository."""

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS: Final = ("lowest-direct", "highest")
TOO_OLD: Final = ("protobuf<6.31.1", "grpcio<1.80")

_LONGEST_S: Final = 900
_TRY: Final = """
import importlib, pathlib, pkgutil, sys
import opolyx_sdk, opolyx_sdk.testing
from opolyx_sdk import Client
from opolyx_sdk.actions import Roll

def names(package):
    yield package.__name__
    for one in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if "pettingzoo" not in one.name and "plot" not in one.name:
            yield one.name

for name in names(opolyx_sdk):
    importlib.import_module(name)
with opolyx_sdk.testing.ScriptedServer() as server, Client(server.address) as client:
    server.game()
    client.create_guest("Ada")
    with client.play("g1") as game:
        assert 1 == game.submit(Roll())
site = pathlib.Path(opolyx_sdk.__file__).resolve().parents[1]
ours = sorted(one.name for one in site.glob("opolyx*") if one.is_dir() and "-" not in one.name)
strays = sorted(one.name for one in site.glob("*_pb2*"))
services = sorted(set(sys.modules) & {"pydantic", "structlog", "redis", "opolyx_engine"})
print(ours, strays, services)
assert ours == ["opolyx", "opolyx_rules", "opolyx_sdk"] and not strays and not services
"""


def main() -> int:
    """Build, install, try; 0 if all of it works."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--wheels", type=Path, help="only build the wheels, into this directory")
    parser.add_argument("--python", action="append", default=[], help="an interpreter to try, too")
    chosen = parser.parse_args()
    if chosen.wheels is not None:
        for wheel in build_wheels(chosen.wheels):
            print(wheel)
        return 0
    with tempfile.TemporaryDirectory(prefix="opolyx-sdk-check-") as scratch:
        return check(Path(scratch), [*found_pythons(), *chosen.python])


def build_wheels(directory: Path) -> list[Path]:
    """The wheels of the members, built with what is installed here: no index is asked."""
    directory.mkdir(parents=True, exist_ok=True)
    for member in MEMBERS:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir"]
        subprocess.run(  # noqa: S603 - our own command
            [*command, directory, ROOT / member], check=True, stdout=subprocess.DEVNULL
        )
    return sorted(directory.glob("*.whl"))


def top_level(wheel: Path) -> set[str]:
    """What a wheel puts at the top of site-packages, its metadata apart."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    return {name for name in tops if not name.endswith(".dist-info")}


def declared() -> list[str]:
    """What the SDK needs of others: named outright, so that the lowest of each is installed."""
    project = tomllib.loads((ROOT / "clients/python_sdk/pyproject.toml").read_text())["project"]
    extra = project["optional-dependencies"]["local"]
    return [one for one in (*project["dependencies"], *extra) if not one.startswith("opolyx")]


def check(scratch: Path, pythons: list[str]) -> int:
    """Try every combination, and print one line each."""
    wheels = scratch / "wheels"
    for wheel in build_wheels(wheels):
        print(f"{wheel.name}: {', '.join(sorted(top_level(wheel)))}")
    works = [
        tried(scratch, wheels, python, resolution)
        for python in pythons
        for resolution in RESOLUTIONS
    ]
    works += [refused(scratch, wheels, pythons[0], pin) for pin in TOO_OLD]
    return 0 if all(works) else 1


def tried(scratch: Path, wheels: Path, base: str, resolution: str) -> bool:
    """Whether the SDK installs and plays."""
    python = new_environment(scratch / "tried", base)
    how = f"--resolution={resolution}"
    installed = install(python, wheels, "opolyx-sdk[local]", *declared(), how)
    done = installed
    if installed.returncode == 0:
        elsewhere = scratch / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        done = run(str(python), "-W", "error", "-c", _TRY, cwd=elsewhere)
        helped = run(str(python.with_name("opolyx")), "--help", cwd=elsewhere)
        done = helped if done.returncode == 0 else done
    versions = ", ".join(
        line
        for line in run("uv", "pip", "freeze", f"--python={python}").stdout.splitlines()
        if line.startswith(("grpcio==", "protobuf==", "cyclopts==", "rich==", "googleapis"))
    )
    version = run(str(python), "--version").stdout.strip()
    print(f"{'ok  ' if done.returncode == 0 else 'FAIL'} {version}, {resolution}: {versions}")
    if done.returncode:
        print(done.stdout, done.stderr)
    return done.returncode == 0


def refused(scratch: Path, wheels: Path, base: str, pin: str) -> bool:
    """Whether the installer says no to a runtime that can't work."""
    python = new_environment(scratch / "too-old", base)
    done = install(python, wheels, "opolyx-sdk", pin)
    no = done.returncode != 0 and "unsatisfiable" in done.stderr
    print(f"{'ok  ' if no else 'FAIL'} {pin} is refused by the installer")
    return no


def new_environment(directory: Path, base: str) -> Path:
    """An empty environment's interpreter."""
    run("uv", "venv", "--clear", f"--python={base}", str(directory), check=True)
    return directory / "bin" / "python"


def install(python: Path, wheels: Path, *what: str) -> subprocess.CompletedProcess[str]:
    """Install from the wheels, and from the index what they need."""
    return run("uv", "pip", "install", f"--python={python}", f"--find-links={wheels}", *what)


def found_pythons() -> list[str]:
    """Interpreters on PATH that the SDK promises to run on."""
    found = []
    for version in PYTHONS:
        done = run("uv", "python", "find", "--no-project", "--no-python-downloads", version)
        found += [done.stdout.strip()] if done.returncode == 0 else []
    return found


def run(
    program: str, *arguments: str, cwd: Path | None = None, check: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a program, here without what this environment would put into it."""
    found = shutil.which(program, path=str(Path(sys.executable).parent)) or program
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME"}
    }
    return subprocess.run(  # noqa: S603 - our own commands
        [found, *arguments],
        cwd=cwd,
        check=check,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
    )


if __name__ == "__main__":
    sys.exit(main())
