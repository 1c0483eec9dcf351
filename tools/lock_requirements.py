"""Write `requirements.lock`: every third-party package at one version, with hashes and no host.

The input is what the members and the workspace declare in their `pyproject.toml`; the members
themselves are left out, because they are installed from the checkout. Needs `uv` and a package
index; everything else in the repository works without either.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "requirements.lock"
OLDEST_PYTHON: Final = "3.11"
HEADER: Final = (
    "# Made by `make lock` from the pyproject.toml files. Hashes cover every platform's wheels.\n"
)


def main() -> int:
    """Resolve, write the lock and return the exit code of the resolver."""
    with tempfile.TemporaryDirectory() as name:
        output = Path(name) / LOCK.name
        if LOCK.exists():
            # uv keeps the versions it finds in its output file, if they still fit.
            shutil.copy(LOCK, output)
        command = [
            *(sys.executable, "-m", "uv", "pip", "compile", "-", "--output-file", str(output)),
            *("--universal", "--python-version", OLDEST_PYTHON, "--generate-hashes"),
            *("--no-header", "--no-annotate", "--no-config", "--quiet"),
            *sys.argv[1:],
        ]
        requirements = "\n".join(declared_requirements())
        done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
            command, input=requirements, text=True, cwd=ROOT, check=False
        )
        if done.returncode == 0:
            LOCK.write_text(HEADER + without_comments(output.read_text()))
    return done.returncode


def declared_requirements() -> list[str]:
    """Return all third-party requirements of members and tools, sorted, without duplicates."""
    workspace = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found: set[str] = set()
    for group in workspace["dependency-groups"].values():
        found.update(entry for entry in group if isinstance(entry, str))
    for member in workspace["tool"]["uv"]["workspace"]["members"]:
        declared = tomllib.loads((ROOT / member / "pyproject.toml").read_text())
        found.update(declared["build-system"]["requires"])
        found.update(declared["project"]["dependencies"])
        for extra in declared["project"].get("optional-dependencies", {}).values():
            found.update(extra)
    return sorted(requirement for requirement in found if not is_member(requirement))


def is_member(requirement: str) -> bool:
    """Tell whether `requirement` names a distribution of this workspace."""
    return re.match(r"opolyx(-|$)", requirement) is not None


def without_comments(text: str) -> str:
    """Return `text` without comment lines, which could name an index."""
    return "".join(line + "\n" for line in text.splitlines() if not line.lstrip().startswith("#"))


if __name__ == "__main__":
    raise SystemExit(main())
