"""The command line, as far as it needs no server."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from opolyx_sdk import MissingExtra
from opolyx_sdk.cli import app, embedded, main
from opolyx_sdk.cli.demo import _first, _free_directory


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(**_: object) -> list[EntryPoint]:
        return []

    monkeypatch.setattr(embedded, "entry_points", none)


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize("command", ["serve", "demo"])
def test_without_a_server_the_command_says_what_to_install(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command])

    assert 2 == ended.value.code
    assert "`make setup` in a clone of opolyx" in capsys.readouterr().err


@pytest.mark.usefixtures("nothing_installed")
def test_a_missing_server_is_an_error_of_its_own() -> None:
    with pytest.raises(MissingExtra):
        embedded.find_embedded()


def test_the_installed_server_is_found() -> None:
    assert "EmbeddedServer" == getattr(embedded.find_embedded(), "__name__", "")


def test_the_version_is_told_to_people_and_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == app.show_version()
    assert 0 == app.show_version(as_json=True)
    people, machines = capsys.readouterr().out.splitlines()

    assert people.startswith("opolyx ")
    assert json.loads(machines)["version"] in people


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo", "--ruleset=nope"], "no ruleset 'nope'; there are classic@"),
        (["demo", "--keep=/dev/null/kept"], "/dev/null/kept: Not a directory"),
        (
            ["serve", "--port=0", "--data=/dev/null/data"],
            "can't use the data directory /dev/null/data",
        ),
        (["serve", "--port=65536"], "--port"),
        (["serve", "--bot-delay-ms=-1"], "--bot-delay-ms"),
        (["verify", "/dev"], "can't read /dev: Is a directory"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[-1],
)
def test_a_users_mistake_is_named_without_a_traceback(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    said = capsys.readouterr().err
    assert 2 == ended.value.code
    assert words in said
    assert "Traceback" not in said


@pytest.mark.parametrize("command", [["bot", "run"], ["arena"], ["leaderboard"]])
def test_help_names_only_defaults_that_say_something(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])

    told = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "[default: " in told
    for nothing in ("False", '""', "()", "None", "]"):
        assert f"[default: {nothing}" not in told


def test_a_file_without_end_is_no_replay(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["verify", "/dev/zero"])

    assert 1 == ended.value.code
    assert "not verified: the file has more than" in capsys.readouterr().out


def test_a_demo_fails_as_the_task_that_failed() -> None:
    broken = BrokenPipeError()
    group = ExceptionGroup("tasks", [ExceptionGroup("more", [broken]), ValueError()])

    assert broken is _first(group)


def test_a_kept_directory_is_never_written_over(tmp_path: Path) -> None:
    first = _free_directory(tmp_path / "kept")
    (first / "opolyx.sqlite").touch()
    second = _free_directory(tmp_path / "kept")

    assert tmp_path / "kept" == first
    assert tmp_path / "kept" / "run-2" == second


def test_the_sdk_alone_brings_no_rules_no_server_and_no_settings() -> None:
    code = (
        "import sys, opolyx_sdk; "
        "print([m for m in sys.modules if m.split('.')[0] in"
        " {'opolyx_rules', 'opolyx_engine', 'opolyx_server', 'pydantic', 'rich', 'cyclopts'}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == done.stdout.strip()


@pytest.mark.parametrize("arguments", [["--help"], ["version"], ["serve", "--help"]])
def test_a_command_that_needs_no_network_loads_no_network(arguments: list[str]) -> None:
    """What it loads is what it costs: a second of CPU before."""
    code = (
        "import sys; from opolyx_sdk.cli import main\n"
        f"try: main({arguments})\n"
        "except SystemExit: pass\n"
        "heavy = {'grpc', 'google', 'opolyx', 'opolyx_rules', 'opolyx_engine', 'opolyx_sdk.enums'}\n"
        f"heavy |= {{'asyncio'}} if {arguments} == ['--help'] else set()\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "loaded: []" == done.stdout.splitlines()[-1]


def test_without_the_rules_local_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['opolyx_rules'] = None\n"
        "from opolyx_sdk import MissingExtra\n"
        "try:\n    import opolyx_sdk.local.verify\n"
        "except MissingExtra as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "with its extra `local`" in done.stdout
