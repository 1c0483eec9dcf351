"""What the SDK knows of the rules without importing them: the board's numbers and the digest."""

import random

import pytest

from opolyx_engine.clocks import Clocks
from opolyx_engine.rpc.convert_views import game_view
from opolyx_rules import RULESETS, SeededChance, actors, get_ruleset, legal_actions, start
from opolyx_rules import apply as apply_action
from opolyx_rules import views as rules_views
from opolyx_rules.content import boards
from opolyx_sdk import _frames, board
from opolyx_sdk._convert import read
from opolyx_sdk._digest import canonical_state, state_digest
from opolyx_sdk._mirror import apply_delta
from opolyx_sdk.views import GameView
from support_sdk import delta_between


@pytest.mark.parametrize("ruleset", sorted(RULESETS))
def test_the_mirrors_digest_is_the_rules_digest_after_every_action(ruleset: str) -> None:
    rng = random.Random(7)
    chance = SeededChance(b"digest")
    seats = 4
    state = start(get_ruleset(ruleset), seats, chance)
    clocks = Clocks()
    shown = game_view(state, clocks)
    mirror = read(shown, GameView)
    for _ in range(250):
        if state.over:
            break
        apply_action(state, rng.choice(legal_actions(state, actors(state)[0])), chance)
        before, shown = shown, game_view(state, clocks)
        delta = read(delta_between(before, shown), _frames.GameDelta)
        mirror = apply_delta(mirror, delta)

        assert rules_views.state_digest(state) == state_digest(mirror), canonical_state(mirror)


def test_the_board_is_the_rules_board() -> None:
    for square in board.SQUARES:
        number = square.number
        assert square.price == boards.PRICE[number]
        assert square.build_cost == boards.BUILD_COST[number]
        assert square.rents == boards.RENTS[number]
    assert list(boards.GROUPS) == sorted(board.GROUPS.values(), key=list(boards.GROUPS).index)
