"""The real program, killed with -9 again and again while facts come in (case A-43)."""

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from opolyx_progression.audit import audit
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.store.sqlite import SqliteStore
from support_progression import FactTeller, duel, eventually, finished_fact, open_store, serving

GAMES = 300
KILLS = 3


@pytest.mark.rule("XP-7")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another"])
async def test_a_43_killed_service_pays_each_game_once(tmp_path: Path, beside: bool) -> None:
    chance = random.Random(43)
    path = tmp_path / "progression.db"
    teller = FactTeller()
    teller.batch = 2
    async with serving(teller) as address, open_store(path) as store, AsyncExitStack() as stack:
        other = await stack.enter_async_context(_program(path, address)) if beside else None
        telling = asyncio.create_task(_tell(teller))
        for kill in range(KILLS):
            async with _program(path, address) as process:
                target = (kill + 1) * GAMES // (KILLS + 2)
                await eventually(partial(_reached, store, target), seconds=30)
                await asyncio.sleep(chance.random() * 0.02)
                process.kill()
        survivor = other
        if survivor is None:
            survivor = await stack.enter_async_context(_program(path, address))
        await eventually(partial(_reached, store, GAMES), seconds=30)
        survivor.send_signal(signal.SIGTERM)
        assert 0 == await survivor.wait()
        await telling
        report = await audit(store, count_boards=True)
        profile = await store.profile("p_a")

    assert (GAMES, 2 * GAMES, 0) == (report.games, report.awards, report.drift)
    assert GAMES * 250 == profile.standing.xp
    assert GAMES == profile.standing.games


@asynccontextmanager
async def _program(path: Path, engine: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """`opolyx-progression` in a process of its own; killed at the end, if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "opolyx_progression.main",
        env={
            **os.environ,
            "OPOLYX_PROGRESSION_STORE_URL": f"sqlite:///{path}",
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


async def _reached(store: SqliteStore, number: int) -> bool:
    return await store.cursor() >= number


async def _tell(teller: FactTeller) -> None:
    for number in range(1, GAMES + 1):
        await teller.tell(finished_fact(number, duel(f"g{number}", "p_a", "p_b")))
        await asyncio.sleep(0.002)


async def test_audit_command_reports_drift_and_exits_with_1(tmp_path: Path) -> None:
    path = tmp_path / "progression.db"
    async with open_store(path) as store:
        await store.apply([delivery_of(finished_fact(1, duel("g1", "p_a", "p_b")))], now_ms=1)

    assert (0, "1 games, 2 awards, 2 players: 0 differ\n") == await _audit(path)

    async with open_store(path) as store:
        await store._file.write(
            lambda connection: (
                connection.execute(
                    "UPDATE progression_players SET xp = 9 WHERE player_id = 'p_b'"
                ).rowcount
            )
        )
    code, text = await _audit(path)
    assert 1 == code
    assert text.startswith("standing of p_b: stored Standing(")


async def _audit(path: Path) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "opolyx_progression.main",
        "audit",
        env={**os.environ, "OPOLYX_PROGRESSION_STORE_URL": f"sqlite:///{path}"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()
