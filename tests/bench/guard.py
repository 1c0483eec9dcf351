"""Fail if the rules core has become a quarter slower than it was: `make bench-guard`.

No figure here is a time. Each piece of core work is set against a reference loop of plain Python, run
in turn with it in slices of some hundredths of a second of this process's own CPU time, and of both the
least time counts: what else runs on the machine lengthens slices, but hardly all of them. What stays is
how many rounds of the loop a piece of work is worth, which differs little between machines.
"""

import argparse
import sys
import time
from collections.abc import Callable
from typing import Final

from opolyx_rules import (
    SeededChance,
    State,
    actors,
    apply,
    apply_checked,
    compiled,
    get_ruleset,
    legal_actions,
    start,
)
from opolyx_rules.policies.random import choose_randomly
from opolyx_rules.policies.steady import choose_steadily
from opolyx_rules.replay import make_record, record_line

RULESET: Final = get_ruleset("classic@full")
SEATS: Final = 4
STEPS: Final = 1_000
LOSS: Final = 1.2
"""How many times its limit a piece of work may cost: noise stays below, a loss of a quarter above."""

Work = Callable[[], object]


def reference() -> int:
    """Calls, attributes, lists of ints and tuples: what the core is made of, in a fixed amount."""
    owner, found = [0] * 40, 0
    for step in range(6_000):
        owner[step % 40] = step % 4
        kept = [square for square in (1, 3, 6, 8, 9, 11) if owner[square] == step % 4]
        found += _count(owner, (step, len(kept)))
    return found


def _count(owner: list[int], pair: tuple[int, int]) -> int:
    step, kept = pair
    return kept + (1 if owner[step % 40] else 0)


def random_play() -> None:
    """Random players with the list at each step."""
    chance, luck = SeededChance(b"guard"), SeededChance(b"players")
    state = start(RULESET, SEATS, chance)
    for _ in range(STEPS):
        if state.over:
            state = start(RULESET, SEATS, chance)
        apply_checked(state, choose_randomly(state, actors(state)[0], luck), chance, [])


def steady_play() -> None:
    """Steady bots through the public `apply`."""
    chance, luck = SeededChance(b"guard"), SeededChance(b"players")
    state = start(RULESET, SEATS, chance)
    for _ in range(STEPS):
        if state.over:
            state = start(RULESET, SEATS, chance)
        apply(state, choose_steadily(state, actors(state)[0], luck), chance)


def lists() -> None:
    """Legal lists."""
    for state in _STATES:
        legal_actions(state, actors(state)[0])


def clones() -> None:
    """Copies."""
    for state in _STATES:
        state.clone()


def records() -> None:
    """Record lines and their running digest."""
    digest = bytes(32)
    for seq in range(STEPS):
        record = make_record(digest, seq=seq, at_unix_ms=seq, action=(11, 2, 39), draws=(3, 5))
        record_line(record)
        digest = bytes.fromhex(record.log_digest)


def _states() -> list[State]:
    chance, luck, states = SeededChance(b"guard"), SeededChance(b"players"), []
    state = start(RULESET, SEATS, chance)
    for _ in range(STEPS):
        apply(state, choose_randomly(state, actors(state)[0], luck), chance)
        states.append(state.clone())
    return states


_STATES: Final = _states()

LIMITS: Final[tuple[tuple[str, Work, float], ...]] = (
    ("random play", random_play, 2.70),
    ("steady play", steady_play, 6.50),
    ("legal lists", lists, 1.80),
    ("clones", clones, 0.75),
    ("records", records, 1.48),
)
"""What is measured, and how many reference loops a thousand of it cost when this was written."""


def main() -> int:
    """Measure all, print the table, and say whether anything is over its limit."""
    parser = argparse.ArgumentParser(prog="make bench-guard", description=__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="slices of each")
    rounds = parser.parse_args().rounds
    if compiled:
        print("the limits are those of the interpreted core; this one is compiled", file=sys.stderr)
        return 2
    least = measure(rounds)
    slow = 0
    print(f"{'a thousand':14}{'in loops':>10}{'was':>8}{'ratio':>8}")
    for (name, _, limit), took in zip(LIMITS, least[1:], strict=True):
        cost = took / least[0]
        over = cost > limit * LOSS
        slow += over
        print(f"{name:14}{cost:10.2f}{limit:8.2f}{cost / limit:8.2f}{'  slower' if over else ''}")
    return 1 if slow else 0


def measure(rounds: int) -> list[float]:
    """The least CPU time of the reference loop and of each piece of work, run in turn."""
    works: list[Work] = [reference, *[work for _, work, _ in LIMITS]]
    least = [float("inf")] * len(works)
    for _ in range(rounds):
        for place, work in enumerate(works):
            begun = time.process_time()
            work()
            least[place] = min(least[place], time.process_time() - begun)
    return least


if __name__ == "__main__":
    sys.exit(main())
