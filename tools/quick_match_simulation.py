"""Simulated players who search for a game, in simulated time, against the real matching function.

All chance is drawn as whole numbers from a seed, so the same population has the same outcome on
every machine.
"""

import random
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from opolyx_matchmaker.peers import NEWCOMER_RATING
from opolyx_matchmaker.quick_match import MatchRules, Table, Ticket, find_tables
from opolyx_matchmaker.settings import MatchmakerSettings

LOOK_MS: Final = 500
"""How often tables are looked for, as `match_seconds` is by default."""

_PATIENCE_MS: Final = 10 * 60_000  # how long the last ones to arrive are followed
_NEWCOMERS_PERCENT: Final = 30
_RATING_STEP: Final = 250  # the sum of twelve such draws has this standard deviation
_SEED: Final = 1


@dataclass(frozen=True, slots=True)
class Wish:
    """What a share of the players searches for."""

    ruleset: str
    """The ruleset."""

    seats: int
    """The number of seats."""

    weight: int
    """How many search for it, against the others' weights."""


@dataclass(frozen=True, slots=True)
class Population:
    """Players, and when they come."""

    name: str
    """What it is called in the figures."""

    minutes: int
    """The time over which they arrive, evenly at random."""

    bots_percent: int = 0
    """How many of a hundred allow bots."""

    players: int = 1000
    """How many arrive."""

    wishes: tuple[Wish, ...] = (
        Wish("classic@full", 4, 40),
        Wish("classic@full", 2, 15),
        Wish("speed@full", 4, 20),
        Wish("blitz@full", 4, 10),
        Wish("team@full", 4, 10),
        Wish("fortune@full", 6, 5),
    )
    """What they search for."""


POPULATIONS: Final = (
    Population("1,000 in 10 minutes", 10),
    Population("1,000 in an hour", 60),
    Population("1,000 in six hours", 360),
    Population("the same, 6 of 10 allow bots", 360, bots_percent=60),
)
"""The populations of `docs/quick-match.md`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a population."""

    tables: tuple[tuple[int, Table], ...]
    """Each table, after the time when it was found, in milliseconds."""

    left: tuple[Ticket, ...]
    """Who still searched ten minutes after the last arrival."""

    def waits_ms(self) -> list[int]:
        """How long each seated player waited, rising."""
        return sorted(
            now - ticket.since_ms for now, table in self.tables for ticket in table.tickets
        )

    def spreads(self) -> list[int]:
        """Highest less lowest rating of each table with two people or more, rising."""
        ratings = [[ticket.rating for ticket in table.tickets] for _, table in self.tables]
        return sorted(max(those) - min(those) for those in ratings if len(those) > 1)


def default_rules() -> MatchRules:
    """The rules of matching as they are when nothing is set."""
    settings = MatchmakerSettings()
    return MatchRules(
        window=settings.match_window,
        widen_per_second=settings.match_widen_per_second,
        window_cap=settings.match_window_cap,
        bots_after_ms=int(settings.match_bots_after_seconds * 1000),
    )


def simulate(population: Population, rules: MatchRules, seed: int = _SEED) -> Outcome:
    """Let a population search until ten minutes after the last of it came."""
    until_ms = population.minutes * 60_000 + _PATIENCE_MS
    tables: list[tuple[int, Table]] = []
    left: list[Ticket] = []
    for alike in _by_wish(arrivals(population, seed)):
        found, waiting = _search(alike, rules, until_ms)
        tables += found
        left += waiting
    return Outcome(tuple(tables), tuple(left))


def arrivals(population: Population, seed: int) -> list[Ticket]:
    """The searches, first to come first."""
    chance = random.Random(seed)  # noqa: S311  # it must be the same each time
    times = sorted(chance.randrange(population.minutes * 60_000) for _ in range(population.players))
    return [_ticket(number, since_ms, population, chance) for number, since_ms in enumerate(times)]


def _by_wish(tickets: Sequence[Ticket]) -> list[list[Ticket]]:
    """Who wants different tables never meets, so each wish is followed by itself: that is faster."""
    alike: dict[tuple[str, int], list[Ticket]] = defaultdict(list)
    for ticket in tickets:
        alike[ticket.ruleset, ticket.seats].append(ticket)
    return list(alike.values())


def _search(
    tickets: Sequence[Ticket], rules: MatchRules, until_ms: int
) -> tuple[list[tuple[int, Table]], list[Ticket]]:
    """The tables found, each after its time, and who still searches at the end."""
    coming = deque(tickets)
    waiting: list[Ticket] = []
    tables: list[tuple[int, Table]] = []
    settled_ms = 0  # from then on nothing changes before somebody comes
    for now_ms in range(0, until_ms, LOOK_MS):
        while coming and coming[0].since_ms <= now_ms:
            waiting.append(coming.popleft())
            settled_ms = now_ms + _settling_ms(rules)
        if now_ms > settled_ms:
            continue
        found = find_tables(waiting, now_ms, rules)
        tables += [(now_ms, table) for table in found]
        seated = {ticket.ticket_id for table in found for ticket in table.tickets}
        waiting = [ticket for ticket in waiting if ticket.ticket_id not in seated]
    return tables, waiting


def _settling_ms(rules: MatchRules) -> int:
    """After this wait a ticket's window is at its widest and its bots may come."""
    widening_ms = int((rules.window_cap - rules.window) / rules.widen_per_second * 1000)
    return max(widening_ms, rules.bots_after_ms) + LOOK_MS


def share(values: Sequence[int], percent: int) -> int:
    """The value that so many of a hundred don't exceed; `values` rise."""
    return values[max(0, -(-len(values) * percent // 100) - 1)]


def _ticket(number: int, since_ms: int, population: Population, chance: random.Random) -> Ticket:
    wish = chance.choices(population.wishes, [wish.weight for wish in population.wishes])[0]
    return Ticket(
        ticket_id=number,
        player_id=f"p_{number}",
        ruleset=wish.ruleset,
        seats=wish.seats,
        rating=_rating(chance),
        since_ms=since_ms,
        allow_bots=chance.randrange(100) < population.bots_percent,
    )


def _rating(chance: random.Random) -> int:
    if chance.randrange(100) < _NEWCOMERS_PERCENT:
        return NEWCOMER_RATING
    return sum(chance.randrange(_RATING_STEP + 1) for _ in range(12))
