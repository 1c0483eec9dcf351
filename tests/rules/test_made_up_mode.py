"""What CONTRIBUTING.md says a new mode costs is tried: one file, two lines, and it is played."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import opolyx_rules

ROOT: Final = Path(__file__).resolve().parents[2]

GAME: Final = """
import opolyx_rules
from opolyx_rules import SeededChance, actors, apply, check, get_ruleset, result, start
from opolyx_rules.actions import BUILD_BY
from opolyx_rules.policies import POLICIES

ruleset = get_ruleset("lavish@full")
chance, choices = SeededChance(b"lavish"), SeededChance(b"choices")
state = start(ruleset, 4, chance)
print(opolyx_rules.__file__)
print(ruleset.validate(), state.cash)

first = state.turn_seat
state.give(1, first)
state.give(3, first)
apply(state, BUILD_BY[first][1], chance)
state.built[1] = 0
print(check(state, BUILD_BY[first][1]))

steps = 0
while not state.over:
    apply(state, POLICIES["steady"](state, actors(state)[0], choices), chance)
    steps += 1
print(1 in [seat.place for seat in result(state).seats])
"""


def snippets() -> tuple[str, str, str]:
    """The mode's file and the two lines, as CONTRIBUTING.md shows them."""
    section = (ROOT / "CONTRIBUTING.md").read_text().split("### A new mode")[1]
    file, lines = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)[:2]
    imported, listed = lines.splitlines()
    return file, imported, listed


@pytest.mark.rule("TABLE-7", "BUILD-2")
@pytest.mark.statement("R015")
def test_mode_from_contributing_takes_one_file_and_two_lines(tmp_path: Path) -> None:
    file, imported, listed = snippets()
    copy = tmp_path / "opolyx_rules"
    shutil.copytree(
        Path(opolyx_rules.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__")
    )
    (copy / "modes" / "lavish.py").write_text(file)
    editions = (copy / "editions.py").read_text()
    for line, before in (
        (imported, "from opolyx_rules.modes.speed"),
        (listed, "        halal(FULL)"),
    ):
        assert 1 == editions.count(before)
        editions = editions.replace(before, f"{line}\n{before}")
    (copy / "editions.py").write_text(editions)

    played = subprocess.run(
        [sys.executable, "-c", GAME],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )

    assert "" == played.stderr
    assert [
        str(copy / "__init__.py"),
        "[] [20000, 20000, 20000, 20000]",
        "None",  # a second level on one street before the first on the other
        "True",
    ] == played.stdout.splitlines()


def test_shown_mode_names_its_place() -> None:
    file, imported, listed = snippets()

    assert file.startswith("# services/engine/rules/opolyx_rules/modes/lavish.py\n")
    assert ("from opolyx_rules.modes.lavish import lavish", "        lavish(FULL),") == (
        imported,
        listed,
    )
