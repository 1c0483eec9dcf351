"""What is cached of a view is the same as what is worked out anew."""

import pytest

from opolyx.engine.v1 import decision_pb2, game_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.clocks import Clocks
from opolyx_engine.rpc.convert_decisions import add_decisions
from opolyx_engine.rpc.convert_views import fill_delta, game_view
from opolyx_engine.rpc.shown import Shown
from opolyx_rules.chance import SeededChance
from opolyx_rules.editions import RULESETS
from opolyx_rules.engine import apply, start
from opolyx_rules.policies import POLICIES
from opolyx_rules.queries import awaited_seat
from opolyx_rules.trade_template import trade_template


@pytest.mark.parametrize("ruleset", ["classic@full", "speed@full", "halal@full", "team@full"])
def test_deltas_applied_one_after_another_give_the_whole_view(ruleset: str) -> None:
    chance, own = SeededChance(b"dice"), SeededChance(b"bot")
    state = start(RULESETS[ruleset], 4, chance, vip=(0, 1, 2, 3))
    clocks = Clocks()
    shown = Shown(state)
    mirror = game_view(state, clocks)
    for _ in range(600):
        if state.over:
            break
        seat = awaited_seat(state)
        following = state.clone()
        apply(following, POLICIES["random"](state, seat, own), chance)
        after = Shown(following, shown)
        delta = game_pb2.GameDelta()
        fill_delta(delta, shown, after, clocks)
        for player in delta.players:
            mirror.players[player.seat].CopyFrom(player)
        squares = [each.square for each in mirror.properties]
        for each in delta.properties:
            mirror.properties[squares.index(each.square)].CopyFrom(each)
        if delta.HasField("turn"):
            mirror.turn.CopyFrom(delta.turn)
        if delta.HasField("auction"):
            mirror.ClearField("auction")
            if delta.auction.HasField("auction"):
                mirror.auction.CopyFrom(delta.auction.auction)
        for name in ("debts", "offers"):
            if delta.HasField(name):
                mirror.ClearField(name)
                getattr(mirror, name).extend(getattr(getattr(delta, name), name))
        if delta.HasField("result"):
            mirror.result.CopyFrom(delta.result)
        assert game_view(following, clocks) == mirror
        assert decisions(Shown(following), clocks) == decisions(after, clocks)
        check_template(after)
        state, shown = following, after


def decisions(shown: Shown, clocks: Clocks) -> list[decision_pb2.Decision]:
    update = pb.Update()
    add_decisions(update.decisions, shown, clocks)
    return list(update.decisions)


def check_template(shown: Shown) -> None:
    """The decision's template is the core's."""
    state = shown.state
    if state.over:
        return
    decision = decisions(shown, Clocks())[0]
    expected = trade_template(state, awaited_seat(state))
    assert (expected is not None) == decision.HasField("trade_template")
    if expected is None:
        return
    template = decision.trade_template
    assert expected.own_squares == list(template.own_squares)
    assert expected.max_give_cash == template.max_give_cash
    assert expected.fairness_bp == template.fairness_bp
    assert expected.offers_left == template.offers_left
    partners = [(p.seat, list(p.squares), p.max_cash, p.ally) for p in template.partner_squares]
    assert expected.partners == partners
