"""`opolyx demo` as a user runs it, and what `verify` makes of its replay."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from opolyx_sdk.local.verify import verify_file, verify_replay
from support_sdk import OPOLYX

KEYS = [
    "game_id",
    "ruleset",
    "seats",
    "rounds",
    "updates",
    "seconds",
    "places",
    "awards",
    "digest",
    "verified",
]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [OPOLYX, *arguments], capture_output=True, text=True, timeout=170, cwd=cwd, check=False
    )


def demo(cwd: Path, *arguments: str) -> dict[str, Any]:
    done = run("demo", "--json", *arguments, cwd=cwd)
    assert 0 == done.returncode, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


@pytest.mark.timeout(180)
def test_a_whole_classic_game_is_played_and_verified(tmp_path: Path) -> None:
    result = demo(tmp_path, "--seed", "1")

    assert KEYS == list(result)
    assert result["verified"] is True
    assert "classic@full" == result["ruleset"]
    assert [1, 2, 3, 4] == sorted(result["places"])
    assert 4 == len(result["seats"]) == len(result["awards"])
    assert result["updates"] > 100
    assert 32 == len(bytes.fromhex(result["digest"]))


@pytest.mark.timeout(180)
def test_the_same_seed_is_the_same_game(tmp_path: Path) -> None:
    first, second = (demo(tmp_path, "--seed", "7", "--ruleset", "blitz@full") for _ in range(2))
    other = demo(tmp_path, "--seed", "8", "--ruleset", "blitz@full")

    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    assert first["digest"] != other["digest"]


@pytest.mark.timeout(180)
def test_it_reads_as_a_game_and_keeps_what_it_is_told_to(tmp_path: Path) -> None:
    done = run("demo", "--seed=3", "--ruleset=blitz@full", "--keep=kept", cwd=tmp_path)

    assert 0 == done.returncode, done.stderr
    for words in ("rolls", "round 10", "Standings", "XP", "replay: ", "verified: "):
        assert words in done.stdout
    (replay,) = (tmp_path / "kept").glob("g_*.jsonl")
    assert (tmp_path / "kept" / "opolyx.sqlite").is_file()
    assert str(replay.name) in done.stdout
    verified = run("verify", str(replay), cwd=tmp_path)
    assert (0, "verified") == (verified.returncode, verified.stdout[:8])


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("replay")
    demo(folder, "--seed=5", "--ruleset=blitz@full", "--keep=kept")
    (path,) = (folder / "kept").glob("g_*.jsonl")
    return path


@pytest.mark.timeout(180)
def test_a_changed_byte_of_a_record_is_found_at_its_update(replay: Path, tmp_path: Path) -> None:
    assert verify_file(replay).fair
    data = replay.read_bytes()
    lines = data.split(b"\n")
    rng = random.Random(1)
    changed = bytearray(data)
    for number in sorted(rng.sample(range(1, len(lines) - 3), 40)):
        start = sum(len(line) + 1 for line in lines[:number])
        place = start + rng.randrange(len(lines[number]))
        changed = bytearray(data)
        changed[place] ^= 1 << rng.randrange(7)
        if changed[place] in b"\n":
            continue
        found = verify_replay(bytes(changed))

        assert not found.ok
        assert number - 1 == found.update, found.problem
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(bytes(changed))
    done = run("verify", str(broken), "--json", cwd=tmp_path)
    told = json.loads(done.stdout)
    assert 1 == done.returncode
    assert told["verified"] is False
    assert told["update"] is not None


def test_a_file_that_is_no_replay_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")

    assert 1 == run("verify", "empty", cwd=tmp_path).returncode
    assert 2 == run("verify", "missing", cwd=tmp_path).returncode
