"""Bots by their name on a command line, and what is said when there is none."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from opolyx_sdk import OpolyxError, SteadyBot
from opolyx_sdk.bot_loading import load_bot

BOTS = """
from opolyx_sdk import RandomBot, SteadyBot

class Mine(SteadyBot):
    class Inner(RandomBot):
        pass

def made():
    return SteadyBot(reserve=5)

def broken():
    raise RuntimeError("boo")

def leaving():
    raise SystemExit(4)

number = 3
"""


@pytest.fixture(autouse=True)
def a_folder_of_bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "bots_of_a_test.py").write_text(BOTS)
    (tmp_path / "broken_bots_of_a_test.py").write_text("def (")
    (tmp_path / "leaving_bots_of_a_test.py").write_text("import sys; sys.exit(5)")
    (tmp_path / "json.py").write_text(BOTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    yield
    sys.modules.pop("bots_of_a_test", None)


@pytest.mark.parametrize(
    "name",
    [
        "bots_of_a_test:Mine",
        "bots_of_a_test:made",
        "bots_of_a_test.py:Mine",
        "opolyx_sdk:SteadyBot",
    ],
)
def test_a_bot_is_found_and_made_anew_each_time(name: str) -> None:
    make = load_bot(name)

    assert isinstance(make(), SteadyBot)
    assert make() is not make()


def test_a_bot_may_be_within_a_class() -> None:
    assert "Inner" == type(load_bot("bots_of_a_test:Mine.Inner")()).__name__


def test_a_file_elsewhere_is_found_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")

    assert "Mine" == type(load_bot(f"{tmp_path}/bots_of_a_test.py:Mine")()).__name__


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Mine", "'Mine' names no bot: write MODULE:CLASS"),
        ("bots_of_a_test:", "names no bot"),
        (":Mine", "names no bot"),
        ("bots_of_a_test:Yours", "bots_of_a_test has no Yours; it has Mine$"),
        ("string:Yours", "string has no Yours; it has no bots$"),
        ("nowhere_at_all:Mine", "can't import nowhere_at_all: ModuleNotFoundError"),
        ("broken_bots_of_a_test:Mine", "can't import broken_bots_of_a_test: SyntaxError"),
        ("leaving_bots_of_a_test:Mine", "can't import leaving_bots_of_a_test: SystemExit: 5"),
        ("bots_of_a_test:leaving", r"bots_of_a_test:leaving\(\) failed: SystemExit: 4"),
        ("bots_of_a_test:number", "can't be called"),
        ("bots_of_a_test:broken", r"bots_of_a_test:broken\(\) failed: RuntimeError: boo"),
        ("builtins:dict", r"builtins:dict\(\) makes a dict, which is no opolyx_sdk.Bot"),
        ("opolyx_sdk:Bot", "failed: TypeError"),
        ("nowhere.py:Mine", "can't import nowhere.py: FileNotFoundError: there is no"),
        ("json.py:Mine", "another module is called json: give the file another name"),
    ],
)
def test_what_is_no_bot_is_said(name: str, words: str) -> None:
    with pytest.raises(OpolyxError, match=words):
        load_bot(name)
