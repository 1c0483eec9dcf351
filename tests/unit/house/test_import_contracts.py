"""Each import contract is broken once, to see that it holds: a contract that can't fail is none."""

import configparser
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[3]
CONFIG: Final = ROOT / ".importlinter"
PACKAGES: Final = {
    path.name: path
    for path in (
        ROOT / "clients/python_sdk/opolyx_sdk",
        ROOT / "services/all_in_one/opolyx_server",
        ROOT / "services/engine/rules/opolyx_rules",
        ROOT / "services/engine/server/opolyx_engine",
        ROOT / "services/kit/opolyx_servicekit",
        ROOT / "services/matchmaker/opolyx_matchmaker",
        ROOT / "services/progression/opolyx_progression",
    )
}

# Contract, the file that gets the forbidden import, the import.
VIOLATIONS: Final = (
    ("services", "opolyx_matchmaker/planted.py", "import opolyx_engine"),
    ("services", "opolyx_progression/planted.py", "import opolyx_matchmaker"),
    ("services", "opolyx_servicekit/planted.py", "import opolyx_engine"),
    ("services", "opolyx_engine/planted.py", "import opolyx_server"),
    ("sdk-knows-no-service", "opolyx_sdk/planted.py", "import opolyx_server"),
    ("sdk-knows-no-service", "opolyx_sdk/planted.py", "import opolyx_servicekit"),
    ("services-know-no-sdk", "opolyx_server/planted.py", "import opolyx_sdk"),
    ("services-know-no-sdk", "opolyx_servicekit/planted.py", "import opolyx_sdk"),
    ("rules-users", "opolyx_matchmaker/planted.py", "import opolyx_rules"),
    ("rules-users", "opolyx_sdk/planted.py", "from opolyx_rules import engine"),
    ("rules-pure", "opolyx_rules/mechanics/planted.py", "import random"),
    ("rules-pure", "opolyx_rules/mechanics/planted.py", "from os import path"),
    ("rules-pure", "opolyx_rules/mechanics/planted.py", "from opolyx.engine.v1 import game_pb2"),
    ("rules-layers", "opolyx_rules/mechanics/planted.py", "from opolyx_rules import engine"),
    ("rules-layers", "opolyx_rules/unplaced.py", ""),
    ("mechanics-layers", "opolyx_rules/mechanics/unplaced.py", ""),
    ("phases-independent", "opolyx_rules/phases/unplaced.py", ""),
    (
        "generated-code-at-the-edges",
        "opolyx_engine/planted.py",
        "from opolyx.engine.v1 import game_pb2",
    ),
    ("generated-code-at-the-edges", "opolyx_sdk/planted.py", "import opolyx.engine.v1.game_pb2"),
    ("terminal-is-a-client", "opolyx_sdk/terminal/planted.py", "import opolyx_sdk._mirror"),
    ("terminal-is-a-client", "opolyx_sdk/terminal/planted.py", "import opolyx_rules.engine"),
    ("no-cycles", "opolyx_engine/planted.py", "import opolyx_engine.planted_package.inner"),
)


@pytest.fixture(scope="module")
def copied_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a copy of all packages, to plant files in."""
    root = tmp_path_factory.mktemp("packages")
    for name, package in PACKAGES.items():
        shutil.copytree(package, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    # One half of a cycle; harmless while there is no `planted`.
    half = root / "opolyx_engine" / "planted_package"
    half.mkdir()
    (half / "__init__.py").touch()
    (half / "inner.py").write_text("import opolyx_engine.planted\n")
    return root


@pytest.mark.parametrize(
    ("contract", "file", "statement"),
    VIOLATIONS,
    ids=[f"{v[0]}-{v[2] or v[1]}" for v in VIOLATIONS],
)
def test_contract_refuses_a_planted_violation(
    copied_packages: Path, contract: str, file: str, statement: str
) -> None:
    with planted(copied_packages / file, statement):
        code, output = lint_imports(copied_packages, contract)

    assert code == 1, output
    assert "BROKEN" in output or "not listed" in output


def test_every_contract_is_broken_once() -> None:
    config = configparser.ConfigParser()
    config.read(CONFIG)
    prefix = "importlinter:contract:"
    contracts = {name.removeprefix(prefix) for name in config.sections() if prefix in name}

    assert contracts == {contract for contract, _, _ in VIOLATIONS}


def test_terminal_contract_names_every_private_module_of_the_sdk() -> None:
    config = configparser.ConfigParser()
    config.read(CONFIG)
    forbidden = config["importlinter:contract:terminal-is-a-client"]["forbidden_modules"].split()
    sdk = PACKAGES["opolyx_sdk"]
    private = {
        ".".join(path.relative_to(sdk.parent).with_suffix("").parts)
        for folder in (sdk, sdk / "local")
        for path in folder.glob("_[!_]*")
    }

    assert private <= set(forbidden)


def test_all_contracts_hold(copied_packages: Path) -> None:
    code, output = lint_imports(copied_packages)

    assert code == 0, output


@contextmanager
def planted(path: Path, statement: str) -> Iterator[None]:
    """Have a module with one statement in the copy, for a while."""
    path.write_text(f"{statement}\n")
    try:
        yield
    finally:
        path.unlink()


def lint_imports(packages: Path, *contracts: str) -> tuple[int, str]:
    """Lint the copy in `packages`, by all or some contracts; return exit code and output."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    command += ["--config", str(CONFIG), *(f"--contract={contract}" for contract in contracts)]
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    done = subprocess.run(
        command, cwd=packages, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr
