"""Three engines on one Redis behind Envoy, struck again and again under running games.

As `support_chaos.py`, over several machines in one: what clients were told is held against the log
in Redis, the replays and the ledger of awards.
"""

import asyncio
import collections
import random
import re
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.opening import open_store as open_games
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.opening import open_store as open_awards
from opolyx_sdk import AsyncClient
from support_blows import Blows, Odds, restart_in_turn
from support_chaos_ledger import Summary, watched_mirrors
from support_chaos_promises import Awards, Promises, Rows
from support_chaos_tables import SETUP_SECONDS, Habits, Tables
from support_deployment import Deployment
from support_pauses import Pauses, percentile
from support_redis import Cluster, RedisServer, redis_cluster, redis_server

_ALL: Final = 1_000_000
_FENCED: Final = re.compile(r"^opolyx_append_fenced_total(?:\{[^}]*\})? (\S+)", re.MULTILINE)


@dataclass
class ReplicaPlan:
    """How much chaos."""

    blows: int = 300
    """Kills, drains, pauses and kills of Redis."""

    games: int = 100
    """Games that run at every blow."""

    minutes: float = 7.5
    """No further blow after so long."""

    engines: int = 3
    """Replicas of the engine."""

    pause_s: float = 20.0
    """How long a paused replica stands still."""

    seed: int = 1
    """Where the blows are drawn from."""

    round_cap: int = 12
    """Round cap of the games, more or less."""

    rolling: bool = True
    """Whether all engines are restarted in turn at the end, under load, and pauses are measured."""

    rest_s: float = 3.0
    """Seconds between two restarts of the rolling one."""

    cluster: bool = False
    """Whether the store is a Redis Cluster of three masters."""

    others: bool = True
    """Whether matchmakers and progressions are killed now and then too."""


