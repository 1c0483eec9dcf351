"""Replicas are asked for a sign of life once by all who want to know at the same time."""

import asyncio
from typing import cast

from opolyx_engine.ownership.membership import Membership
from opolyx_engine.ownership.ways_in import WaysIn
from opolyx_engine.replica import Replica


class Living:
    """Who lives."""

    def __init__(self, *ids: str) -> None:
        self.replicas = {each: Replica(each, f"{each}:1") for each in ids}

    def find(self, replica_id: str) -> Replica | None:
        return self.replicas.get(replica_id)


class Asked:
    """Replicas that answer when the test says so."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.answer: asyncio.Future[bool] = asyncio.Future()

    async def __call__(self, replica: Replica) -> bool:
        self.calls.append(replica.replica_id)
        return await self.answer


async def test_all_who_ask_of_one_at_the_same_time_share_the_question() -> None:
    asked = Asked()
    ways = WaysIn(cast("Membership", Living("a", "b")), asked)
    looks = [asyncio.create_task(ways.stands(each)) for each in ("a", "a", "b", "a")]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert ["a", "b"] == asked.calls
    asked.answer.set_result(True)
    assert [True] * 4 == await asyncio.gather(*looks)
    assert await ways.stands("a")
    assert ["a", "b", "a"] == asked.calls, "an answer is good for the moment only"


async def test_one_who_goes_away_takes_the_answer_from_nobody() -> None:
    asked = Asked()
    ways = WaysIn(cast("Membership", Living("a")), asked)
    gone, stays = (asyncio.create_task(ways.stands("a")) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    asked.answer.set_result(False)
    assert await stays is False


async def test_who_doesnt_live_is_not_asked() -> None:
    asked = Asked()
    assert not await WaysIn(cast("Membership", Living()), asked).stands("a")
    assert [] == asked.calls
