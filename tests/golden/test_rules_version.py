"""`RULES_VERSION` rises when a ruleset plays otherwise: it keeps engines of two versions apart.

`rules_version.lock` holds the version and the digest of each recorded game of it. A ruleset that is
new needs no new version: no game of it runs anywhere. `make golden` writes the lock anew, after the
games.
"""

import hashlib
from pathlib import Path
from typing import Final

from opolyx_rules.version import RULES_VERSION

FOLDER: Final = Path(__file__).parent
LOCK: Final = FOLDER / "rules_version.lock"
ADVICE: Final = (
    "a recorded game goes otherwise than in version {}: games that run while servers are upgraded would"
    " change under their players. Raise RULES_VERSION in services/engine/rules/opolyx_rules/version.py"
    " by one, then `make golden`."
)


def test_games_that_go_otherwise_have_another_version(update_golden: bool) -> None:
    version, locked = read(LOCK)
    found = digests(FOLDER)
    assert version < RULES_VERSION or not is_changed(locked, found), ADVICE.format(version)
    if update_golden:
        LOCK.write_text(written(RULES_VERSION, found))
    assert (RULES_VERSION, found) == read(LOCK), "`make golden` writes the lock"


def test_a_changed_or_missing_game_is_a_change_and_a_new_one_is_none() -> None:
    locked = {"a": "1", "b": "2"}
    assert is_changed(locked, {"a": "1", "b": "3"})
    assert is_changed(locked, {"a": "1"})
    assert not is_changed(locked, {"a": "1", "b": "2", "c": "3"})


def test_the_version_never_goes_back() -> None:
    assert RULES_VERSION >= read(LOCK)[0]


def digests(folder: Path) -> dict[str, str]:
    """The digest of each ruleset's recorded game."""
    return {
        path.stem: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.glob("*@*.txt"))
    }


def is_changed(locked: dict[str, str], found: dict[str, str]) -> bool:
    """Whether a game that was recorded is another now, or gone."""
    return any(found.get(name) != digest for name, digest in locked.items())


def written(version: int, found: dict[str, str]) -> str:
    """The text of the lock."""
    return f"{version}\n" + "".join(f"{digest}  {name}\n" for name, digest in found.items())


def read(lock: Path) -> tuple[int, dict[str, str]]:
    """The version and the digests of the lock."""
    version, *lines = lock.read_text().splitlines()
    return int(version), {name: digest for digest, name in (line.split() for line in lines)}
