"""The lock: complete, hashed, fitting what the distributions declare, and naming no host."""

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lock_requirements import declared_requirements

ROOT: Final = Path(__file__).resolve().parents[3]
LOCK: Final = ROOT / "requirements.lock"
PIN: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)

PINNED: Final = {
    canonicalize_name(name): version for name, version in PIN.findall(LOCK.read_text())
}


@pytest.mark.parametrize("declared", declared_requirements())
def test_declared_requirement_is_locked_at_a_version_that_fits(declared: str) -> None:
    requirement = Requirement(declared)
    version = PINNED.get(canonicalize_name(requirement.name))

    assert version is not None, "run `make lock`"
    assert requirement.specifier.contains(version), "run `make lock`"


def test_make_installs_all_members() -> None:
    workspace = tomllib.loads((ROOT / "pyproject.toml").read_text())
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    members = re.search(r"^MEMBERS := (.*)$", makefile, re.MULTILINE)

    assert members is not None
    assert workspace["tool"]["uv"]["workspace"]["members"] == members[1].split()


def test_lock_names_no_host() -> None:
    text = LOCK.read_text()

    options = [line for line in text.splitlines() if line.startswith("-")]

    assert "://" not in text
    assert [] == options


def test_every_locked_package_has_hashes() -> None:
    entries = [entry for entry in re.split(r"\n(?=[A-Za-z0-9])", LOCK.read_text()) if "==" in entry]

    assert entries
    assert [] == [entry for entry in entries if "--hash=sha256:" not in entry]
