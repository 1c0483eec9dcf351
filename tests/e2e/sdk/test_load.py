"""`opolyx load` against the real services: what it reports, and what its exit code says."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from opolyx_sdk._latencies import Latencies
from opolyx_sdk.cli import load as command
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.load import LoadPlan, LoadReport, run_load
from opolyx_server.embedded import EmbeddedServer


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    """Where a server serves."""
    async with EmbeddedServer(tmp_path / "data") as server:
        yield server.address


async def test_games_are_played_and_nobody_is_left_in_one(address: str) -> None:
    plan = LoadPlan(games=2, rate=50, duration_s=1.5, think_s=0.0, built_in=1)

    report = await run_load(plan, lambda: AsyncClient(address))

    assert report.errors == {}
    assert report.games_begun >= 2
    assert report.games_begun == report.games_ended + report.games_left
    assert report.commands > 10
    assert report.latencies["guest"].count == 4
    assert report.latencies["start game"].count == report.games_begun
    async with AsyncClient(address) as guest:
        await guest.create_guest("Late")
        assert await guest.list_rooms() == ()


async def test_what_fails_is_counted_by_what_was_said(address: str) -> None:
    plan = LoadPlan(games=1, duration_s=0.3, ruleset="nothing@nowhere")

    report = await run_load(plan, lambda: AsyncClient(address))

    (text,) = report.errors
    assert "UNKNOWN_RULESET" in text
    assert report.games_begun == 0


@pytest.mark.parametrize(("failures", "code"), [(0, 0), (3, 1)])
def test_exit_code_says_whether_anything_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failures: int, code: int
) -> None:
    report = LoadReport(seconds=2.0, games_begun=1, games_left=1)
    report.latencies["command"] = Latencies()
    for milliseconds in range(1, 101):
        report.latencies["command"].add(milliseconds / 1000)
    report.errors.update({"ConnectionLost: gone": failures} if failures else {})

    async def made(*_: object) -> LoadReport:
        return report

    monkeypatch.setattr("opolyx_sdk.load.run_load", made)

    assert command.load(as_json=True) == code
    printed = json.loads(capsys.readouterr().out)
    assert printed["commands_per_second"] == 50
    assert printed["latencies"]["command"]["p50_ms"] == pytest.approx(50, rel=0.02)
    assert printed["latencies"]["command"]["max_ms"] == 100
    assert command.load() == code
    assert f"error, {failures} times" in capsys.readouterr().out or not failures


def test_quantiles_are_good_to_a_percent() -> None:
    latencies = Latencies()
    for microseconds in range(1, 100_001):
        latencies.add(microseconds / 1e6)

    for share in (0.01, 0.5, 0.9, 0.99, 1.0):
        assert latencies.quantile_s(share) == pytest.approx(share * 0.1, rel=0.011)
    assert Latencies().quantile_s(0.5) == 0
