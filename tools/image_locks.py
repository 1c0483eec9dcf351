"""Write the locks of the container images: the part of `requirements.lock` that an image needs.

`python tools/image_locks.py` writes `deploy/docker/*.lock`; with `--check` it only compares. What a
package needs is read from the installed packages, so neither command asks a package index.
"""

import argparse
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "requirements.lock"
FOLDER: Final = ROOT / "deploy" / "docker"
HEADER: Final = (
    "# Made by `make image-locks` from requirements.lock; for Linux and CPython {python}.\n"
)

SERVICES: Final = (
    "proto",
    "services/kit",
    "services/engine/rules",
    "services/engine/server",
    "services/matchmaker",
    "services/progression",
)
IMAGES: Final[dict[str, tuple[str, ...]]] = {
    "services": SERVICES,
    "all-in-one": (*SERVICES, "services/all_in_one", "clients/python_sdk"),
}
"""The members in each image, by the name of its lock."""

_EXTRAS: Final = ("otel", "redis")
_BUILD: Final = "build"


def main() -> int:
    """Write or compare the locks; 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing, fail if a lock differs"
    )
    check = parser.parse_args().check
    differing = []
    for name, text in locks().items():
        path = FOLDER / f"{name}.lock"
        if path.exists() and path.read_text() == text:
            continue
        differing.append(path.name)
        if not check:
            path.write_text(text)
    if check and differing:
        sys.stderr.write(f"run `make image-locks`: {', '.join(differing)} differ\n")
        return 1
    return 0


def locks() -> dict[str, str]:
    """The text of each lock, by its name."""
    blocks = locked_blocks(LOCK.read_text())
    made = {name: _lock(blocks, _needed_by(members)) for name, members in IMAGES.items()}
    made[_BUILD] = _lock(blocks, ["hatchling", "editables"])
    return made


def locked_blocks(text: str) -> dict[str, str]:
    """The lines of each package of a lock, by its canonical name."""
    entries = re.split(r"\n(?=[A-Za-z0-9])", text.rstrip("\n"))
    found: dict[str, str] = {}
    for entry in entries:
        if match := re.match(r"([A-Za-z0-9._-]+)==", entry):
            found[canonicalize_name(match[1])] = entry
    return found


def _needed_by(members: Iterable[str]) -> Iterator[str]:
    for member in members:
        project = tomllib.loads((ROOT / member / "pyproject.toml").read_text())["project"]
        extras = project.get("optional-dependencies", {})
        yield from project["dependencies"]
        for extra in _EXTRAS:
            yield from extras.get(extra, ())


def _lock(blocks: dict[str, str], requirements: Iterable[str]) -> str:
    names = sorted(_closure(requirements))
    missing = [name for name in names if name not in blocks]
    if missing:
        raise SystemExit(f"not in {LOCK.name}: {', '.join(missing)}; run `make lock`")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return HEADER.format(python=version) + "".join(blocks[name] + "\n" for name in names)


def _closure(requirements: Iterable[str]) -> set[str]:
    """Names of all packages outside this workspace that the requirements lead to."""
    environment: dict[str, str] = {**default_environment(), "sys_platform": "linux"}  # type: ignore[dict-item]
    found: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if requirement.marker and not requirement.marker.evaluate({**environment, "extra": ""}):
                continue
            if (name, extra) in found or name.startswith("opolyx"):
                continue
            found.add((name, extra))
            for text in importlib.metadata.requires(name) or ():
                needed = Requirement(text)
                if needed.marker is None or needed.marker.evaluate({**environment, "extra": extra}):
                    waiting.append(Requirement(_unmarked(needed)))
    return {name for name, _ in found}


def _unmarked(requirement: Requirement) -> str:
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    return f"{requirement.name}{extras}"


if __name__ == "__main__":
    raise SystemExit(main())
