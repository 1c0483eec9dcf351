"""Games on their way: how long all of them are waited for."""

import asyncio

from opolyx_engine.arrivals import Arrival, Arrivals
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.tasks import TaskOwner


async def test_all_that_is_on_its_way_is_waited_for_but_not_for_ever() -> None:
    async with TaskOwner("test") as tasks:
        arrivals = Arrivals(tasks, 1)
        assert await arrivals.wait_for_all(0)
        may_come = asyncio.Event()

        async def bring(arrival: Arrival) -> ServiceError | None:
            await may_come.wait()
            return None

        arrivals.begin("g", bring)
        assert not await arrivals.wait_for_all(0)
        assert "g" in arrivals
        may_come.set()
        assert await arrivals.wait_for_all(60)
        assert "g" not in arrivals
