"""Reported failures of systems like this one, cases A-01 to A-44: each has a test that names it."""

import ast
import re
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).resolve().parents[2]
CASES: Final = [f"A-{number:02}" for number in range(1, 45)]


@pytest.fixture(scope="module")
def numbered() -> set[str]:
    """The numbers in the docstrings of all tests."""
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.update(re.findall(r"\bA-\d\d\b", ast.get_docstring(node) or ""))
    return found


@pytest.mark.parametrize("case", CASES)
def test_case_has_a_test(case: str, numbered: set[str]) -> None:
    assert case in numbered
