"""The list of legal actions and `check` agree in every state.

Nothing is listed that is refused; nothing is accepted that is neither listed nor within an open
template.
"""

import random
from typing import Final

import pytest

from opolyx_rules import (
    RULESETS,
    SeededChance,
    State,
    actors,
    apply,
    check,
    default_action,
    get_ruleset,
    legal_actions,
)
from opolyx_rules.actions import KIND, LAPSE_OFFER, SURRENDER, TIME_OUT, Action
from opolyx_rules.codec import encode
from opolyx_rules.queries import seats_in
from support_playout import (
    TABLES,
    candidate_actions,
    candidate_answers,
    fits_template,
    random_states,
    random_trade,
)

STATES: Final = 500
"""Of each ruleset but the one that is looked at most."""

BATCHES: Final = [
    *[pytest.param("classic@full", seats, 500, n) for seats in (2, 3, 4, 5, 6) for n in range(4)],
    *[
        pytest.param(name, seats, STATES // len(RULESETS[name].seat_counts()), 0)
        for name, seats in TABLES
        if name != "classic@full"
    ],
]
OPEN: Final = (SURRENDER, TIME_OUT, LAPSE_OFFER)
"""Kinds that are accepted and never listed: open to every seat, or the clock's own."""


@pytest.mark.timeout(300)
@pytest.mark.rule("CLOCK-6", "TURN-4", "TRADE-2", "TRADE-3", "TRADE-4", "TRADE-5")
@pytest.mark.parametrize(("name", "seats", "count", "seed"), BATCHES)
def test_the_list_holds_what_check_accepts(name: str, seats: int, count: int, seed: int) -> None:
    luck = random.Random(f"{name} {seats} {seed}")
    candidates = candidate_actions(seats)
    for state in random_states(get_ruleset(name), seats, f"legal {seed}", count):
        before = encode(state)
        listed = [action for seat in range(seats) for action in legal_actions(state, seat)]
        tried = [*candidates, *candidate_answers(state)]
        accepted = [action for action in tried if check(state, action) is None]
        assert len(set(listed)) == len(listed)
        assert sorted(listed) == sorted(a for a in accepted if a[KIND] not in OPEN)
        assert_open_kinds(state, [action for action in accepted if action[KIND] in OPEN])
        for seat in (actors(state)[0], actors(state)[0], luck.randrange(seats)):
            trade = random_trade(state, seat, luck)
            assert fits_template(state, trade) == (check(state, trade) is None), trade
        assert before == encode(state), "looking changed the state"
        for action in listed:
            assert apply(state.clone(), action, SeededChance(b"any")), f"{action} did nothing"
        assert before == encode(state), "a clone's action changed the state"


@pytest.mark.rule("CLOCK-3")
@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_the_default_is_listed_or_the_clocks_own(name: str, seats: int) -> None:
    for state in random_states(get_ruleset(name), seats, "default", 60):
        (seat,) = actors(state)
        action = default_action(state, seat)

        assert check(state, action) is None
        assert action in legal_actions(state, seat) or action == (TIME_OUT, seat)


def assert_open_kinds(state: State, accepted: list[Action]) -> None:
    """Everybody may surrender, the awaited seat's clock may run out, every offer may lapse."""
    surrenders: list[Action] = [(SURRENDER, seat) for seat in seats_in(state)]
    clocks: list[Action] = [(TIME_OUT, actors(state)[0])]
    lapses: list[Action] = [
        (LAPSE_OFFER, seat, offer[0]) for seat in range(state.seats) for offer in state.offers
    ]
    assert sorted(accepted) == sorted(surrenders + clocks + lapses)
