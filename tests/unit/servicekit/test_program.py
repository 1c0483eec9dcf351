"""What a service's program says, and its exit code, when its environment is wrong."""

import asyncio
import sqlite3

import pytest

from opolyx_servicekit.errors import Unavailable
from opolyx_servicekit.program import run_program
from opolyx_servicekit.settings import ServiceSettings


def read_settings() -> ServiceSettings:
    return ServiceSettings(log_format="json")


def test_serving_until_told_to_stop_is_a_success() -> None:
    served: list[ServiceSettings] = []

    async def serve(settings: ServiceSettings, stop: asyncio.Event) -> None:
        served.append(settings)

    assert 0 == run_program(read_settings, serve)
    assert 1 == len(served)


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(2, "No such file", "keys.json"),
        ValueError("keys.json is not a usable key set"),
        sqlite3.DatabaseError("file is not a database"),
        Unavailable("STORE_UNAVAILABLE", "the store is away"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_wrong_environment_is_one_line_and_exit_code_2(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    async def serve(settings: ServiceSettings, stop: asyncio.Event) -> None:
        raise error

    code = run_program(read_settings, serve)
    output = capsys.readouterr().err

    assert 2 == code
    assert 1 == len(output.splitlines())
    assert str(error) in output
    assert "Traceback" not in output


def test_a_bug_keeps_its_traceback() -> None:
    async def serve(settings: ServiceSettings, stop: asyncio.Event) -> None:
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        run_program(read_settings, serve)


def test_a_wrong_setting_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPOLYX_GRACE_SECONDS", "soon")

    async def serve(settings: ServiceSettings, stop: asyncio.Event) -> None:
        raise AssertionError("must not be reached")

    assert 2 == run_program(ServiceSettings, serve)
    output = capsys.readouterr().err
    assert "setting grace_seconds: " in output
    assert "soon" not in output
