"""The documents name only files and commands that exist."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[3]
DOCUMENTS: Final = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK: Final = re.compile(r"\]\(([^)#\s]+)")
CODE: Final = re.compile(r"`([^`\n]+)`")
TOP: Final = ("clients/", "deploy/", "docs/", "proto/", "services/", "tests/", "tools/")
COMMAND: Final = re.compile(r"\bmake ([a-z][a-z-]*)")
TARGET: Final = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)


def named(path: Path) -> str:
    """Return the path from the root, as the test's name."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_links_lead_to_files_of_the_repository(document: Path) -> None:
    links = [link for link in LINK.findall(document.read_text()) if "://" not in link]

    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_paths_in_code_style_exist(document: Path) -> None:
    paths = [code for code in CODE.findall(document.read_text()) if is_path(code)]

    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_make_commands_exist(document: Path) -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text()))
    code = " ".join(re.findall(r"```sh\n.*?```|`[^`\n]+`", document.read_text(), re.DOTALL))

    assert set(COMMAND.findall(code)) <= targets


def is_path(code: str) -> bool:
    """Tell whether `code` is a path from the root, without wildcard or placeholder."""
    return code.startswith(TOP) and re.search(r"[\s*{}<>…:]", code) is None
