"""The code asks for texts that there are, with their values; and no text is there for nobody."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from opolyx_sdk.messages import Table
from opolyx_sdk.messages.catalogue import read_texts
from opolyx_sdk.messages.patterns import parse, slots

PACKAGE: Final = Path(__file__).resolve().parents[3] / "clients/python_sdk/opolyx_sdk"
ENGLISH: Final = read_texts("en")
SECTIONS: Final = {key.partition(".")[0] for key in ENGLISH}
KEY: Final = re.compile(r"[a-z_]+(\.\w+)+")
NAMES: Final = set(
    re.findall(
        r"\w+",
        """event refusal refusal_with action phase mode mode_about edition group god rank rarity
        award occupant room_state game_state detached""",
    )
)
"""Sections keyed by classes, reasons and names, for every frontend; other tests see to them."""


def sources() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def calls() -> list[tuple[str, ast.Call]]:
    """Every call of a method `text`, `tell` or the like whose first argument is a key."""
    return [
        (where, node)
        for where, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "text"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and KEY.fullmatch(str(node.args[0].value))
    ]


@pytest.fixture(scope="module")
def strings() -> tuple[set[str], set[str]]:
    """All strings of the code, and what its formatted strings begin with."""
    whole: set[str] = set()
    beginnings: set[str] = set()
    for _, tree in sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and isinstance(
                first := node.values[0], ast.Constant
            ):
                beginnings.add(str(first.value))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                whole.add(node.value)
    return whole, beginnings


def test_there_are_calls_to_look_at(calls: list[tuple[str, ast.Call]]) -> None:
    assert len(calls) > 20


def test_the_code_asks_for_texts_that_there_are(strings: tuple[set[str], set[str]]) -> None:
    keys = [one for one in strings[0] if KEY.fullmatch(one) and one.split(".")[0] in SECTIONS]
    sections = {key.rpartition(".")[0] for key in ENGLISH}

    assert [key for key in keys if key not in ENGLISH and key not in sections] == []


def test_the_code_gives_the_values_that_texts_need(calls: list[tuple[str, ast.Call]]) -> None:
    wrong = []
    for where, call in calls:
        assert isinstance(call.args[0], ast.Constant)
        key = str(call.args[0].value)
        given = {one.arg for one in call.keywords}
        if key in ENGLISH and None not in given and given != slots(parse(ENGLISH[key])):
            wrong.append(f"{where}:{call.lineno} {key} gets {sorted(map(str, given))}")

    assert wrong == []


def test_every_text_is_asked_for_somewhere(strings: tuple[set[str], set[str]]) -> None:
    whole, beginnings = strings
    starts = tuple(one for one in beginnings if "." in one)
    called = tuple(f"{one}." for one in whole if one in SECTIONS or f"{one}." in starts)
    idle = [
        key
        for key in ENGLISH
        if key not in whole
        and not key.startswith((*starts, *called))
        and key.partition(".")[0] not in NAMES
    ]

    assert idle == []


def test_a_key_that_is_missing_would_be_noticed() -> None:
    assert "screen.nothing_of_the_kind" == Table(()).text("screen.nothing_of_the_kind")
