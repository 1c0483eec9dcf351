"""The trader never makes a deal that loses it value, in random states of every ruleset."""

import random
from collections import Counter
from typing import Final

import pytest

from opolyx_rules import RULESETS, SeededChance, State, apply, check, start
from opolyx_rules.actions import ACCEPT_TRADE, DECLINE_TRADE, KIND, PROPOSE_TRADE
from opolyx_rules.content.boards import PROPERTIES
from opolyx_rules.mechanics.offers import may_propose
from opolyx_rules.policies import POLICIES
from opolyx_rules.policies.deals import choose_proposal
from opolyx_rules.policies.valuation import standing
from opolyx_rules.queries import awaited_seat
from support_playout import house_rules, random_states, random_trade

STATES: Final = 250
OFFERS: Final = 6
"""Random offers in each state."""


def proposing_states(name: str, seed: str) -> list[tuple[State, int]]:
    """Copies of random states in which the awaited seat may propose, every second one dealt anew.

    In those nearly all property is in somebody's hands, so that deals come about.
    """
    counts = RULESETS[name].seat_counts()
    luck = random.Random(f"{seed} {name}")
    found = []
    for number, state in enumerate(
        random_states(RULESETS[name], counts[-1 - len(seed) % 2], seed, STATES)
    ):
        copy = state.clone()
        copy.offers.clear()
        seat = awaited_seat(copy)
        if not may_propose(copy, seat):
            continue
        if number % 2 == 0:
            holders = [other for other in range(copy.seats) if copy.out_order[other] == 0]
            copy.level = [0] * len(copy.level)
            for square in PROPERTIES:
                if copy.financed.count(square) == 0:
                    copy.give(square, luck.choice(holders))
        found.append((copy, seat))
    return found


@pytest.mark.rule("TRADE-7")
@pytest.mark.parametrize("name", sorted(RULESETS))
def test_what_the_trader_accepts_never_lowers_its_standing(name: str) -> None:
    luck, own = random.Random(name), SeededChance(b"own")
    answers: Counter[int] = Counter()
    for state, seat in proposing_states(name, "accept"):
        for _ in range(OFFERS):
            trade = random_trade(state, seat, luck)
            if check(state, trade) is not None:
                continue
            offered = state.clone()
            apply(offered, trade, own)
            recipient = trade[2]
            before = standing(offered, recipient)
            answer = POLICIES["trader"](offered, recipient, own)
            answers[answer[KIND]] += 1
            apply(offered, (ACCEPT_TRADE, recipient, offered.last_offer), own)
            no_loss = standing(offered, recipient) >= before

            assert (answer[KIND] == ACCEPT_TRADE) == no_loss

    assert {ACCEPT_TRADE, DECLINE_TRADE} == set(answers)
    assert min(answers.values()) >= 5


@pytest.mark.rule("TRADE-2", "TRADE-5")
@pytest.mark.parametrize("name", sorted(RULESETS))
def test_what_the_trader_proposes_is_legal_and_gains_both(name: str) -> None:
    own = SeededChance(b"own")
    proposed = 0
    for state, seat in proposing_states(name, "propose"):
        proposal = choose_proposal(state, seat, own)
        if proposal is None:
            continue
        proposed += 1
        recipient = proposal[2]
        before = [standing(state, each) for each in (seat, recipient)]

        assert check(state, proposal) is None
        apply(state, proposal, own)
        assert POLICIES["trader"](state, recipient, own)[KIND] == ACCEPT_TRADE
        apply(state, (ACCEPT_TRADE, recipient, state.last_offer), own)
        after = [standing(state, each) for each in (seat, recipient)]
        assert all(now > then for now, then in zip(after, before, strict=True))

    assert proposed >= 5


@pytest.mark.rule("TRADE-3", "END-1")
@pytest.mark.parametrize("name", sorted(RULESETS))
def test_traders_propose_once_a_turn_at_most(name: str) -> None:
    """Half of the seats decline all; the last lets offers wait until it is awaited itself."""
    proposed = 0
    for seats in RULESETS[name].seat_counts():
        ruleset = house_rules(RULESETS[name], seats)
        chance, own = SeededChance(f"{name} {seats}".encode()), SeededChance(b"own")
        state = start(ruleset, seats, chance)
        asked: Counter[tuple[int, int]] = Counter()
        while not state.over:
            waiting = [offer[2] for offer in state.offers if offer[2] != seats - 1]
            seat = waiting[0] if waiting else awaited_seat(state)
            action = POLICIES["trader" if seat % 4 < 2 else "steady"](state, seat, own)
            if action[KIND] == PROPOSE_TRADE:
                asked[seat, state.turn_number] += 1
                assert 1 == asked[seat, state.turn_number]
            apply(state, action, chance)
        proposed += len(asked)

    assert proposed >= 3
