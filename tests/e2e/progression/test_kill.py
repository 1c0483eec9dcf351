"""The real program, killed with -9 again and again while facts come in (case A-43)."""

import asyncio
import os
import random
import signal
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from opolyx_progression.audit import audit
from opolyx_progression.store.sqlite import SqliteStore
from support_progression import FactTeller, duel, eventually, finished_fact, open_store, serving

GAMES = 300
KILLS = 3


@pytest.mark.rule("XP-7")
async def test_a_43_killed_service_pays_each_game_once(tmp_path: Path) -> None:
    chance = random.Random(43)
    path = tmp_path / "progression.db"
    teller = FactTeller()
    teller.batch = 2
    async with serving(teller) as address, open_store(path) as store:
        environment = {
            **os.environ,
            "OPOLYX_PROGRESSION_STORE_URL": f"sqlite:///{path}",
            "OPOLYX_PROGRESSION_ENGINE_ADDRESS": address,
            "OPOLYX_PROGRESSION_LISTEN_ADDRESS": "127.0.0.1:0",
            "OPOLYX_PROGRESSION_RETRY_BASE_SECONDS": "0.01",
        }
        telling = asyncio.create_task(_tell(teller))
        for kill in range(KILLS + 1):
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "opolyx_progression.main",
                env=environment,
                stderr=asyncio.subprocess.DEVNULL,
            )
            target = GAMES if kill == KILLS else (kill + 1) * GAMES // (KILLS + 2)
            try:
                await eventually(partial(_reached, store, target), seconds=30)
                if kill == KILLS:
                    process.send_signal(signal.SIGTERM)
                    assert 0 == await process.wait()
                else:
                    await asyncio.sleep(chance.random() * 0.02)
                    process.kill()
                    await process.wait()
            finally:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        await telling
        report = await audit(store)
        profile = await store.profile("p_a")

    assert (GAMES, 2 * GAMES, 0) == (report.games, report.awards, report.drift)
    assert GAMES * 250 == profile.standing.xp
    assert GAMES == profile.standing.games


async def _reached(store: SqliteStore, number: int) -> bool:
    return await store.cursor() >= number


async def _tell(teller: FactTeller) -> None:
    for number in range(1, GAMES + 1):
        await teller.tell(finished_fact(number, duel(f"g{number}", "p_a", "p_b")))
        await asyncio.sleep(0.002)


async def test_audit_command_reports_drift_and_exits_with_1(tmp_path: Path) -> None:
    path = tmp_path / "progression.db"
    async with open_store(path) as store:
        from opolyx_progression.rpc.convert import delivery_of

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
