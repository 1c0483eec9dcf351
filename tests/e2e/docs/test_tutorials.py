"""The tutorials as a reader follows them: every program in them runs, against a real server."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Final

import pytest

from support_sdk import OPOLYX, ServeProcess

TUTORIALS: Final = Path(__file__).parents[3] / "docs" / "tutorials"
MINE: Final = ("first-bot.md", "trading-bot.md", "frontend.md")


def programs(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (TUTORIALS / page).read_text("utf-8"), re.DOTALL)


async def said_by(*command: str | Path, cwd: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert 0 == process.returncode, out.decode()[-2000:] + err.decode()
    return out.decode()


def with_replay(program: str, keep: str) -> str:
    """The program with the line that the page adds at the end of `main`."""
    main, dunder = program.split("\n\n\nif __name__")
    return f"from pathlib import Path\n{main}\n        {keep.strip()}\n\n\nif __name__{dunder}"


@pytest.mark.timeout(180)
async def test_the_first_bot_plays_a_game_whose_dice_hold(tmp_path: Path) -> None:
    (tmp_path / "first_bot.py").write_text(with_replay(*programs("first-bot.md")), "utf-8")
    async with ServeProcess(tmp_path) as server:
        said = await said_by(sys.executable, "first_bot.py", server.address, cwd=tmp_path)
        run = ("bot", "run", "first_bot:Collector", "--server", server.address)
        ran = await said_by(OPOLYX, *run, "--strict", cwd=tmp_path)

    for words in (r"playing g_\w+", r"\d+ decisions, 0 refused", r"1\. .+: \d+k", r"4\. .+: \d+k"):
        assert re.search(f"^{words}$", said, re.MULTILINE), said
    assert re.search(
        r"^g_\w+: place [1-4]; \d+ decisions, 0 refused, 0 answered", ran, re.MULTILINE
    )
    verdict = await said_by(OPOLYX, "verify", "game.jsonl", cwd=tmp_path)
    assert verdict.startswith("verified: ")


@pytest.mark.timeout(180)
async def test_the_trading_bot_plays_asks_and_is_tested(tmp_path: Path) -> None:
    bot, ask, test, keep = programs("trading-bot.md")
    (tmp_path / "keep_token.py").write_text(keep, "utf-8")
    (tmp_path / "trading_bot.py").write_text(bot, "utf-8")
    (tmp_path / "ask.py").write_text(ask, "utf-8")
    (tmp_path / "test_trading_bot.py").write_text(test, "utf-8")
    async with ServeProcess(tmp_path) as server:
        run = ("bot", "run", "trading_bot:Trader", "--server", server.address)
        ran = await said_by(OPOLYX, *run, "--strict", cwd=tmp_path)
        asked = await said_by(sys.executable, "ask.py", server.address, cwd=tmp_path)
        kept = await said_by(sys.executable, "keep_token.py", server.address, cwd=tmp_path)
        token = ("--token-file", "trader.jwt")
        lasting = await said_by(OPOLYX, *run, *token, "--against", "random", cwd=tmp_path)
    passed = await said_by(
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:randomly",
        "test_trading_bot.py",
        cwd=tmp_path,
    )

    assert " 0 refused, 0 answered" in ran
    assert "gives 100k for 300k: allowed is False" in asked
    assert "refused by TRADE-5: " in asked
    assert re.fullmatch(r"Trader is b_\w+\n", kept)
    assert 0o600 == (tmp_path / "trader.jwt").stat().st_mode & 0o777
    assert re.search(r"^g_\w+: place [12];", lasting, re.MULTILINE)
    assert "1 passed" in passed


@pytest.mark.timeout(180)
async def test_the_frontend_leads_through_a_whole_game(tmp_path: Path) -> None:
    (program,) = programs("frontend.md")
    (tmp_path / "frontend.py").write_text(program, "utf-8")
    async with ServeProcess(tmp_path) as server:
        said = await said_by(sys.executable, "frontend.py", server.address, cwd=tmp_path)

    assert re.search(r"^ROLL, \d+ s left: ", said, re.MULTILINE)
    assert re.search(r"^  1\. Roll\(\)", said, re.MULTILINE)
    assert re.search(r"^\* Ada +[\d,]+k on .+; ", said, re.MULTILINE)
    assert "Ada rolls " in said
    for place in range(1, 5):
        assert re.search(rf"^{place}\. .+: [\d,]+k$", said, re.MULTILINE), said[-500:]
    assert "no: " not in said


def test_commands_of_the_pages_have_options_that_exist() -> None:
    text = "".join((TUTORIALS / page).read_text("utf-8") for page in MINE)
    source = (Path(__file__).parents[3] / "clients/python_sdk/opolyx_sdk/cli/bot.py").read_text(
        "utf-8"
    )
    used = set(re.findall(r"opolyx bot run [^\n]*?(--[a-z-]+)", text))

    assert used
    assert [one for one in used if f" {one[2:].replace('-', '_')}: " not in source] == []
