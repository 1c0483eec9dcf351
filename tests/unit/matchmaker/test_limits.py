"""How often a minute, and whose address it is."""

import pytest

from opolyx_matchmaker.limits import MinuteLimit, caller_address
from opolyx_servicekit.errors import ResourceExhausted
from opolyx_servicekit.wall_clock import ManualClock


def test_each_key_has_its_own_count_and_the_refusal_names_the_limit() -> None:
    clock = ManualClock(60_000 * 100 + 15_000)
    limit = MinuteLimit("guests_per_minute", 2, clock)
    limit.take("a")
    limit.take("a")
    limit.take("b")

    with pytest.raises(ResourceExhausted) as caught:
        limit.take("a")

    assert 45_000 == caught.value.retry_after_ms
    assert {"limit": "guests_per_minute", "value": "2"} == caught.value.metadata
    assert "LIMIT" == caught.value.reason


async def test_next_minute_counts_anew() -> None:
    clock = ManualClock()
    limit = MinuteLimit("rooms_per_minute", 1, clock)
    limit.take("a")
    await clock.advance(60_000)
    limit.take("a")
    with pytest.raises(ResourceExhausted):
        limit.take("a")


def test_zero_is_no_limit_and_memory_is_bounded() -> None:
    clock = ManualClock()
    endless = MinuteLimit("x", 0, clock)
    for _ in range(1000):
        endless.take("a")
    limit = MinuteLimit("x", 1, clock)
    for number in range(25_000):
        limit.take(str(number))

    assert not endless._taken
    assert len(limit._taken) <= 10_001


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "address"),
    [
        ("ipv4:192.0.2.1:5000", "", 0, "192.0.2.1"),
        ("ipv4:192.0.2.1:5000", "198.51.100.7", 0, "192.0.2.1"),  # anybody may write that
        ("ipv4:10.0.0.1:5000", "198.51.100.7", 1, "198.51.100.7"),
        ("ipv4:10.0.0.1:5000", "6.6.6.6, 198.51.100.7", 1, "198.51.100.7"),
        ("ipv4:10.0.0.1:5000", "6.6.6.6, 198.51.100.7, 10.0.0.2", 2, "198.51.100.7"),
        ("ipv4:10.0.0.1:5000", "198.51.100.7", 2, "10.0.0.1"),  # it came by another way
        ("ipv6:%5B2001:db8:1:2::7%5D:5000", "", 0, "2001:db8:1:2::/64"),
        ("ipv6:%5B::ffff:192.0.2.1%5D:5000", "", 0, "192.0.2.1"),
        ("ipv4:10.0.0.1:5000", "2001:db8:1:2:ffff::1", 1, "2001:db8:1:2::/64"),
        ("ipv4:10.0.0.1:5000", "unknown", 1, "unknown"),
        ("unix:", "", 0, "unix:"),
    ],
)
def test_address_is_the_callers_and_not_what_the_caller_says(
    peer: str, forwarded: str, proxies: int, address: str
) -> None:
    assert address == caller_address(peer, forwarded, proxies)
