"""Who plays with whom; pure: the same tickets at the same time make the same tables.

Whoever has waited longest chooses first, the nearest ratings within a window that widens as the
wait grows. So nobody is passed over for ever: at the latest with the widest window, the longest
waiting takes any other.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
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
            near = pool.near(ticket, window_of(ticket, now_ms, rules))
            found[ticket.ticket_id] = sum(1 for _ in islice(near, ticket.seats - 1))
    return found


class _Pool:
    """Tickets that want the same ruleset and seats, by rating and then by wait.

    Who is near is found without looking at everybody: a search may be joined by thousands.
    """

    def __init__(self, tickets: Sequence[Ticket]) -> None:
        """Hold the tickets, which are in the order of their wait."""
        self._by_rating: dict[int, dict[int, Ticket]] = defaultdict(dict)
        for ticket in tickets:
            self._by_rating[ticket.rating][ticket.ticket_id] = ticket
        self._ratings = sorted(self._by_rating)

    def __contains__(self, ticket: Ticket) -> bool:
        return ticket.ticket_id in self._by_rating.get(ticket.rating, {})

    def tickets(self) -> list[Ticket]:
        """All tickets, longest waiting first."""
        held = [ticket for same in self._by_rating.values() for ticket in same.values()]
        return sorted(held, key=_by_wait)

    def remove(self, tickets: Sequence[Ticket]) -> None:
        """Take tickets out."""
        for ticket in tickets:
            same = self._by_rating[ticket.rating]
            del same[ticket.ticket_id]
            if not same:
                del self._by_rating[ticket.rating]
                del self._ratings[bisect_left(self._ratings, ticket.rating)]

    def near(self, anchor: Ticket, window: int) -> Iterator[Ticket]:
        """One ticket of each other person within the window of ratings.

        The nearest rating comes first, and the longest waiting among equals.
        """
        met = {anchor.player_id}
        for ticket in self._outward(anchor.rating, window):
            if ticket.player_id not in met:
                met.add(ticket.player_id)
                yield ticket

    def _outward(self, rating: int, window: int) -> Iterator[Ticket]:
        above = bisect_left(self._ratings, rating)
        below = above - 1
        while True:
            up = self._ratings[above] - rating if above < len(self._ratings) else window + 1
            down = rating - self._ratings[below] if below >= 0 else window + 1
            distance = min(up, down)
            if distance > window:
                return
            equals = []
            if up == distance:
                equals.append(self._by_rating[self._ratings[above]].values())
                above += 1
            if down == distance:
                equals.append(self._by_rating[self._ratings[below]].values())
                below -= 1
            yield from merge(*equals, key=_by_wait)


def _pools(tickets: Sequence[Ticket]) -> list[_Pool]:
    wanted: dict[tuple[str, int], list[Ticket]] = defaultdict(list)
    for ticket in sorted(tickets, key=_by_wait):
        wanted[ticket.ruleset, ticket.seats].append(ticket)
    return [_Pool(alike) for alike in wanted.values()]


def _table_for(anchor: Ticket, pool: _Pool, now_ms: int, rules: MatchRules) -> Table | None:
    wanted = anchor.seats - 1
    near = list(islice(pool.near(anchor, window_of(anchor, now_ms, rules)), wanted))
    if len(near) == wanted:
        return _table(anchor, near)
    if not anchor.allow_bots or now_ms - anchor.since_ms < rules.bots_after_ms:
        return None
    return _table(anchor, [ticket for ticket in near if ticket.allow_bots])


def _table(anchor: Ticket, others: list[Ticket]) -> Table:
    players = (anchor, *sorted(others, key=_by_wait))
    return Table(players, bots=anchor.seats - len(players))


def _by_wait(ticket: Ticket) -> tuple[int, int]:
    return ticket.since_ms, ticket.ticket_id
