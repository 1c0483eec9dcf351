"""Build the rules core as a compiled wheel, from the same source: `make core-wheel`.

mypyc compiles the modules on hot paths. It works on a copy, so that no compiled file ever lies beside
the source and shadows it. Where there is no C compiler, the wheel is the pure one.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
CORE: Final = ROOT / "services/engine/rules"
PACKAGE: Final = "opolyx_rules"
COMPILED: Final = (
    "actions.py",
    "chance/fair.py",
    "chance/recorded.py",
    "engine.py",
    "events.py",
    "ids.py",
    "queries.py",
    "ruleset.py",
    "state.py",
    "views.py",
    "content/boards.py",
    "content/decks.py",
    "mechanics/*.py",
    "phases/*.py",
    "policies/*.py",
)
"""What is worth compiling. `chance/source` stays as it is, because others derive from `Chance`, and
`reasons`, because mypyc gives no attributes to exceptions; the rest runs once a game."""

SETUP: Final = """
from setuptools import find_packages, setup

modules = {modules!r}
if modules:
    from mypyc.build import mypycify
    extensions = mypycify(modules, opt_level={opt!r}, debug_level="0")
else:
    extensions = []
setup(
    name="opolyx-rules",
    version={version!r},
    python_requires=">=3.11",
    packages=find_packages(),
    package_data={{"opolyx_rules": ["py.typed"]}},
    ext_modules=extensions,
)
"""


def main() -> None:
    """Build the wheel, and say which one it is."""
    parser = argparse.ArgumentParser(prog="make core-wheel", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist/core", help="where it goes")
    parser.add_argument("--pure", action="store_true", help="compile nothing")
    parser.add_argument("--opt", default="1", choices="0123", help="as the compiler's -O")
    chosen = parser.parse_args()
    compiles = not chosen.pure and has_compiler()
    wheel = build(chosen.out, compiled=compiles, opt=chosen.opt)
    if not compiles and not chosen.pure:
        print(f"there is {lacking()}: this wheel is pure Python")
    print(wheel)


def has_compiler() -> bool:
    """Whether all that compiling takes is there."""
    return not lacking()


def lacking() -> str:
    """What this machine lacks for compiling, with the Debian package that has it; empty for nothing."""
    command = os.environ.get("CC") or str(sysconfig.get_config_var("CC") or "cc")
    if shutil.which(command.split()[0]) is None:
        return "no C compiler here (Debian: gcc and libc6-dev)"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "no Python.h of this Python here (Debian: python3-dev)"
    return ""


def build(out: Path, *, compiled: bool, opt: str = "1") -> Path:
    """Build the wheel into a directory, which then holds no other.

    Raises:
        SystemExit: It can't be built: the compiler's own words were printed.
    """
    with tempfile.TemporaryDirectory(prefix="opolyx-core-") as folder:
        copy = Path(folder)
        unwanted = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        shutil.copytree(CORE / PACKAGE, copy / PACKAGE, ignore=unwanted)
        modules = compiled_modules(copy) if compiled else []
        setup = SETUP.format(modules=modules, version=version(), opt=opt)
        (copy / "setup.py").write_text(setup)
        made = copy / "made"
        _pip_wheel(copy, made)
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        return Path(shutil.move(next(made.glob("*.whl")), out))


def compiled_modules(folder: Path) -> list[str]:
    """Paths of the modules that are compiled, in a fixed order."""
    found = {path for pattern in COMPILED for path in (folder / PACKAGE).glob(pattern)}
    return sorted(str(path.relative_to(folder)) for path in found if path.name != "__init__.py")


def version() -> str:
    """The version of the pure wheel."""
    project = tomllib.loads((CORE / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def _pip_wheel(folder: Path, made: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(made), "."]
    done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
        command, cwd=folder, check=False
    )
    if done.returncode:
        raise SystemExit("the wheel could not be built")


if __name__ == "__main__":
    main()
