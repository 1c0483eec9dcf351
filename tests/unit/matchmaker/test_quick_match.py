"""Who is matched with whom."""

import random
from heapq import heappop
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opolyx_matchmaker.quick_match import (
    MatchRules,
    Ticket,
    companions,
    find_tables,
    window_of,
)

RULES = MatchRules(window=100, widen_per_second=10, window_cap=400, bots_after_ms=30_000)


def ticket(number: int, **fields: Any) -> Ticket:
    values: dict[str, Any] = {
        "player_id": f"p_{number}",
        "ruleset": "classic@full",
        "seats": 2,
        "rating": 1000,
        "since_ms": number,
        **fields,
    }
    return Ticket(ticket_id=number, **values)


def numbers(tickets: list[Ticket], now_ms: int = 1000) -> list[list[int]]:
    tables = find_tables(tickets, now_ms, RULES)
    return [[one.ticket_id for one in table.tickets] for table in tables]


def test_two_of_a_kind_meet() -> None:
    assert [[1, 2]] == numbers([ticket(2), ticket(1)])


def test_ruleset_and_seats_must_agree() -> None:
    assert [] == numbers([ticket(1), ticket(2, ruleset="speed@full"), ticket(3, seats=3)])


def test_longest_waiting_takes_the_longest_waiting_of_those_within_the_window() -> None:
    found = numbers([ticket(1), ticket(2, rating=1101), ticket(3, rating=900), ticket(4)], now_ms=4)

    assert [[1, 3]] == found


def test_ratings_at_the_windows_edges_are_within_it() -> None:
    assert [[1, 2]] == numbers([ticket(1), ticket(2, rating=900)], now_ms=2)
    assert [[1, 2]] == numbers([ticket(1), ticket(2, rating=1100)], now_ms=2)
    assert [] == numbers([ticket(1), ticket(2, rating=899), ticket(3, rating=1101)], now_ms=3)


def test_window_widens_with_the_wait_up_to_the_cap() -> None:
    waiting = ticket(1, since_ms=0)

    assert 100 == window_of(waiting, 0, RULES)
    assert 200 == window_of(waiting, 10_000, RULES)
    assert 400 == window_of(waiting, 10_000_000, RULES)


def test_far_ratings_meet_once_the_window_is_wide_enough() -> None:
    tickets = [ticket(1, since_ms=0), ticket(2, since_ms=0, rating=1250)]

    assert [] == numbers(tickets, 14_000)
    assert [[1, 2]] == numbers(tickets, 15_000)


def test_player_never_meets_themselves() -> None:
    assert [] == numbers([ticket(1, player_id="p_u"), ticket(2, player_id="p_u")])


def test_bots_fill_only_after_the_wait_and_only_for_who_allows_them() -> None:
    patient = [ticket(1, seats=4, allow_bots=True), ticket(2, seats=4), ticket(3, seats=4)]
    assert [] == find_tables(patient, 30_000, RULES)

    (table,) = find_tables(patient, 30_001, RULES)

    assert [1] == [one.ticket_id for one in table.tickets]
    assert table.bots == 3


def test_who_allows_bots_plays_with_others_who_do() -> None:
    tickets = [ticket(number, seats=4, allow_bots=True) for number in (1, 2)]

    (table,) = find_tables(tickets, 40_000, RULES)

    assert ([1, 2], 2) == ([one.ticket_id for one in table.tickets], table.bots)


def test_companions_are_counted_up_to_the_seats() -> None:
    tickets = [ticket(number, seats=3) for number in range(1, 6)]

    assert 2 == companions(tickets, 1000, RULES)[1]
    assert 0 == companions(tickets[:1], 1000, RULES)[1]


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one for each node of the tree that is looked at."""
    looks: list[int] = []

    def counted(nodes: list[tuple[int, int]]) -> tuple[int, int]:
        looks.append(1)
        return heappop(nodes)

    monkeypatch.setattr("opolyx_matchmaker.quick_match.heappop", counted)
    return looks


def test_thousands_who_do_not_fit_are_looked_through_at_once(looked_at: list[int]) -> None:
    """It runs beside all calls, twice a second: looking at each pair took seconds."""
    far = [ticket(number, rating=300 * number, since_ms=0) for number in range(4000)]
    alike = [ticket(number, rating=0) for number in range(4000, 8000)]

    tables = find_tables([*far, *alike], 1000, RULES)
    counted = companions(far, 1000, RULES)

    assert 2000 == len(tables)
    assert 4000 == len(counted)
    assert len(looked_at) < 30 * 12_000


def test_thousands_who_come_at_once_are_seated_at_once(looked_at: list[int]) -> None:
    """After a pause of the service all windows are wide, so that everybody is near everybody."""
    chance = random.Random(1)
    crowd = [
        ticket(number, seats=4, since_ms=0, rating=chance.randrange(3000)) for number in range(8000)
    ]

    tables = find_tables(crowd, 100_000, RULES)

    assert len(tables) > 1900
    assert len(looked_at) < 30 * 8000


TICKETS = st.lists(
    st.builds(
        ticket,
        st.integers(1, 10_000),
        player_id=st.integers(1, 30).map("p_{}".format),
        ruleset=st.sampled_from(["classic@full", "speed@full"]),
        seats=st.integers(2, 6),
        rating=st.integers(0, 3000),
        since_ms=st.integers(0, 100_000),
        allow_bots=st.booleans(),
    ),
    max_size=40,
    unique_by=lambda one: one.ticket_id,
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TICKETS)
def test_tables_are_full_of_different_people_within_the_window(tickets: list[Ticket]) -> None:
    tables = find_tables(tickets, 100_000, RULES)

    seated = [one.ticket_id for table in tables for one in table.tickets]
    assert len(set(seated)) == len(seated)
    for table in tables:
        anchor = table.tickets[0]
        window = window_of(anchor, 100_000, RULES)
        assert len(table.tickets) + table.bots == anchor.seats
        assert len({one.player_id for one in table.tickets}) == len(table.tickets)
        assert {(anchor.ruleset, anchor.seats)} == {
            (one.ruleset, one.seats) for one in table.tickets
        }
        assert all(abs(one.rating - anchor.rating) <= window for one in table.tickets)
        assert not table.bots or all(one.allow_bots for one in table.tickets)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TICKETS, st.randoms(use_true_random=False))
def test_order_of_tickets_does_not_matter(tickets: list[Ticket], chance: random.Random) -> None:
    shuffled = chance.sample(tickets, len(tickets))

    assert _as_set(tickets) == _as_set(shuffled)


def _as_set(tickets: list[Ticket]) -> set[frozenset[int]]:
    tables = find_tables(tickets, 100_000, RULES)
    return {frozenset(one.ticket_id for one in table.tickets) for table in tables}
