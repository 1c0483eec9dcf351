"""How two policies of the built-in bots fare against each other: `make policies`.

Every game seats two of each. The seatings take turns over all six; dice and bots' draws come from
the game's number, so that equal arguments give equal results everywhere. A game is won by the
policy of the seat, or side, that has the first place.
"""

import argparse
import itertools
import math
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Final

from opolyx_rules import RULESETS, SeededChance, State, apply, get_ruleset, result, start
from opolyx_rules.actions import ACCEPT_TRADE, KIND, PROPOSE_TRADE
from opolyx_rules.policies import POLICIES
from opolyx_rules.queries import awaited_seat

SEATS: Final = 4
SEATINGS: Final = tuple(itertools.combinations(range(SEATS), 2))
"""The seats of the first policy, in the order in which the games take them."""
SIDES: Final = ((0, 2), (1, 3))
"""The same where the seats play in two sides: each side is one policy's."""
GAMES: Final = 400
Z_95: Final = 1.959964


@dataclass(frozen=True)
class Outcome:
    """How one game went.

    Attributes:
        won: Whether the first policy has the first place.
        rounds: The round of the end.
        proposed: Trades that the first policy proposed.
        agreed: Trades that came about.
        thought_us: Processor time of each of the first policy's decisions, in µs.
    """

    won: bool
    rounds: int
    proposed: int
    agreed: int
    thought_us: tuple[int, ...]


def play(number: int, ruleset: str, one: str, other: str) -> Outcome:
    """Play the game of this number, two seats of policy `one` against two of `other`."""
    seatings = SIDES if get_ruleset(ruleset).sides else SEATINGS
    seats = seatings[number % len(seatings)]
    chance, own = SeededChance(f"dice {number}".encode()), SeededChance(f"bots {number}".encode())
    state = start(get_ruleset(ruleset), SEATS, chance)
    thought: list[int] = []
    proposed = agreed = 0
    while not state.over:
        seen, seat = next_decision(state)
        begun = time.thread_time_ns()
        action = POLICIES[one if seat in seats else other](seen, seat, own)
        if seat in seats:
            thought.append((time.thread_time_ns() - begun) // 1_000)
            proposed += action[KIND] == PROPOSE_TRADE
        agreed += action[KIND] == ACCEPT_TRADE
        apply(state, action, chance)
    first = next(part.seat for part in result(state).seats if part.place == 1)
    return Outcome(first in seats, state.round, proposed, agreed, tuple(thought))


def next_decision(state: State) -> tuple[State, int]:
    """What is asked next, and whom: offers first and one at a time, as the engine asks its bots."""
    if not state.offers:
        return state, awaited_seat(state)
    seen = state.clone()
    seen.offers = state.offers[:1]
    return seen, seen.offers[0][2]


def interval(won: int, games: int) -> tuple[float, float]:
    """The 95 % confidence interval of a win rate (Wilson)."""
    rate, square = won / games, Z_95 * Z_95
    middle = rate + square / (2 * games)
    half = Z_95 * math.sqrt(rate * (1 - rate) / games + square / (4 * games * games))
    return (middle - half) / (1 + square / games), (middle + half) / (1 + square / games)


def report(outcomes: Sequence[Outcome]) -> str:
    """The figures of these games, in three lines."""
    games = len(outcomes)
    won = sum(outcome.won for outcome in outcomes)
    low, high = interval(won, games)
    rounds, proposed, agreed = (
        sum(figures) / games
        for figures in zip(*((o.rounds, o.proposed, o.agreed) for o in outcomes), strict=True)
    )
    thought = sorted(us for outcome in outcomes for us in outcome.thought_us)
    middle, high_end = thought[len(thought) // 2], thought[len(thought) * 99 // 100]
    return "\n".join(
        [
            f"won {won} of {games}: {won / games:.1%}, 95 % from {low:.1%} to {high:.1%}",
            f"a game: {rounds:.0f} rounds, {proposed:.1f} trades proposed, {agreed:.1f} agreed",
            f"a decision: median {middle} µs, 99 % {high_end} µs, most {thought[-1]} µs",
        ]
    )


def main() -> None:
    """Play the games, and print how they went."""
    parser = argparse.ArgumentParser(prog="make policies", description=__doc__)
    parser.add_argument("one", nargs="?", default="trader", choices=sorted(POLICIES))
    parser.add_argument("other", nargs="?", default="steady", choices=sorted(POLICIES))
    parser.add_argument("--ruleset", default="classic@full", choices=sorted(RULESETS))
    parser.add_argument("--games", type=int, default=GAMES, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first game")
    parser.add_argument("--workers", type=int, default=2, help="processes that play")
    chosen = parser.parse_args()
    numbers = range(chosen.first, chosen.first + max(1, chosen.games))
    with ProcessPoolExecutor(max(1, chosen.workers)) as pool:
        playing = [
            pool.submit(play, number, chosen.ruleset, chosen.one, chosen.other)
            for number in numbers
        ]
        outcomes = [game.result() for game in playing]
    print(f"{chosen.one} against {chosen.other}, two seats each, {chosen.ruleset}")
    print(report(outcomes))


if __name__ == "__main__":
    main()
