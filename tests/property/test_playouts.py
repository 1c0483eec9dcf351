"""Whole random games of every ruleset: the invariants hold after every action, and all end.

`OPOLYX_PLAYOUTS=2000 pytest tests/property/test_playouts.py` plays that many short games of each
ruleset, and a tenth as many under its own start cash and round cap.
"""

import os
from typing import Final

import pytest

from opolyx_rules import (
    RULESETS,
    Action,
    IllegalAction,
    Result,
    Ruleset,
    SeededChance,
    State,
    apply,
    check,
    result,
)
from opolyx_rules.codec import encode
from opolyx_rules.ids import END_LAST_STANDING, END_ROUND_CAP
from opolyx_rules.policies import POLICIES
from opolyx_rules.queries import seats_in, side_of
from support_invariants import Invariants
from support_playout import Playout, candidate_actions, house_rules

WIDELY_PLAYED: Final = "classic@full"
PLAYOUTS: Final = int(os.environ.get("OPOLYX_PLAYOUTS", "0"))
BATCH: Final = 20
"""Games of a test: some seconds."""


def playouts(ruleset: str) -> int:
    """How many games of a ruleset are played."""
    return PLAYOUTS or (1_000 if ruleset == WIDELY_PLAYED else 20)


BATCHES: Final = [
    pytest.param(name, first, id=f"{name}-{first}")
    for name in sorted(RULESETS)
    for first in range(0, playouts(name), BATCH)
]


@pytest.mark.timeout(300)
@pytest.mark.rule("END-1", "TURN-6", "DEBT-7")
@pytest.mark.parametrize(("name", "first"), BATCHES)
def test_invariants_hold_in_random_games_of_short_length(name: str, first: int) -> None:
    counts = RULESETS[name].seat_counts()
    for number in range(first, min(first + BATCH, playouts(name))):
        ruleset = house_rules(RULESETS[name], number)
        play_to_the_end(ruleset, counts[number % len(counts)], f"short {number}")


@pytest.mark.timeout(300)
@pytest.mark.rule("END-1")
@pytest.mark.parametrize("number", range(max(1, PLAYOUTS // 10)))
@pytest.mark.parametrize("name", sorted(RULESETS))
def test_invariants_hold_in_a_random_game_of_full_length(name: str, number: int) -> None:
    counts = RULESETS[name].seat_counts()

    play_to_the_end(RULESETS[name], counts[-1 - number % len(counts)], f"full length {number}")


@pytest.mark.rule("END-1", "END-2")
@pytest.mark.parametrize("policy", sorted(POLICIES))
@pytest.mark.parametrize("name", sorted(RULESETS))
def test_built_in_bots_finish_their_games(name: str, policy: str) -> None:
    """Without trades, surrenders and time-outs too: nothing but the bots' own decisions."""
    for seats in RULESETS[name].seat_counts():
        ruleset = RULESETS[name] if seats == 4 else house_rules(RULESETS[name], seats)
        playout = Playout(ruleset, seats, policy)
        invariants = Invariants(playout.state, playout.events)
        state, choose = playout.state, POLICIES[policy]
        while not state.over:
            action = choose(state, state.stack[-1][1], playout.chance)
            invariants.after(apply(state, action, playout.chance))

        assert state.round <= ruleset.round_cap


def play_to_the_end(ruleset: Ruleset, seats: int, seed: str) -> None:
    """Play a game with the invariants on, and now and then try what is not allowed."""
    chance = SeededChance(f"{ruleset.name} {seats} {seed}".encode())
    playout = Playout(ruleset, seats, seed, chance=chance)
    state, luck = playout.state, playout.players.luck
    candidates = candidate_actions(state.seats)
    invariants = Invariants(state, playout.events)
    while not state.over:
        if luck.random() < 0.02:
            for action in luck.sample(candidates, 40):
                assert_refused_changes_nothing(state, action, chance)
        _, log = playout.step()
        invariants.after(log)

    assert all(check(state, action) is not None for action in candidates)
    assert_lawful_result(state, result(state))


def assert_refused_changes_nothing(state: State, action: Action, chance: SeededChance) -> None:
    """Neither the state nor the dice."""
    before, places = encode(state), chance.places()
    if check(state, action) is not None:
        with pytest.raises(IllegalAction):
            apply(state, action, chance)

    assert before == encode(state)
    assert places == chance.places()


def assert_lawful_result(state: State, outcome: Result) -> None:
    """Places are those of END-4: survivors first, then the last to go."""
    sides = sorted({side_of(state, seat) for seat in range(state.seats)})
    left = {side_of(state, seat) for seat in seats_in(state)}
    capped = state.round == state.ruleset.round_cap
    assert state.end_cause == (END_LAST_STANDING if len(left) == 1 else END_ROUND_CAP)
    assert capped or len(left) == 1
    assert sorted({part.place for part in outcome.seats}) == list(range(1, len(sides) + 1))
    for part in outcome.seats:
        assert part.survived == (state.out_order[part.seat] == 0)
        assert (part.place <= len(left)) == (side_of(state, part.seat) in left)
        assert part.survived or part.net_worth == part.full_groups == 0
