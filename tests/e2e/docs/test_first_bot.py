"""docs/first-bot.md as a reader follows it: its program plays, its replay holds."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Final

import pytest

from support_sdk import OPOLYX, ServeProcess

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = (ROOT / "docs" / "first-bot.md").read_text("utf-8")
PROGRAM, KEEP_REPLAY = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


async def said_by(*command: str | Path, cwd: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert 0 == process.returncode, err.decode()
    return out.decode()


def with_replay() -> str:
    """The program with the line that the page adds at the end of `main`."""
    main, dunder = PROGRAM.split("\n\n\nif __name__")
    return (
        f"from pathlib import Path\n{main}\n        {KEEP_REPLAY.strip()}\n\n\nif __name__{dunder}"
    )


@pytest.mark.timeout(120)
async def test_the_program_of_the_page_plays_a_game_whose_dice_hold(tmp_path: Path) -> None:
    (tmp_path / "first_bot.py").write_text(with_replay(), "utf-8")
    data = tmp_path / "opolyx-data"
    data.mkdir()

    async with ServeProcess(data) as server:
        said = await said_by(sys.executable, "first_bot.py", server.address, cwd=tmp_path)

    for words in (r"playing g_\w+", r"\d+ decisions, 0 refused", r"1\. .+: \d+k", r"4\. .+: \d+k"):
        assert re.search(f"^{words}$", said, re.MULTILINE), said
    verdict = await said_by(OPOLYX, "verify", "game.jsonl", cwd=tmp_path)
    assert verdict.startswith("verified: ")
