"""All that is guarded, measured until it is clear whether it is slower."""

import asyncio
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

from guard_core import CoreCosts
from guard_limits import SERVER, Verdict, judge
from guard_server import ServerCost
from support_observed import ObservedEngine

TURNS: Final = 3
"""How often everything is measured, at most: again only while something is unclear."""

CORE_PROCESSES: Final = 5
SERVER_ROUNDS: Final = 30


def measure(
    server_limit: float | None,
    *,
    core: CoreCosts | None = None,
    observed: type[ObservedEngine] = ObservedEngine,
) -> dict[str, float]:
    """What each piece of work costs, surer where that is near its limit.

    Args:
        server_limit: what the server may cost; None if that isn't known.
        core: how the core is measured.
        observed: how the engine is started.
    """
    stay_on_one_core()
    found = core or CoreCosts()
    costs: dict[str, float] = {}
    for _ in range(TURNS):
        found.measure(CORE_PROCESSES)
        costs = found.costs()
        if not any(one.unclear for one in judge(costs, None)):
            break
    return {**costs, SERVER: server_cost(server_limit, observed)}


def server_cost(
    limit: float | None, observed: type[ObservedEngine] = ObservedEngine, *, turns: int = TURNS
) -> float:
    """What an action costs the server: the median of some turns, each with servers of its own.

    Args:
        limit: what it may cost; None if that isn't known, then all turns are measured.
        observed: how the engine is started.
        turns: how many, at most.
    """
    stay_on_one_core()
    costs: list[float] = []
    for _ in range(turns):
        costs.append(asyncio.run(_server(observed)))
        cost = statistics.median(costs)
        if limit is not None and not Verdict(SERVER, cost, limit).unclear:
            break
    return statistics.median(costs)


def stay_on_one_core() -> None:
    """Run with all children on one core, where the system can do that.

    Clients and servers then always drive each other out of its caches, on an idle machine as on a busy
    one: what an action costs the engine, in those of the bare server, differs less by half.
    """
    if sys.platform == "linux":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


async def _server(observed: type[ObservedEngine]) -> float:
    with tempfile.TemporaryDirectory(prefix="opolyx-guard-") as folder:
        async with ServerCost.opened(Path(folder), observed) as found:
            await found.measure(SERVER_ROUNDS)
            return found.cost()
