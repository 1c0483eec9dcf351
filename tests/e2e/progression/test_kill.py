"""The real program, killed with -9 again and again while facts come in (case A-43)."""

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from opolyx_progression.audit import audit
from opolyx_progression.leaderboards import XP_BOARD
from opolyx_progression.main import main
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.opening import open_store as opened
from opolyx_progression.store.redis_forms import board_key
from opolyx_progression.store.sqlite import SqliteStore
from support_progression import FactTeller, duel, eventually, finished_fact, reached, serving
from support_redis import redis_server

GAMES = 300
KILLS = 3


@pytest.fixture(params=["sqlite", "redis"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Names an empty store."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'progression.db'}"
        return
    with redis_server(tmp_path / "redis") as server:
        yield server.url


@pytest.mark.rule("XP-7")
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("store_url", "beside"),
    [("sqlite", False), ("sqlite", True), ("redis", True)],
    ids=["alone", "beside another", "beside another on redis"],
    indirect=["store_url"],
)
async def test_a_43_killed_service_pays_each_game_once(store_url: str, beside: bool) -> None:
    chance = random.Random(43)
    teller = FactTeller()
    teller.batch = 2
    async with (
        serving(teller) as address,
        opened(ProgressionSettings(store_url=store_url)) as store,
        AsyncExitStack() as stack,
    ):
        other = await stack.enter_async_context(_program(store_url, address)) if beside else None
        telling = asyncio.create_task(_tell(teller))
        for kill in range(KILLS):
            async with _program(store_url, address) as process:
                target = (kill + 1) * GAMES // (KILLS + 2)
                await eventually(partial(reached, store, target), seconds=30)
                await asyncio.sleep(chance.random() * 0.02)
                process.kill()
        survivor = other
        if survivor is None:
            survivor = await stack.enter_async_context(_program(store_url, address))
        await eventually(partial(reached, store, GAMES), seconds=30)
        survivor.send_signal(signal.SIGTERM)
        assert 0 == await survivor.wait()
        await telling
        report = await audit(store, count_boards=True)
        profile = await store.profile("p_a")

    assert (GAMES, 2 * GAMES, 0) == (report.games, report.awards, report.drift)
    assert GAMES * 250 == profile.standing.xp
    assert GAMES == profile.standing.games


@asynccontextmanager
async def _program(store_url: str, engine: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """`opolyx-progression` in a process of its own; killed at the end, if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "opolyx_progression.main",
        env={
            **os.environ,
            "OPOLYX_PROGRESSION_STORE_URL": store_url,
            "OPOLYX_PROGRESSION_ENGINE_ADDRESS": engine,
            "OPOLYX_PROGRESSION_LISTEN_ADDRESS": "127.0.0.1:0",
            "OPOLYX_PROGRESSION_RETRY_BASE_SECONDS": "0.01",
        },
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _tell(teller: FactTeller) -> None:
    for number in range(1, GAMES + 1):
        await teller.tell(finished_fact(number, duel(f"g{number}", "p_a", "p_b")))
        await asyncio.sleep(0.002)


def test_audit_command_reports_drift_and_exits_with_1(
    store_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPOLYX_PROGRESSION_STORE_URL", store_url)
    settings = ProgressionSettings()

    async def settle() -> None:
        async with opened(settings) as store:
            await store.apply([delivery_of(finished_fact(1, duel("g1", "p_a", "p_b")))], now_ms=1)

    async def tamper() -> None:
        async with opened(settings) as store:
            if isinstance(store, SqliteStore):
                await store._file.write(
                    lambda connection: connection.execute("DELETE FROM progression_scores").rowcount
                )
            else:
                await store._link.call("DEL", board_key(XP_BOARD))  # type: ignore[attr-defined]

    asyncio.run(settle())
    assert 0 == main(["audit"])
    assert "1 games, 2 awards, 2 players: 0 differ\n" == capsys.readouterr().out
    asyncio.run(tamper())
    assert 1 == main(["audit"])
    assert "score of xp/p_a: stored None, computed 250\n" in capsys.readouterr().out
