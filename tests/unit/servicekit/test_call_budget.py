"""Single calls are counted by account, and a refusal says when the next is taken."""

import pytest

from opolyx_servicekit.access import Principal
from opolyx_servicekit.call_budget import CallBudget
from opolyx_servicekit.errors import ResourceExhausted

READ = "/shop.v1.Shop/Read"
PLAY = "/shop.v1.Shop/Play"
ADA = Principal("p_ada", "player")


class Time:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def budget(time: Time, per_second: int = 2, burst: int = 3) -> CallBudget:
    return CallBudget(per_second, burst, counted_elsewhere=[PLAY], monotonic=time)


def test_more_than_the_burst_is_refused_until_there_is_one_more() -> None:
    time = Time()
    calls = budget(time)
    for _ in range(3):
        calls.take(READ, ADA)
    with pytest.raises(ResourceExhausted) as caught:
        calls.take(READ, ADA)
    assert {"limit": "calls_per_second", "value": "2"} == caught.value.metadata
    assert caught.value.retry_after_ms is not None
    assert 0 < caught.value.retry_after_ms <= 501

    time.now += caught.value.retry_after_ms / 1000
    calls.take(READ, ADA)


def test_accounts_do_not_share_a_budget() -> None:
    calls = budget(Time())
    for _ in range(3):
        calls.take(READ, ADA)

    calls.take(READ, Principal("p_bob", "player"))


@pytest.mark.parametrize(
    ("method", "principal"),
    [
        (PLAY, ADA),
        ("/grpc.health.v1.Health/Check", ADA),
        (READ, Principal("s_matchmaker", "service")),
        (READ, None),
    ],
    ids=["has a budget of its own", "health", "another service", "nobody"],
)
def test_some_calls_do_not_count(method: str, principal: Principal | None) -> None:
    calls = budget(Time())
    for _ in range(10):
        calls.take(method, principal)


def test_zero_is_no_limit() -> None:
    calls = budget(Time(), per_second=0)
    for _ in range(10_000):
        calls.take(READ, ADA)
