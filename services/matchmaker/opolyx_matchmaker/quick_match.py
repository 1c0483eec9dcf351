"""Who plays with whom; pure: the same tickets at the same time make the same tables.

Whoever has waited longest chooses first, and takes the longest waiting of those whose ratings are
within a window, which widens with the wait. So nobody is passed over: whom a table leaves out
waited less than all whom it took, or is out of the window of the one who chose.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import islice


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
    """Who plays: who chose, then the others, longest waiting first."""

    bots: int
    """How many seats bots fill."""


def window_of(ticket: Ticket, now_ms: int, rules: MatchRules) -> int:
    """Rating points to either side that the ticket takes now."""
    waited_s = max(0, now_ms - ticket.since_ms) / 1000
    return min(rules.window_cap, rules.window + int(rules.widen_per_second * waited_s))


def find_tables(tickets: Sequence[Ticket], now_ms: int, rules: MatchRules) -> list[Table]:
    """The tables that can be filled now; each ticket is at one at most.

    Players of one table want the same ruleset and seats, are all within the window of the one who
    chose, and are different people. Bots come only to who allows them.
    """
    tables: list[Table] = []
    for pool in _pools(tickets):
        for anchor in pool.tickets():
            table = _table_for(anchor, pool, now_ms, rules) if anchor in pool else None
            if table is not None:
                tables.append(table)
                pool.remove(table.tickets)
    return tables


def companions(tickets: Sequence[Ticket], now_ms: int, rules: MatchRules) -> dict[int, int]:
    """By ticket id, how many others each could play with now, at most as many as seats are left."""
    found: dict[int, int] = {}
    for pool in _pools(tickets):
        for ticket in pool.tickets():
            others = pool.within(ticket, window_of(ticket, now_ms, rules))
            found[ticket.ticket_id] = sum(1 for _ in islice(others, ticket.seats - 1))
    return found


class _Pool:
    """Tickets that want the same ruleset and seats; a tournament tree over them by rating.

    A node knows the longest waiting ticket below it. So who is within a window is found, longest
    waiting first, without looking at everybody: thousands may search at once.
    """

    def __init__(self, tickets: Sequence[Ticket]) -> None:
        """Hold the tickets, which are in the order of their wait: their index is their rank."""
        self._tickets = tickets
        self._count = len(tickets)
        by_rating = sorted(range(self._count), key=lambda rank: tickets[rank].rating)
        self._ratings = [tickets[rank].rating for rank in by_rating]
        self._leaf = {
            tickets[rank].ticket_id: self._count + place for place, rank in enumerate(by_rating)
        }
        self._first = [self._count] * self._count + by_rating  # a rank that none has: nobody
        for node in range(self._count - 1, 0, -1):
            self._settle(node)

    def __contains__(self, ticket: Ticket) -> bool:
        return self._first[self._leaf[ticket.ticket_id]] < self._count

    def tickets(self) -> Sequence[Ticket]:
        """All tickets there were, longest waiting first."""
        return self._tickets

    def remove(self, tickets: Sequence[Ticket]) -> None:
        """Take tickets out."""
        for ticket in tickets:
            node = self._leaf[ticket.ticket_id]
            self._first[node] = self._count
            while node := node // 2:
                self._settle(node)

    def within(self, anchor: Ticket, window: int, *, among_bots: bool = False) -> Iterator[Ticket]:
        """One ticket of each other person within the window of ratings, longest waiting first.

        With `among_bots`, one that allows bots.
        """
        met = {anchor.player_id}
        nodes = [(self._first[node], node) for node in self._nodes(anchor.rating, window)]
        heapify(nodes)
        while nodes:
            rank, node = heappop(nodes)
            if rank == self._count:
                return
            if node < self._count:
                for child in (2 * node, 2 * node + 1):
                    heappush(nodes, (self._first[child], child))
                continue
            ticket = self._tickets[rank]
            if ticket.player_id not in met and (ticket.allow_bots or not among_bots):
                met.add(ticket.player_id)
                yield ticket

    def _nodes(self, rating: int, window: int) -> Iterator[int]:
        """The few nodes that have all ratings of the window below them, and no others."""
        low = self._count + bisect_left(self._ratings, rating - window)
        high = self._count + bisect_right(self._ratings, rating + window)
        while low < high:
            if low % 2:
                yield low
                low += 1
            if high % 2:
                high -= 1
                yield high
            low, high = low // 2, high // 2

    def _settle(self, node: int) -> None:
        self._first[node] = min(self._first[2 * node], self._first[2 * node + 1])


def _pools(tickets: Sequence[Ticket]) -> list[_Pool]:
    wanted: dict[tuple[str, int], list[Ticket]] = defaultdict(list)
    for ticket in sorted(tickets, key=_by_wait):
        wanted[ticket.ruleset, ticket.seats].append(ticket)
    return [_Pool(alike) for alike in wanted.values()]


def _table_for(anchor: Ticket, pool: _Pool, now_ms: int, rules: MatchRules) -> Table | None:
    wanted = anchor.seats - 1
    window = window_of(anchor, now_ms, rules)
    others = list(islice(pool.within(anchor, window), wanted))
    if len(others) == wanted:
        return _table(anchor, others)
    if not anchor.allow_bots or now_ms - anchor.since_ms < rules.bots_after_ms:
        return None
    return _table(anchor, list(pool.within(anchor, window, among_bots=True)))


def _table(anchor: Ticket, others: list[Ticket]) -> Table:
    return Table((anchor, *others), bots=anchor.seats - 1 - len(others))


def _by_wait(ticket: Ticket) -> tuple[int, int]:
    return ticket.since_ms, ticket.ticket_id
