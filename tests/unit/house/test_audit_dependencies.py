"""The audit finds a locked version that an advisory is about, and no other."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from audit_dependencies import LOCK, is_affected, locked, main, normalised


def advisory(**affected: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": "Some.Package"}
    return {
        "id": "PYSEC-1",
        "summary": "A fault",
        "affected": [{"package": package, **affected}],
    }


def spans(*events: dict[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    path.write_text(
        "other==1.0 \\\n    --hash=sha256:aa\nsome-package[x]==1.5 ; python_version<'4'\n"
    )
    return path


@pytest.mark.parametrize(
    ("affected", "expected"),
    [
        (spans({"introduced": "0"}, {"fixed": "1.6"}), True),
        (spans({"introduced": "0"}, {"fixed": "1.5"}), False),
        (spans({"introduced": "1.5"}), True),
        (spans({"introduced": "1.6"}), False),
        (spans({"introduced": "0"}, {"last_affected": "1.5"}), True),
        (spans({"introduced": "0"}, {"last_affected": "1.4"}), False),
        (spans({"fixed": "1.2"}, {"introduced": "1.4"}, {"introduced": "0"}), True),
        (spans({"introduced": "0"}, {"fixed": "1.2"}, {"introduced": "2"}), False),
        ({"versions": ["1.4", "1.5"]}, True),
        ({"versions": ["1.50"]}, False),
        ({"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}, False),
        ({}, False),
    ],
)
@pytest.mark.parametrize("form", ["directory", "zip"])
def test_a_version_is_found_where_the_advisory_says_so(
    tmp_path: Path, lock: Path, affected: dict[str, Any], expected: bool, form: str
) -> None:
    database = tmp_path / "database"
    if form == "directory":
        database.mkdir()
        (database / "PYSEC-1.json").write_text(json.dumps(advisory(**affected)))
    else:
        with zipfile.ZipFile(database, "w") as archive:
            archive.writestr("PYSEC-1.json", json.dumps(advisory(**affected)))

    assert int(expected) == main(["--database", str(database), "--lock", str(lock)])


def test_what_was_withdrawn_or_is_of_another_ecosystem_counts_not(
    tmp_path: Path, lock: Path
) -> None:
    withdrawn = advisory(versions=["1.5"]) | {"withdrawn": "2026-01-01T00:00:00Z"}
    foreign = advisory(versions=["1.5"])
    foreign["affected"][0]["package"]["ecosystem"] = "npm"
    for number, one in enumerate((withdrawn, foreign)):
        (tmp_path / f"{number}.json").write_text(json.dumps(one))

    assert 0 == main(["--database", str(tmp_path), "--lock", str(lock)])


@pytest.mark.parametrize("what", ["nothing", "missing", "empty", "no zip"])
def test_without_a_database_it_says_what_to_do(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPOLYX_ADVISORIES", raising=False)
    path = tmp_path / "database"
    if what == "empty":
        path.mkdir()
    if what == "no zip":
        path.write_text("no zip")

    assert 2 == main([] if what == "nothing" else ["--database", str(path)])
    assert ("pip-audit" if what == "nothing" else "can't use") in capsys.readouterr().err


def test_every_package_of_the_lock_is_read() -> None:
    text = LOCK.read_text("utf-8")
    lines = [line for line in text.splitlines() if "==" in line and not line.startswith((" ", "#"))]

    assert len(lines) == sum(map(len, locked(text).values())) > 50
    assert "grpcio" in locked(text)


def test_names_are_compared_as_indexes_do() -> None:
    assert "some-package" == normalised("Some._Package")
    assert not is_affected("no version", spans({"introduced": "0"}))
