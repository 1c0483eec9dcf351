"""What an operator's worst day looks like, on one machine: rollouts, rotations, a lost node, a restore.

The pods are those of an overlay, over a real Redis and behind Envoy, while tables of clients play.
What clients were told is held against the log, the replays and the ledger of awards.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import GameStore
from opolyx_engine.store.opening import open_store as open_games
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.opening import open_store as open_awards
from opolyx_sdk import AsyncClient, ClientOptions
from opolyx_sdk.options import Tls
from support_chaos_ledger import Summary, watched_mirrors
from support_chaos_promises import Awards, Promises, Rows
from support_chaos_tables import PATIENT, Habits, Tables
from support_pauses import Pauses, percentile
from support_procedures import back_up, rotate_certificates, rotate_keys, scale
from support_redis import RedisServer, redis_server
from support_stage import NODES, SERVICES, Stage

T = TypeVar("T")

_ALL: Final = 1_000_000


@dataclass
class Rehearsal:
    """How much of it."""

    overlay: str = "prod"
    """Which manifests."""

    games: int = 5
    """Tables that play all the time."""

    round_cap: int = 8
    """Round cap of their games, more or less."""

    settle_s: float = 2.0
    """Seconds of quiet between two events."""

    rollouts: tuple[str, ...] = SERVICES
    """What is rolled out anew, in this order."""

    lose_node: bool = True
    """Whether a node is lost at the end."""

    rotate: bool = True
    """Whether keys and certificates are replaced, engines scaled, and a backup is restored."""


async def rehearse(plan: Rehearsal, say: Callable[[str], object] = lambda line: None) -> Summary:
    """Do it all; what is wrong is in the summary."""
    summary, began = Summary(), time.monotonic()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="opolyx-rehearsal-")))
        redis = stack.enter_context(redis_server(folder / "redis"))
        stage = Stage(folder, plan.overlay, redis.url)
        await stack.enter_async_context(stage)
        say(f"all ready after {time.monotonic() - began:.0f} s")
        tls = Tls(stage.authority) if stage.tls else None
        options = replace(PATIENT, tls=tls)
        address = f"{stage.address}:7443"
        habits = Habits(seed=1, round_cap=plan.round_cap, minutes=5)
        tables = Tables(address, habits, summary, say, options)
        with watched_mirrors(tables.ledgers, summary):
            await _play(plan, stage, folder, redis, tables, summary, say, options)
        client = AsyncClient(address, options=options)
        await _check(tables, summary, client, redis.url, folder)
        if plan.rotate:
            await _restore(tables, summary, redis, folder)
        # The end of every pod is part of it: the stage's context waits for all.
        await stage.__aexit__()
        summary.counts["pods that ended within their grace"] = len(stage.ground.log)
        summary.problems += stage.ground.faults
    summary.took_s = time.monotonic() - began
    return summary


async def _play(
    plan: Rehearsal,
    stage: Stage,
    folder: Path,
    redis: RedisServer,
    tables: Tables,
    summary: Summary,
    say: Callable[[str], object],
    options: ClientOptions,
) -> None:
    tasks = [asyncio.create_task(tables.play(number)) for number in range(plan.games)]
    try:
        async with asyncio.timeout(60):
            while len(tables.running) < plan.games * 0.8 and not summary.problems:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await _observed("nothing", asyncio.sleep(plan.settle_s), tables, summary, say)
        for service in plan.rollouts:
            work = stage.roll_out(service)
            await _observed(f"rollout of the {service}", work, tables, summary, say)
            await asyncio.sleep(plan.settle_s)
        if plan.rotate:
            await _procedures(stage, folder, redis, tables, summary, say, options)
        if plan.lose_node:
            losing = stage.lose_node(NODES[1])
            lost = await _observed("loss of a node", losing, tables, summary, say)
            summary.counts["pods lost with the node"] = lost
            await asyncio.sleep(plan.settle_s)
    finally:
        tables.finishing = True
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, BaseException):
            summary.wrong(f"a table broke: {result!r}")


async def _procedures(
    stage: Stage,
    folder: Path,
    redis: RedisServer,
    tables: Tables,
    summary: Summary,
    say: Callable[[str], object],
    options: ClientOptions,
) -> None:
    await _observed("one engine more, one less", scale(stage, "engine"), tables, summary, say)
    work = rotate_keys(stage, folder / "secrets", redis.url, options)
    if wrong := await _observed("rotation of the keys", work, tables, summary, say):
        summary.wrong(wrong)
    if stage.tls:
        renewing = rotate_certificates(stage, options)
        if wrong := await _observed("renewed certificates", renewing, tables, summary, say):
            summary.wrong(wrong)


async def _restore(tables: Tables, summary: Summary, redis: RedisServer, folder: Path) -> None:
    """A copy of Redis' files, made while it ran, has all that clients were told."""
    restored = back_up(redis, folder / "redis", folder / "restored")
    found = Summary()
    try:
        await asyncio.to_thread(restored.start)
        async with open_games(EngineSettings(store_url=restored.url)) as games:
            await Promises(tables.ledgers, found).check_log(partial(_records, games))
    finally:
        restored.stop()
    summary.counts["commands in the restored log"] = found.counts["commands in the log"]
    summary.problems += [f"restored: {problem}" for problem in found.problems]


async def _records(games: GameStore, game_id: str) -> Rows:
    found = await games.records(game_id, -1, _ALL)
    return [(one.command_id, one.seq, one.body) for one in found]


async def _observed(
    name: str,
    work: Awaitable[T],
    tables: Tables,
    summary: Summary,
    say: Callable[[str], object],
) -> T:
    """Do some work, and note how long clients wait meanwhile."""
    pauses, began = Pauses(), time.monotonic()
    tables.watch = pauses
    done = await work
    found = pauses.longest()
    summary.counts[f"longest pause of a client, {name}, p50, ms"] = round(
        percentile(found, 0.5) * 1000
    )
    summary.counts[f"longest pause of a client, {name}, p99, ms"] = round(
        percentile(found, 0.99) * 1000
    )
    say(f"{name}: {time.monotonic() - began:.0f} s, {len(found)} clients")
    return done


async def _check(
    tables: Tables, summary: Summary, client: AsyncClient, store_url: str, folder: Path
) -> None:
    promises = Promises(tables.ledgers, summary)
    async with (
        client as reader,
        open_awards(ProgressionSettings(store_url=store_url)) as awards,
        open_games(EngineSettings(store_url=store_url)) as games,
    ):
        await promises.check_replays(reader, folder)

        async def paid() -> Awards:
            last = await awards.last_sequence()
            ledger = await awards.ledger(after=0, until=last)
            return [(one.award.game_id, one.award.seat) for one in ledger]

        await promises.check_awards(paid)
        await promises.check_log(partial(_records, games))
