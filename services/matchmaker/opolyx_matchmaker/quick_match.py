"""Who plays with whom; pure: the same tickets at the same time make the same tables.

Whoever has waited longest chooses first, the nearest ratings within a window that widens as the
wait grows. So nobody is passed over for ever: at the latest with the widest window, the longest
waiting takes any other.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ticket:
    """One player's search."""

    ticket_id: int
    """Its number, rising."""

    player_id: str
    """Who searches."""

    ruleset: str
    """The ruleset wanted."""

    seats: int
    """The number of seats wanted."""

    rating: int
    """The player's rating in the mode."""

    since_ms: int
    """When the search began, Unix milliseconds."""

    allow_bots: bool = False
    """Whether bots may fill the table after a wait."""


@dataclass(frozen=True, slots=True)
class MatchRules:
    """How the window widens and when bots come."""

    window: int
    """Rating points to either side at first."""

    widen_per_second: float
    """Points by which it widens in each second."""

    window_cap: int
    """Widest window."""

    bots_after_ms: int
    """After what wait bots fill a table."""


@dataclass(frozen=True, slots=True)
class Table:
    """Players found for one game."""

    tickets: tuple[Ticket, ...]
    """Who plays, longest waiting first."""

    bots: int
    """How many seats bots fill."""


def window_of(ticket: Ticket, now_ms: int, rules: MatchRules) -> int:
    """Rating points to either side that the ticket takes now."""
    waited_s = max(0, now_ms - ticket.since_ms) / 1000
    return min(rules.window_cap, rules.window + int(rules.widen_per_second * waited_s))


def find_tables(tickets: Sequence[Ticket], now_ms: int, rules: MatchRules) -> list[Table]:
    """The tables that can be filled now; each ticket is at one at most.

    Players of one table want the same ruleset and seats, are all within the window of the longest
    waiting of them, and are different people. Bots come only to who allows them.
    """
    pools: dict[tuple[str, int], list[Ticket]] = defaultdict(list)
    for ticket in sorted(tickets, key=_by_wait):
        pools[ticket.ruleset, ticket.seats].append(ticket)
    tables: list[Table] = []
    for pool in pools.values():
        tables += _tables_of_pool(pool, now_ms, rules)
    return tables


def companions(ticket: Ticket, tickets: Sequence[Ticket], now_ms: int, rules: MatchRules) -> int:
    """How many others the ticket could play with now, at most as many as seats are left."""
    found = len(_nearest(ticket, tickets, window_of(ticket, now_ms, rules)))
    return min(found, ticket.seats - 1)


def _tables_of_pool(pool: list[Ticket], now_ms: int, rules: MatchRules) -> list[Table]:
    tables: list[Table] = []
    seated: set[int] = set()
    for anchor in pool:
        if anchor.ticket_id in seated:
            continue
        free = [ticket for ticket in pool if ticket.ticket_id not in seated]
        if table := _table_for(anchor, free, now_ms, rules):
            tables.append(table)
            seated.update(ticket.ticket_id for ticket in table.tickets)
    return tables


def _table_for(anchor: Ticket, free: list[Ticket], now_ms: int, rules: MatchRules) -> Table | None:
    wanted = anchor.seats - 1
    near = _nearest(anchor, free, window_of(anchor, now_ms, rules))
    if len(near) >= wanted:
        return _table(anchor, near[:wanted])
    if not anchor.allow_bots or now_ms - anchor.since_ms < rules.bots_after_ms:
        return None
    return _table(anchor, [ticket for ticket in near if ticket.allow_bots][:wanted])


def _nearest(anchor: Ticket, free: Sequence[Ticket], window: int) -> list[Ticket]:
    """One ticket a person, nearest rating first, longest waiting first among equals."""
    near: dict[str, Ticket] = {}
    for ticket in free:
        fits = (ticket.ruleset, ticket.seats) == (anchor.ruleset, anchor.seats)
        if fits and abs(ticket.rating - anchor.rating) <= window:
            near.setdefault(ticket.player_id, ticket)
    near.pop(anchor.player_id, None)
    return sorted(near.values(), key=lambda one: (abs(one.rating - anchor.rating), *_by_wait(one)))


def _table(anchor: Ticket, others: list[Ticket]) -> Table:
    players = (anchor, *sorted(others, key=_by_wait))
    return Table(players, bots=anchor.seats - len(players))


def _by_wait(ticket: Ticket) -> tuple[int, int]:
    return ticket.since_ms, ticket.ticket_id
