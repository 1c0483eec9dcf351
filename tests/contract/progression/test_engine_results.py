"""Real games of every ruleset, as the engine tells them, can be awarded."""

import random

import pytest

from opolyx_engine.facts import game_finished
from opolyx_engine.header import GameHeader, Holder, HouseOptions
from opolyx_engine.rpc.convert_facts import fact_to_proto
from opolyx_engine.store.base import StoredFact
from opolyx_progression.awards import ZeroReason
from opolyx_progression.games import FinishedGame, SeatKind
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.settlement import settle
from opolyx_rules import RULESETS, SeededChance, actors, apply, get_ruleset, legal_actions, start
from opolyx_rules.state import State

SEATS = 4


def finished_state(ruleset: str) -> State:
    """A game to its end, each action drawn at random."""
    dice, choice = SeededChance(b"progression"), random.Random(1)
    state = start(get_ruleset(ruleset), SEATS, dice)
    while not state.over:
        apply(state, choice.choice(legal_actions(state, actors(state)[0])), dice)
    return state


@pytest.mark.parametrize("ruleset", sorted(RULESETS))
def test_result_of_a_real_game_is_awarded(ruleset: str) -> None:
    header = GameHeader(
        game_id="g1",
        ruleset=ruleset,
        holders=tuple(
            Holder(player_id=f"p_{seat}", name=f"Seat {seat}", kind=SeatKind.PERSON)
            for seat in range(SEATS)
        ),
        options=HouseOptions(),
        watchable=True,
    )
    state = finished_state(ruleset)
    fact = game_finished(header, state, b"\x07" * 32, 1_700_000_000_000)

    game = delivery_of(fact_to_proto(StoredFact(number=1, game_id="g1", fact=fact))).effect

    assert isinstance(game, FinishedGame), game
    sides = get_ruleset(ruleset).sides
    assert (sides or SEATS) == game.places
    assert state.round == game.round
    settlement = settle(game, {}, {})
    winners = [award for award in settlement.awards if award.place == 1]
    assert (SEATS // sides if sides else 1) == len(winners)
    paid = {award.zero_reason for award in winners} == {ZeroReason.NOT_ZERO}
    assert paid == (game.round > 20 and not ruleset.endswith("@origins"))
    assert {f"p_{seat}" for seat in range(SEATS)} == set(settlement.ratings)
