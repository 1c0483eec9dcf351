"""A real server killed again and again under running games, with an unreliable network before it.

What is claimed is checked from the outside only: what clients were told, against the log in the
server's file and the replays that it serves.
"""

import asyncio
import contextlib
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from opolyx_sdk import AsyncClient
from support_chaos_ledger import Summary, watched_mirrors
from support_chaos_promises import Awards, Promises, Rows
from support_chaos_tables import SETUP_SECONDS, Habits, Tables
from support_proxy import FlakyProxy
from support_sdk import ServeProcess

DATABASE: Final = "opolyx.sqlite"
_PLAY_SECONDS: Final = 5.0


@dataclass
class Plan:
    """How much chaos."""

    kills: int = 200
    """Kills of the server with -9."""

    games: int = 50
    """Games that run at every kill."""

    minutes: float = 20.0
    """No further kill after so long."""

    most_pause_s: float = 2.0
    """Most seconds before that, for clients to come back."""

    seed: int = 1
    """Where the moments are drawn from."""

    round_cap: int = 40
    """Round cap of the games, more or less: they aren't to end all at once."""

    most_commands: int = 60
    """Most commands that are acknowledged between a server that serves and its kill."""

    cuts: bool = True
    """Whether connections are cut, swallowed and halved besides."""


class Chaos:
    """One run: a server, a network, tables of players, and somebody with an axe."""

    def __init__(self, plan: Plan, say: Callable[[str], object] = lambda line: None) -> None:
        """Run by `plan`; `say` is told how it goes."""
        self._plan = plan
        self._say = say
        self._rng = random.Random(plan.seed)
        self._summary = Summary()

    async def run(self) -> Summary:
        """Do it all; what is wrong is in the summary."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            database = directory / DATABASE
            async with ServeProcess(directory) as server, FlakyProxy(server.port) as network:
                habits = Habits(self._plan.seed, self._plan.round_cap, self._plan.minutes)
                tables = Tables(network.address, habits, self._summary, self._say)
                with watched_mirrors(tables.ledgers, self._summary):
                    await self._play_under_fire(server, network, tables)
                promises = Promises(tables.ledgers, self._summary)
                async with AsyncClient(server.address) as reader:
                    await promises.check_replays(reader, directory)
                with contextlib.closing(_open(database)) as rows:
                    await promises.check_awards(lambda: _awards(rows))
                self._summary.counts["exit code at the end"] = await server.terminate()
            with contextlib.closing(_open(database)) as rows:
                (problem,) = rows.execute("PRAGMA integrity_check").fetchone()
                if problem != "ok":
                    self._summary.wrong(f"the file is damaged: {problem}")
                await promises.check_log(lambda game_id: _records(rows, game_id))
        self._summary.took_s = time.monotonic() - began
        return self._summary

    async def _play_under_fire(
        self, server: ServeProcess, network: FlakyProxy, tables: Tables
    ) -> None:
        count = self._plan.games + max(2, self._plan.games // 5)
        tasks = [
            asyncio.create_task(tables.play(number), name=f"table {number}")
            for number in range(count)
        ]
        cutting = asyncio.create_task(self._cut_now_and_then(network), name="cuts")
        try:
            await self._kill_again_and_again(server, tables, tasks)
        finally:
            tables.finishing = True
            cutting.cancel()
            await asyncio.gather(cutting, return_exceptions=True)
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, BaseException):
                self._summary.wrong(f"a table broke: {result!r}")

    async def _kill_again_and_again(
        self, server: ServeProcess, tables: Tables, tasks: list[asyncio.Task[None]]
    ) -> None:
        until = time.monotonic() + self._plan.minutes * 60
        kills = said = 0
        while kills < self._plan.kills and time.monotonic() < until and not self._summary.problems:
            async with asyncio.timeout(SETUP_SECONDS):
                while len(tables.running) < self._plan.games and not self._summary.problems:
                    if broken := [one for one in tasks if one.done()]:
                        await broken[0]
                    await asyncio.sleep(0.01)
            await self._let_play(tables)
            await self._kill(server, tables)
            kills += 1
            if self._rng.random() < 0.15 and kills < self._plan.kills:
                await server.spawn()
                await asyncio.sleep(self._rng.uniform(0, 1.5))
                await self._kill(server, tables)
                self._summary.counts["kills while it started"] += 1
                kills += 1
            began = time.monotonic()
            await server.start()
            if kills // 10 > said:
                said = kills // 10
                self._say(
                    f"{kills} kills, {len(tables.running)} games running,"
                    f" {self._summary.counts['games ended']} ended;"
                    f" serves again after {time.monotonic() - began:.2f} s"
                )

    async def _let_play(self, tables: Tables) -> None:
        """Until a random number of commands more was acknowledged: kills are to meet moves."""
        await asyncio.sleep(self._rng.uniform(0, self._plan.most_pause_s))
        goal = tables.acknowledged + self._rng.randint(0, self._plan.most_commands)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PLAY_SECONDS):
                while tables.acknowledged < goal:  # noqa: ASYNC110 - others count
                    await asyncio.sleep(0.01)

    async def _kill(self, server: ServeProcess, tables: Tables) -> None:
        self._summary.running_at_kills.append(len(tables.running))
        self._summary.counts["kills"] += 1
        await server.kill()

    async def _cut_now_and_then(self, network: FlakyProxy) -> None:
        while self._plan.cuts:
            await asyncio.sleep(self._rng.uniform(0.2, 1.2))
            kind = self._rng.choice(("cut", "halved", "swallowed", "unheard"))
            for link in network.some_links(self._rng, 0.15):
                self._summary.counts[f"connections {kind}"] += 1
                if kind == "cut":
                    link.cut()
                elif kind == "halved":
                    link.halves_next = True
                else:
                    link.swallows_up = kind == "swallowed"
                    link.swallows_down = True
                    asyncio.get_running_loop().call_later(self._rng.uniform(0.1, 3), link.cut)


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


async def _awards(database: sqlite3.Connection) -> Awards:
    return list(database.execute("SELECT game_id, seat FROM progression_awards"))


async def _records(database: sqlite3.Connection, game_id: str) -> Rows:
    query = "SELECT command_id, seq, body FROM engine_records WHERE game_id = ?"
    return database.execute(query, (game_id,)).fetchall()