class ReplicaChaos:
    """One run."""

    def __init__(self, plan: ReplicaPlan, say: Callable[[str], object] = lambda line: None) -> None:
        """Run by `plan`; `say` is told how it goes."""
        self._plan = plan
        self._say = say
        self._rng = random.Random(plan.seed)
        self._summary = Summary()

    async def run(self) -> Summary:
        """Do it all; what is wrong is in the summary."""
        began = time.monotonic()
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="opolyx-chaos-")))
            store: RedisServer | Cluster = (
                stack.enter_context(redis_cluster(folder / "redis"))
                if self._plan.cluster
                else stack.enter_context(redis_server(folder / "redis"))
            )
            deployment = Deployment(folder, store, engines=self._plan.engines, settings=_SETTINGS)
            await stack.enter_async_context(deployment)
            habits = Habits(self._plan.seed, self._plan.round_cap, self._plan.minutes)
            tables = Tables(deployment.address, habits, self._summary, self._say)
            with watched_mirrors(tables.ledgers, self._summary):
                await self._play_under_fire(deployment, store, tables)
            await self._check(deployment, tables, folder)
        self._summary.took_s = time.monotonic() - began
        return self._summary

    async def _play_under_fire(
        self, deployment: Deployment, store: RedisServer | Cluster, tables: Tables
    ) -> None:
        count = self._plan.games + max(2, self._plan.games // 10)
        tasks = [
            asyncio.create_task(tables.play(number), name=f"table {number}")
            for number in range(count)
        ]
        telling = asyncio.create_task(self._tell(tables), name="telling")
        try:
            await self._until_games_run(tables, tasks)
            if self._plan.blows:
                await self._strike(deployment, store, tables)
            if self._plan.rolling and not self._summary.problems:
                await self._restart_in_turn(deployment, tables)
        finally:
            tables.finishing = True
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, BaseException):
                self._summary.wrong(f"a table broke: {result!r}")

    async def _strike(
        self, deployment: Deployment, store: RedisServer | Cluster, tables: Tables
    ) -> None:
        others = [*deployment.matchmakers, *deployment.progressions] if self._plan.others else []
        blows = Blows(
            deployment.engines,
            others,
            self._restarting(store),
            self._summary,
            self._rng,
            odds=Odds(),
            pause_s=self._plan.pause_s,
        )

        def ready() -> bool:
            if len(tables.running) < self._plan.games * 0.8:
                return False
            self._summary.running_at_kills.append(len(tables.running))
            return True

        await blows.strike(self._plan.blows, time.monotonic() + self._plan.minutes * 60, ready)
        await blows.start_ended()
        self._summary.counts["blows"] = blows.count

    def _restarting(self, store: RedisServer | Cluster) -> Callable[[], None]:
        def restart() -> None:
            server = self._rng.choice(store.servers) if isinstance(store, Cluster) else store
            server.kill()
            time.sleep(self._rng.uniform(0, 2))
            server.start()

        return restart

    async def _until_games_run(self, tables: Tables, tasks: list[asyncio.Task[None]]) -> None:
        async with asyncio.timeout(SETUP_SECONDS):
            while len(tables.running) < self._plan.games and not self._summary.problems:
                if broken := [one for one in tasks if one.done()]:
                    await broken[0]
                await asyncio.sleep(0.05)

    async def _restart_in_turn(self, deployment: Deployment, tables: Tables) -> None:
        """Replace every engine while all play, and note how long clients wait."""
        usual, rolling = Pauses(), Pauses()
        tables.watch = usual
        await asyncio.sleep(self._plan.rest_s * self._plan.engines)
        tables.watch = rolling
        await restart_in_turn(deployment.engines, self._plan.rest_s)
        for name, found in (
            ("undisturbed", usual.longest()),
            ("rolling restart", rolling.longest()),
        ):
            for share in (0.5, 0.99):
                milliseconds = round(percentile(found, share) * 1000)
                self._summary.counts[
                    f"longest pause of a client, {name}, p{share * 100:.0f}, ms"
                ] = milliseconds
        self._summary.counts["clients in the rolling restart"] = len(rolling.longest())

    async def _tell(self, tables: Tables) -> None:
        while True:
            await asyncio.sleep(20)
            self._say(
                f"{len(self._summary.running_at_kills)} blows, {len(tables.running)} games running,"
                f" {self._summary.counts['games ended']} ended,"
                f" {tables.acknowledged:,} commands acknowledged"
            )

    async def _check(self, deployment: Deployment, tables: Tables, folder: Path) -> None:
        self._summary.counts["appends fenced"] = await asyncio.to_thread(_fenced, deployment)
        promises = Promises(tables.ledgers, self._summary)
        url = deployment.store.url
        async with AsyncExitStack() as stack:
            reader = await stack.enter_async_context(AsyncClient(deployment.address))
            await promises.check_replays(reader, folder)
            awards = await stack.enter_async_context(
                open_awards(ProgressionSettings(store_url=url, store_require_durable=False))
            )
            games = await stack.enter_async_context(
                open_games(EngineSettings(store_url=url, store_require_durable=False))
            )

            async def paid() -> Awards:
                last = await awards.last_sequence()
                return [
                    (one.award.game_id, one.award.seat)
                    for one in await awards.ledger(after=0, until=last)
                ]

            async def records(game_id: str) -> Rows:
                found = await games.records(game_id, -1, _ALL)
                return [(one.command_id, one.seq, one.body) for one in found]

            await promises.check_awards(paid)
            await promises.check_log(records)
        for program in deployment.programs:
            if not program.running:  # a matchmaker that lost its lease to the other
                await program.start()
        codes = collections.Counter([await program.terminate() for program in deployment.programs])
        self._summary.counts["programs that ended well"] = codes[0]
        if set(codes) - {0}:
            self._summary.wrong(f"exit codes at the end: {dict(codes)}")


_SETTINGS: Final = {
    # A replica that died is to be found out while the next blow is still to come.
    "OPOLYX_ENGINE_HEARTBEAT_MS": "300",
    "OPOLYX_ENGINE_REPLICA_TTL_MS": "2000",
    "OPOLYX_ENGINE_ADOPTIONS_PER_SECOND": "200",
    # With bots that answer at once the games alone would fill two cores, and a replica takes long to start.
    "OPOLYX_ENGINE_BOT_THINK_MS": "200",
}


def _fenced(deployment: Deployment) -> int:
    """Appends that the engines of now saw refused as another's; those of earlier ones are gone."""
    found = 0.0
    for program in deployment.engines:
        host = program.health.partition(":")[0]
        with suppress(OSError), urllib.request.urlopen(f"http://{host}:7721/metrics") as answer:
            text = answer.read().decode()
            found += sum(float(value) for value in _FENCED.findall(text))
    return int(found)
