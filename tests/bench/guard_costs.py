"""All that is guarded, measured until it is clear whether it is slower."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from guard_core import CoreCosts
from guard_limits import SERVER, judge
from guard_server import ServerCost
from support_observed import ObservedEngine

TURNS: Final = 3
"""How often all rounds are measured, at most: again only while something looks slower."""

CORE_PROCESSES: Final = 5
SERVER_ROUNDS: Final = 30


def measure(
    server_limit: float | None,
    *,
    core: CoreCosts | None = None,
    observed: type[ObservedEngine] = ObservedEngine,
    turns: int = TURNS,
) -> dict[str, float]:
    """What each piece of work costs, surer where that is over its limit.

    Args:
        server_limit: what the server may cost; None if that isn't known.
        core: how the core is measured.
        observed: how the engine is started.
        turns: how often all rounds are measured, at most.
    """
    stay_on_one_core()
    found = core or CoreCosts()
    costs: dict[str, float] = {}
    for _ in range(turns):
        found.measure(CORE_PROCESSES)
        costs = found.costs()
        if not any(one.slower for one in judge(costs, None)):
            break
    return {**costs, SERVER: asyncio.run(_server(server_limit, observed, turns))}


def stay_on_one_core() -> None:
    """Run with all children on one core, where the system can do that.

    Clients and servers then always drive each other out of its caches, on an idle machine as on a busy
    one: what an action costs the engine, in those of the bare server, differs by 3 % instead of 15 %.
    """
    if sys.platform == "linux":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


async def _server(limit: float | None, observed: type[ObservedEngine], turns: int) -> float:
    with tempfile.TemporaryDirectory(prefix="opolyx-guard-") as folder:
        async with ServerCost.opened(Path(folder), observed) as found:
            for _ in range(turns):
                await found.measure(SERVER_ROUNDS)
                if not any(one.slower for one in judge({SERVER: found.cost()}, limit)):
                    break
            return found.cost()
