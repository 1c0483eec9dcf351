"""Operators who ask that a game ends without a result: all of them hear what became of it."""

import pytest

from opolyx_engine.store.base import VOID
from opolyx_engine.void_requests import VoidRequests
from opolyx_servicekit.errors import StoreUnavailable


async def test_all_that_wait_hear_of_the_end_and_the_first_says_why() -> None:
    requests = VoidRequests()
    first, gone, last = (requests.add(reason) for reason in ("damaged", "gone", "other"))
    gone.cancel()
    assert (3, "damaged") == (len(requests), requests.reason)
    requests.settle(VOID)
    assert [VOID, VOID] == [await first, await last]
    assert not requests


async def test_who_asks_after_a_failure_waits_for_another_try() -> None:
    requests = VoidRequests()
    failed = requests.add("damaged")
    requests.fail(StoreUnavailable("STORE_UNAVAILABLE", "away"))
    with pytest.raises(StoreUnavailable):
        await failed
    again = requests.add("asked for")
    assert "asked for" == requests.reason
    requests.settle(VOID)
    assert VOID == await again
