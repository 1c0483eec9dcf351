"""The pages on evaluating and on search as a reader follows them, and the example bots."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from opolyx_sdk import Bot
from opolyx_sdk.bot_loading import load_bot
from opolyx_sdk.local import simulate
from opolyx_sdk.local.observation import size_of
from support_sdk import OPOLYX

ROOT: Final = Path(__file__).parents[3]
EVALUATING: Final = (ROOT / "docs/tutorials/evaluating-bots.md").read_text("utf-8")
SEARCH: Final = (ROOT / "docs/tutorials/search-and-learning.md").read_text("utf-8")
EXAMPLES: Final = sorted((ROOT / "clients/python_sdk/examples").glob("*.py"))


def snippets(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def said_by(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=170, check=False
    )
    assert 0 == done.returncode, done.stdout[-1000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.timeout(240)
def test_the_page_on_evaluating_leads_from_a_game_to_a_ghost_run(tmp_path: Path) -> None:
    my_bot, one_game, program = snippets(EVALUATING, "python")
    (tmp_path / "my_bot.py").write_text(my_bot)
    (tmp_path / "new_bot.py").write_text(my_bot)
    (tmp_path / "one_game.py").write_text(one_game)
    (tmp_path / "arena_program.py").write_text(program)

    first, again = (said_by(sys.executable, "one_game.py", cwd=tmp_path) for _ in range(2))
    assert re.match(r"places \(\d, \d, \d, \d\) net worth .* rounds \d+\n", first)
    assert "MyBot" in first
    assert first == again
    assert said_by(OPOLYX, "verify", "game.jsonl", cwd=tmp_path).startswith("verified: ")
    said = said_by(sys.executable, "arena_program.py", cwd=tmp_path)
    assert re.search(r"^MyBot: won \d+% \(\d+% to \d+%\)$", said, re.MULTILINE)
    for command in snippets(EVALUATING, "sh"):
        words = command.split()
        if words[1] == "arena":  # as on the page, but with fewer games
            at = words.index("--games")
            words[at + 1 :] = ["2", "--workers", "1", *words[at + 2 :]]
        out = said_by(OPOLYX, *words[1:], cwd=tmp_path)
        assert "digest " in out if words[1] == "arena" else "your bot: " in out


@pytest.mark.timeout(240)
def test_the_programs_of_the_page_on_search_run(tmp_path: Path) -> None:
    wanted = (
        r"\d+ outcomes; a double in 0\.167; worth \d+k then\n",
        r"\([12], [12]\)\n",
        r"\([123], [123], [123]\)\n",
        r"\{'seat_0': -?[\d.]+, 'seat_1': -?[\d.]+\}\n",
    )
    programs = snippets(SEARCH, "python")
    assert len(wanted) == len(programs)
    for number, (program, words) in enumerate(zip(programs, wanted, strict=True)):
        (tmp_path / f"program_{number}.py").write_text(program)
        assert re.fullmatch(words, said_by(sys.executable, f"program_{number}.py", cwd=tmp_path))


def test_the_page_says_the_sizes_that_are() -> None:
    assert f"({size_of(4)} for 4)" in SEARCH


@pytest.mark.timeout(180)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_bot_plays_without_a_mistake(path: Path) -> None:
    name = re.search(r":(\w+) ", path.read_text("utf-8").split('"""')[1])
    assert name is not None
    make = load_bot(f"{path}:{name[1]}")
    bots: list[Bot | str] = [make(), "steady", make()]

    record = simulate("blitz@full", bots, 4, strict=True)
    assert record == simulate("blitz@full", [make(), "steady", make()], 4, strict=True)
    assert record.reports[0].decisions > 20


def test_there_are_example_bots() -> None:
    assert {"collector", "dreamer", "forecaster"} <= {path.stem for path in EXAMPLES}
