"""What an arena plays: who sits where in which game, and one such game."""

import itertools
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from opolyx_rules import RULESETS
from opolyx_sdk.bot_loading import load_bot, made
from opolyx_sdk.bots import Bot
from opolyx_sdk.errors import OpolyxError
from opolyx_sdk.local._players import BUILT_IN
from opolyx_sdk.local._thinking import ThinkingTime
from opolyx_sdk.local.game_record import GameRecord, SeatReport
from opolyx_sdk.local.simulator import check_table, simulate
from opolyx_sdk.local.standings import GameRow, SeatRow
from opolyx_sdk.local.table_options import TableOptions

_KEPT_NOTES: Final = 3
_LEAST_ENTRANTS: Final = 2
_MOST_SEATS: Final = max(max(one.seat_counts()) for one in RULESETS.values())


@dataclass(frozen=True, slots=True)
class ArenaPlan:
    """Who plays what, how often. The games follow from it and from what the bots do."""

    entrants: tuple[str, ...]
    """Each a built-in bot's name, or a bot as `load_bot` finds it. One that stands twice plays
    twice, as two entrants.
    """

    games: int = 100
    """How many games."""

    ruleset: str = "classic@full"
    """The ruleset, "mode@edition"."""

    seed: str = "0"
    """All dice follow from it."""

    seats: int | None = None
    """Seats at a table; as many as the entrants when absent, but no more than the ruleset has."""

    budget_s: float = 5.0
    """How long a bot may take for an answer, seconds."""

    strict: bool = False
    """Stop with BotError at the first failure or refusal."""

    round_cap: int | None = None
    """Ends games earlier than the ruleset does."""

    replays: Path | None = None
    """Directory, which is there, for a replay of every game."""

    def check(self) -> None:
        """Say whether it can be played.

        Raises:
            ValueError: the numbers or the ruleset can't be.
            OpolyxError: an entrant can't be found, or is no bot.
        """
        if self.games < 1:
            raise ValueError(f"{self.games} games are none to play")
        if self.budget_s <= 0:
            raise ValueError(f"{self.budget_s:g} s are no time to think")
        if len(self.entrants) < _LEAST_ENTRANTS:
            named = ", ".join(self.entrants) or "nobody"
            raise ValueError(f"name at least two bots to play each other; {named} was named")
        check_table(self.ruleset, self.table_size)
        if self.table_size > len(self.entrants):
            raise ValueError(
                f"{self.table_size} seats for {len(self.entrants)} entrants: name as many, and a"
                " bot more than once if it is to sit on several seats"
            )
        for entrant in self.entrants:
            _maker(entrant)

    @property
    def table_size(self) -> int:
        """Seats at a table."""
        if self.seats is not None:
            return self.seats
        counts = RULESETS[self.ruleset].seat_counts() if self.ruleset in RULESETS else ()
        fitting = [count for count in counts if count <= len(self.entrants)]
        return max(fitting, default=len(self.entrants))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the entrants; those that stand twice have numbers."""
        names: list[str] = []
        for entrant in self.entrants:
            name = entrant.rpartition(":")[2]
            taken = sum(1 for other in names if other.partition(" ")[0] == name)
            names.append(f"{name} {taken + 1}" if taken else name)
        return tuple(names)

    def seating(self, number: int) -> tuple[int, ...]:
        """Which entrants sit at the table of a game, in seat order.

        Whoever comes together sits in every order, each order turned through all seats first, so
        that after every round of turns each has sat on each seat as often as the others. Where
        there are many ways to come together they follow each other far apart, so that after few
        games too everybody has played about as often.
        """
        entrants, seats = len(self.entrants), self.table_size
        groups = math.comb(entrants, seats)
        rounds, turn = divmod(number, groups)
        group = _group(entrants, seats, turn * _stride(groups) % groups)
        order = _orders(seats)[rounds // seats % len(_orders(seats))]
        line = [group[place] for place in order]
        return tuple(line[(seat + rounds + turn) % seats] for seat in range(seats))


def play_game(plan: ArenaPlan, number: int) -> GameRow:
    """Play one of the plan's games."""
    seating, names, process = plan.seating(number), plan.names, os.getpid()
    options = TableOptions(
        names=tuple(names[entrant] for entrant in seating),
        house={} if plan.round_cap is None else {"round_cap": plan.round_cap},
    )
    record = simulate(
        plan.ruleset,
        [_player(plan.entrants[entrant]) for entrant in seating],
        plan.seed,
        number=number,
        options=options,
        budget_s=plan.budget_s,
        strict=plan.strict,
    )
    if os.getpid() != process:  # a bot forked, and this is the copy: the game is told once
        os._exit(1)
    if plan.replays is not None:
        record.save(plan.replays / f"game-{number:05}.jsonl")
    return _row(plan, number, record)


def _row(plan: ArenaPlan, number: int, record: GameRecord) -> GameRow:
    return GameRow(
        number=number,
        game_id=record.game_id,
        seats=tuple(
            _seat_row(entrant, place, worth, report)
            for entrant, place, worth, report in zip(
                plan.seating(number), record.places, record.net_worth, record.reports, strict=True
            )
        ),
        rounds=record.rounds,
        actions=len(record.steps),
        digest=record.digest,
    )


def _seat_row(entrant: int, place: int, worth: int, report: SeatReport) -> SeatRow:
    return SeatRow(
        entrant=entrant,
        place=place,
        net_worth=worth,
        decisions=report.decisions,
        refusals=len(report.refusals),
        failures=len(report.failures),
        fallbacks=report.fallbacks,
        notes=(*report.failures[:_KEPT_NOTES], *report.refusals[:_KEPT_NOTES]),
        thinking=ThinkingTime.of(report.thinking_s),
    )


def _player(entrant: str) -> Bot | str:
    make = _maker(entrant)
    return entrant if make is None else made(make, entrant)


@lru_cache(maxsize=256)
def _maker(entrant: str) -> Callable[[], Bot] | None:
    """What makes an entrant's bots; None for a built-in one."""
    if entrant in BUILT_IN:
        return None
    if ":" not in entrant:
        known = ", ".join(BUILT_IN)
        raise OpolyxError(f"no built-in bot {entrant!r}; there are {known}, or MODULE:CLASS")
    return load_bot(entrant)


def _group(entrants: int, seats: int, rank: int) -> list[int]:
    """The group with this rank, from 0, among all of so many entrants, in the order of words."""
    group: list[int] = []
    for entrant in range(entrants):
        missing = seats - len(group)
        if not missing:
            break
        with_this = math.comb(entrants - entrant - 1, missing - 1)
        if rank < with_this:
            group.append(entrant)
        else:
            rank -= with_this
    return group


@lru_cache(maxsize=16)
def _stride(groups: int) -> int:
    """A step that comes to all groups, each far from the last: by the golden section."""
    return next(
        step
        for step in range(groups * 618 // 1000 + 1, 2 * groups + 1)
        if math.gcd(step, groups) == 1
    )


@lru_cache(maxsize=_MOST_SEATS)
def _orders(seats: int) -> list[tuple[int, ...]]:
    """Every order of a table but for its turning: the first place stays."""
    return [(0, *rest) for rest in itertools.permutations(range(1, seats))]
