"""When a matchmaker serves, stands by and ends."""

from collections.abc import Callable
from typing import cast

import pytest
from prometheus_client import CollectorRegistry

from opolyx_matchmaker.duty import Duty
from opolyx_matchmaker.metrics import MatchmakerMetrics
from opolyx_matchmaker.store.base import LeaseLost, Store
from opolyx_servicekit.errors import StoreUnavailable, Unavailable

LEASE_S = 6.0


class Leases:
    """A store that has nothing but a lease, which is given, refused, or can't be asked for."""

    def __init__(self) -> None:
        self.answer: bool | Exception = True
        self.released = 0
        self.fenced: Callable[[], object] = lambda: None

    async def hold_lease(self) -> bool:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def release_lease(self) -> None:
        self.released += 1

    def tell_fenced(self, observe: Callable[[], object]) -> None:
        self.fenced = observe


class Watched:
    """A duty, and what it did."""

    def __init__(self) -> None:
        self.now = 100.0
        self.leases = Leases()
        self.taken_up = 0
        self.trouble: Exception | None = None
        self.ready: list[bool] = []
        self.registry = CollectorRegistry(auto_describe=True)
        self.duty = Duty(
            cast("Store", self.leases),
            LEASE_S,
            MatchmakerMetrics(self.registry),
            self._take_up,
            monotonic=lambda: self.now,
        )
        self.duty.on_ready = self.ready.append

    def metric(self, name: str) -> float | None:
        return self.registry.get_sample_value(f"opolyx_matchmaker_{name}")

    async def _take_up(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.taken_up += 1


@pytest.fixture
def seen() -> Watched:
    return Watched()


AWAY = StoreUnavailable("STORE_UNAVAILABLE", "away")


def is_served(duty: Duty) -> bool:
    try:
        duty.check()
    except Unavailable:
        return False
    return True


async def test_who_gets_the_lease_takes_up_once_and_serves(seen: Watched) -> None:
    seen.leases.answer = False
    await seen.duty.look()
    with pytest.raises(Unavailable) as caught:
        seen.duty.check()
    assert ("STANDBY", True) == (caught.value.reason, bool(caught.value.retry_after_ms))
    assert (0, []) == (seen.taken_up, seen.ready)

    seen.leases.answer = True
    for _ in range(3):
        await seen.duty.look()
    assert is_served(seen.duty)
    assert (1, [True], 1.0) == (seen.taken_up, seen.ready, seen.metric("active"))


async def test_who_can_not_take_up_stands_by_and_tries_again(seen: Watched) -> None:
    seen.trouble = AWAY
    with pytest.raises(StoreUnavailable):
        await seen.duty.look()
    assert not is_served(seen.duty)
    assert not seen.duty.is_ready

    seen.trouble = None
    await seen.duty.look()
    assert is_served(seen.duty)


async def test_who_can_not_ask_for_a_lease_serves_on_but_is_not_ready(seen: Watched) -> None:
    """Perhaps only this one can't reach the store: new calls should go elsewhere."""
    await seen.duty.look()
    seen.leases.answer = AWAY
    for seconds, ready in ((LEASE_S - 0.1, True), (0.1, False), (60.0, False)):
        seen.now += seconds
        with pytest.raises(StoreUnavailable):
            await seen.duty.look()
        assert ready is seen.duty.is_ready
        assert is_served(seen.duty)

    seen.leases.answer = True
    await seen.duty.look()
    assert [True, False, True] == seen.ready


@pytest.mark.parametrize("by", ["asking", "a fenced write"])
async def test_who_lost_the_lease_serves_nobody_any_more(seen: Watched, by: str) -> None:
    await seen.duty.look()
    if by == "asking":
        seen.leases.answer = False
        await seen.duty.look()
    else:
        seen.leases.fenced()
        assert 1.0 == seen.metric("fenced_writes_total")
    await seen.duty.until_lost()
    assert not is_served(seen.duty)
    assert ([True, False], 0.0) == (seen.ready, seen.metric("active"))

    await seen.duty.run()  # has nothing more to do


async def test_a_fenced_write_of_who_never_served_is_no_loss(seen: Watched) -> None:
    seen.leases.answer = False
    await seen.duty.look()
    seen.leases.fenced()
    seen.leases.answer = True
    await seen.duty.look()
    assert is_served(seen.duty)


async def test_at_the_end_the_lease_is_released_and_a_store_that_is_away_is_no_matter(
    seen: Watched,
) -> None:
    await seen.duty.look()
    await seen.duty.end()
    assert (1, [True, False], 0.0) == (seen.leases.released, seen.ready, seen.metric("active"))
    assert not is_served(seen.duty)


def test_a_lost_lease_is_an_error_that_another_process_answers() -> None:
    assert "STANDBY" == LeaseLost().reason
    assert LeaseLost().retry_after_ms
