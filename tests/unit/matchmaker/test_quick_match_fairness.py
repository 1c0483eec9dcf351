"""Fair to who waits longest: on any searches, and in simulated time."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import quick_match_plot
from opolyx_matchmaker.quick_match import MatchRules, Table, Ticket, find_tables, window_of
from quick_match_simulation import POPULATIONS, Outcome, Population, Wish, default_rules, simulate

pytestmark = pytest.mark.timeout(240)  # any searches, on a busy machine

RULES: Final = MatchRules(window=100, widen_per_second=10, window_cap=400, bots_after_ms=30_000)
NOW_MS: Final = 100_000
UNHURRIED: Final = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

ALIKE: Final[Any] = {"ruleset": "classic@full", "seats": 4, "rating": 900}
SEARCHES: Final = st.lists(
    st.builds(
        Ticket,
        ticket_id=st.integers(1, 10_000),
        player_id=st.integers(1, 40).map("p_{}".format),
        ruleset=st.sampled_from(["classic@full", "speed@full"]),
        seats=st.integers(2, 4),
        rating=st.integers(900, 1900),
        since_ms=st.integers(50_000, NOW_MS),
        allow_bots=st.booleans(),
    ),
    max_size=40,
    unique_by=lambda one: one.ticket_id,
)


def order(ticket: Ticket) -> tuple[int, int]:
    return ticket.since_ms, ticket.ticket_id


def may_sit(ticket: Ticket, anchor: Ticket, now_ms: int, rules: MatchRules) -> bool:
    """Whether who chooses a table takes somebody, as far as that is about the two."""
    return (
        (ticket.ruleset, ticket.seats) == (anchor.ruleset, anchor.seats)
        and ticket.player_id != anchor.player_id
        and abs(ticket.rating - anchor.rating) <= window_of(anchor, now_ms, rules)
    )


def left_of(tickets: list[Ticket], tables: list[Table]) -> list[Ticket]:
    seated = {ticket.ticket_id for table in tables for ticket in table.tickets}
    return [ticket for ticket in tickets if ticket.ticket_id not in seated]


def passed_over(tables: list[Table], left: list[Ticket]) -> Iterator[tuple[Ticket, Table]]:
    """Who was left out of a table though somebody chosen there waited less."""
    for table in tables:
        anchor, *others = table.tickets
        people = {ticket.player_id for ticket in table.tickets}
        for ticket in left:
            if table.bots and not ticket.allow_bots:
                continue
            waited_longer = any(order(ticket) < order(other) for other in others)
            if (
                waited_longer
                and ticket.player_id not in people
                and may_sit(ticket, anchor, NOW_MS, RULES)
            ):
                yield ticket, table


TWICE_IN_THE_QUEUE: Final = [
    Ticket(ticket_id=1, player_id="p_1", since_ms=50_000, allow_bots=True, **ALIKE),
    Ticket(ticket_id=2, player_id="p_2", since_ms=50_000, **ALIKE),
    Ticket(ticket_id=3, player_id="p_2", since_ms=70_000, allow_bots=True, **ALIKE),
    Ticket(ticket_id=4, player_id="p_3", since_ms=70_001, allow_bots=True, **ALIKE),
]
"""One player with two tickets, of which only the younger allows bots."""


@settings(UNHURRIED, max_examples=300)
@example(TWICE_IN_THE_QUEUE)
@given(SEARCHES)
def test_nobody_who_waited_longer_is_passed_over(tickets: list[Ticket]) -> None:
    tables = find_tables(tickets, NOW_MS, RULES)

    assert [] == list(passed_over(tables, left_of(tickets, tables)))
    for table in tables:
        assert list(table.tickets[1:]) == sorted(table.tickets[1:], key=order)


@settings(UNHURRIED, max_examples=300)
@given(SEARCHES)
def test_longest_waiting_who_can_be_seated_is(tickets: list[Ticket]) -> None:
    """Whoever chooses first has a table if any can be made of all who search."""
    tables = find_tables(tickets, NOW_MS, RULES)

    seated = {ticket.ticket_id for table in tables for ticket in table.tickets}
    for wish in {(ticket.ruleset, ticket.seats) for ticket in tickets}:
        pool = sorted((t for t in tickets if (t.ruleset, t.seats) == wish), key=order)
        able = [ticket for ticket in pool if _has_company(ticket, pool)]
        if able:
            assert able[0].ticket_id in seated


@settings(UNHURRIED, max_examples=300)
@given(SEARCHES)
def test_no_table_can_be_made_of_those_who_are_left(tickets: list[Ticket]) -> None:
    left = left_of(tickets, find_tables(tickets, NOW_MS, RULES))

    assert not any(_has_company(ticket, left) for ticket in left)


def _has_company(anchor: Ticket, tickets: list[Ticket]) -> bool:
    """Whether `anchor` could have a table, of people or with bots."""
    waited_ms = NOW_MS - anchor.since_ms
    if anchor.allow_bots and waited_ms >= RULES.bots_after_ms:
        return True
    people = {other.player_id for other in tickets if may_sit(other, anchor, NOW_MS, RULES)}
    return len(people) >= anchor.seats - 1


@settings(UNHURRIED, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 400)), min_size=8, max_size=60),
    st.integers(2, 6),
)
def test_nobody_starves_however_many_come_after_them(
    crowd: list[tuple[int, int]], seats: int
) -> None:
    """A first searcher at the edge of the ratings, and a crowd that keeps coming.

    All are within the widest window: once it is reached, the first look with enough others seats
    them, whoever else came.
    """
    numbers = count(1)
    first = Ticket(0, "p_0", "classic@full", seats, rating=0, since_ms=0)
    coming = [
        Ticket(number, f"p_{number}", "classic@full", seats, rating=rating, since_ms=since_ms)
        for number, (since_ms, rating) in zip(numbers, sorted(crowd), strict=False)
    ]
    cap_ms = int((RULES.window_cap - RULES.window) / RULES.widen_per_second * 1000)
    waiting = [first]
    for now_ms in range(0, cap_ms + 30_000, 1000):
        waiting += [one for one in coming if now_ms - 1000 < one.since_ms <= now_ms]
        enough = len(waiting) >= seats
        waiting = left_of(waiting, find_tables(waiting, now_ms, RULES))
        if now_ms >= cap_ms and enough:
            assert first not in waiting


def test_thousand_players_of_several_modes_find_their_tables() -> None:
    rules = default_rules()
    population = Population("test", minutes=20, bots_percent=20)

    outcome = simulate(population, rules)

    seated = [ticket for _, table in outcome.tables for ticket in table.tickets]
    assert 1000 == len(seated) + len(outcome.left)
    assert len({ticket.ticket_id for ticket in seated}) == len(seated)
    for wish in population.wishes:
        assert _left_for(wish, outcome) < wish.seats
    for now_ms, table in outcome.tables:
        anchor = table.tickets[0]
        assert all(may_sit(ticket, anchor, now_ms, rules) for ticket in table.tickets[1:])


def _left_for(wish: Wish, outcome: Outcome) -> int:
    return sum(
        (ticket.ruleset, ticket.seats) == (wish.ruleset, wish.seats) for ticket in outcome.left
    )


def test_simulation_is_the_same_each_time() -> None:
    population = replace(POPULATIONS[0], players=200)

    assert simulate(population, RULES) == simulate(population, RULES)
    assert simulate(population, RULES) != simulate(population, RULES, seed=2)


@pytest.mark.timeout(240)
def test_figures_and_plot_in_the_documents_are_those_of_the_code() -> None:
    """If this fails, `make quick-match-plot` and read the difference."""
    stale: dict[Path, str] = quick_match_plot.stale_files()

    assert [] == [path.name for path in stale]
