"""Signs of collusion and farming: what honest players hardly do, found in stored results.

A sign is no proof: friends meet often, and somebody has to lose. It tells an operator whose games to
look at. Nothing is stored for it, as the results hold all that it follows from; and no more is held
in memory than the results that are looked at make.
"""

from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import combinations
from typing import Final

from opolyx_progression.games import FinishedGame, FinishedSeat, SeatKind
from opolyx_progression.store.base import Store

_BATCH: Final = 200
_MOST_OF_A_KIND: Final = 100
_MOST_EXAMPLES: Final = 5


class SignalKind(IntEnum):
    """What a signal is. As on the wire: never renumber."""

    REPEATED_PAIR = 1
    ONE_SIDED_PAIR = 2
    GIFTS = 3
    QUICK_SURRENDERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Something in the results that honest players hardly do."""

    kind: SignalKind
    """What it is."""

    player_ids: tuple[str, ...]
    """The accounts; of a pair, who gains by it first."""

    games: int
    """In how many games."""

    value: int
    """Its measure: games, or for gifts their value in k."""

    game_ids: tuple[str, ...]
    """Some of the games, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From where on it is a sign."""

    pair_games: int = 10
    """Games in which two people met."""

    pair_part: float = 0.5
    """Of the games of the one who played fewer, in which part the two met."""

    one_sided_part: float = 0.9
    """In which part of them the same one came out ahead."""

    gift_value: int = 10_000
    """Gifts of one to another over all games, in k: two thirds of a start cash of 15,000."""

    gift_times: int = 3
    """How many times what came back."""

    quick_round: int = 20
    """Up to this round a departure is quick; games that end by then pay nothing (XP-2)."""

    quick_games: int = 5
    """Games left so quickly."""

    quick_part: float = 0.5
    """In which part of an account's games."""


@dataclass(slots=True)
class _Tally:
    """Something that is counted, and games in which it was."""

    games: int = 0
    value: int = 0
    examples: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_EXAMPLES))

    def add(self, game_id: str, value: int = 1) -> None:
        self.games += 1
        self.value += value
        self.examples.appendleft(game_id)


class SignalWatch:
    """Sees results, oldest first, and tells what stands out."""

    def __init__(self, thresholds: Thresholds | None = None) -> None:
        """Nothing was seen yet."""
        self._thresholds = thresholds or Thresholds()
        self.games = 0
        """Results seen."""
        self._played: dict[str, int] = defaultdict(int)
        self._met: dict[tuple[str, str], _Tally] = defaultdict(_Tally)
        self._ahead: dict[tuple[str, str], int] = defaultdict(int)
        self._gifts: dict[tuple[str, str], _Tally] = defaultdict(_Tally)
        self._quick: dict[str, _Tally] = defaultdict(_Tally)

    def see(self, game: FinishedGame) -> None:
        """One more result."""
        self.games += 1
        people = [seat for seat in game.seats if seat.kind is SeatKind.PERSON and seat.player_id]
        for seat in people:
            self._played[seat.player_id] += 1
            if not seat.survived and game.round <= self._thresholds.quick_round:
                self._quick[seat.player_id].add(game.game_id)
        for one, other in combinations(people, 2):
            self._meet(game, one, other)
        by_seat = {seat.seat: seat for seat in people}
        for gift in game.gifts:
            if gift.giver in by_seat and gift.taker in by_seat:
                pair = (by_seat[gift.taker].player_id, by_seat[gift.giver].player_id)
                self._gifts[pair].add(game.game_id, gift.value)

    def signals(self) -> list[Signal]:
        """What stands out, the strongest of each kind first."""
        kinds = (self._pairs(), self._one_sided(), self._given(), self._gave_up())
        found: list[Signal] = []
        for kind in kinds:
            strongest = sorted(kind, key=lambda signal: (-signal.value, signal.player_ids))
            found += strongest[:_MOST_OF_A_KIND]
        return found

    def _meet(self, game: FinishedGame, one: FinishedSeat, other: FinishedSeat) -> None:
        if one.side == other.side and game.places < len(game.seats):  # partners of a side
            return
        first, second = sorted((one, other), key=lambda seat: seat.player_id)
        self._met[first.player_id, second.player_id].add(game.game_id)
        if first.place != second.place:
            ahead, behind = (first, second) if first.place < second.place else (second, first)
            self._ahead[ahead.player_id, behind.player_id] += 1

    def _often(self) -> Iterator[tuple[tuple[str, str], _Tally]]:
        for pair, tally in self._met.items():
            fewer = min(self._played[player_id] for player_id in pair)
            least = max(self._thresholds.pair_games, self._thresholds.pair_part * fewer)
            if tally.games >= least:
                yield pair, tally

    def _pairs(self) -> Iterator[Signal]:
        for pair, tally in self._often():
            yield _signal(SignalKind.REPEATED_PAIR, pair, tally)

    def _one_sided(self) -> Iterator[Signal]:
        for (one, other), tally in self._often():
            for ahead, behind in ((one, other), (other, one)):
                if self._ahead[ahead, behind] >= self._thresholds.one_sided_part * tally.games:
                    yield Signal(
                        kind=SignalKind.ONE_SIDED_PAIR,
                        player_ids=(ahead, behind),
                        games=tally.games,
                        value=self._ahead[ahead, behind],
                        game_ids=tuple(tally.examples),
                    )

    def _given(self) -> Iterator[Signal]:
        for (taker, giver), tally in list(self._gifts.items()):
            back = self._gifts.get((giver, taker))
            least = self._thresholds.gift_times * (back.value if back is not None else 0)
            if tally.value >= max(self._thresholds.gift_value, least):
                yield _signal(SignalKind.GIFTS, (taker, giver), tally)

    def _gave_up(self) -> Iterator[Signal]:
        for player_id, tally in self._quick.items():
            part = self._thresholds.quick_part * self._played[player_id]
            if tally.games >= max(self._thresholds.quick_games, part):
                yield _signal(SignalKind.QUICK_SURRENDERS, (player_id,), tally)


async def latest_results(store: Store, count: int) -> AsyncIterator[FinishedGame]:
    """The latest results that can be read, oldest first; at most `count`."""
    after = max(0, await store.last_sequence() - count)
    while batch := await store.results(after=after, limit=_BATCH):
        for result in batch:
            if result.game is not None:
                yield result.game
        after = batch[-1].sequence


def _signal(kind: SignalKind, player_ids: tuple[str, ...], tally: _Tally) -> Signal:
    return Signal(
        kind=kind,
        player_ids=player_ids,
        games=tally.games,
        value=tally.value,
        game_ids=tuple(tally.examples),
    )
