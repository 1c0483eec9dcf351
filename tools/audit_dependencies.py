"""Look for known faults in the packages that `requirements.lock` names: `make audit`.

Works without a network from a database of advisories in the OSV form, as a directory of JSON or YAML
files or one zip file: a clone of the Python Packaging Advisory Database (pypa/advisory-database on
GitHub), or OSV's export of the ecosystem PyPI. `--database`, or OPOLYX_ADVISORIES, says where it is.

With a network, pip-audit does the same: `.venv/bin/pip install pip-audit`, then
`.venv/bin/pip-audit --disable-pip --require-hashes --requirement requirements.lock`.

The exit code is 0 if nothing is known, 1 if something is, 2 if there is no database.
"""

import argparse
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml
from packaging.version import InvalidVersion, Version

LOCK: Final = Path(__file__).resolve().parents[1] / "requirements.lock"

_PINNED: Final = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)
_ENDINGS: Final = (".json", ".yaml", ".yml")
_ECOSYSTEM: Final = "PyPI"
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def locked(text: str) -> dict[str, set[str]]:
    """Versions of each package in a lock file, by normalised name."""
    found: dict[str, set[str]] = {}
    for name, version in _PINNED.findall(text):
        found.setdefault(normalised(name), set()).add(version)
    return found


def normalised(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def faults(database: Path, packages: Mapping[str, set[str]]) -> Iterator[tuple[str, str, str, str]]:
    """Package, version, id and summary of each advisory that is about a locked version.

    Raises:
        OSError: the database can't be read.
        ValueError: it holds no advisory.
    """
    seen = 0
    for name, text in _files(database, packages):
        seen += 1
        advisory: Any = json.loads(text) if name.endswith(".json") else yaml.load(text, _LOADER)  # noqa: S506
        if not isinstance(advisory, Mapping) or advisory.get("withdrawn"):
            continue
        for affected in advisory.get("affected") or ():
            package = affected.get("package") or {}
            named = normalised(str(package.get("name", "")))
            if package.get("ecosystem") != _ECOSYSTEM or named not in packages:
                continue
            for version in sorted(packages[named]):
                if is_affected(version, affected):
                    summary = advisory.get("summary") or advisory.get("details") or ""
                    yield named, version, str(advisory.get("id")), str(summary).split("\n")[0][:100]
    if not seen:
        raise ValueError(f"{database} holds no advisories")


def is_affected(version: str, affected: Mapping[str, Any]) -> bool:
    """Whether an advisory's part is about a version: it lists it, or a range holds it."""
    if version in (affected.get("versions") or ()):
        return True
    try:
        wanted = Version(version)
        return any(_holds(one.get("events") or (), wanted) for one in _ranges(affected))
    except InvalidVersion:
        return False


def _ranges(affected: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (one for one in affected.get("ranges") or () if one.get("type") == "ECOSYSTEM")


def _holds(events: Sequence[Mapping[str, str]], wanted: Version) -> bool:
    """By the OSV rules: the last event that isn't behind the version decides."""
    inside = False
    for event in sorted(events, key=lambda one: _of_event(next(iter(one.values())))):
        if "introduced" in event and wanted >= _of_event(event["introduced"]):
            inside = True
        elif ("fixed" in event and wanted >= _of_event(event["fixed"])) or (
            "last_affected" in event and wanted > _of_event(event["last_affected"])
        ):
            inside = False
    return inside


def _of_event(version: str) -> Version:
    return Version("0.dev0" if version == "0" else version)


def _files(database: Path, packages: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """Names and texts; of a database sorted by package, only those of ours are read."""
    if database.is_dir():
        for path in sorted(database.rglob("*")):
            if path.suffix in _ENDINGS and _may_matter(path, packages):
                yield path.name, path.read_text("utf-8")
        return
    with zipfile.ZipFile(database) as archive:
        for name in archive.namelist():
            if name.endswith(_ENDINGS):
                yield name, archive.read(name).decode("utf-8")


def _may_matter(path: Path, packages: Mapping[str, set[str]]) -> bool:
    return path.parent.parent.name != "vulns" or normalised(path.parent.name) in packages


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit, and print what is known."""
    parser = argparse.ArgumentParser(prog="make audit", description=__doc__)
    parser.add_argument("--database", type=Path, default=os.environ.get("OPOLYX_ADVISORIES"))
    parser.add_argument("--lock", type=Path, default=LOCK)
    chosen = parser.parse_args(arguments)
    if chosen.database is None:
        sys.stderr.write(f"{__doc__}\nno database of advisories is named\n")
        return 2
    packages = locked(chosen.lock.read_text("utf-8"))
    try:
        found = list(faults(Path(chosen.database), packages))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        sys.stderr.write(f"can't use {chosen.database}: {error}\n")
        return 2
    for name, version, advisory, summary in found:
        print(f"{name} {version}: {advisory} {summary}")
    print(f"{len(packages)} packages, {len(found)} known faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
