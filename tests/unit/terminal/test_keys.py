"""Everything that the rules allow can be done by keys: in every phase of every ruleset."""

import random
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from opolyx_rules import RULESETS
from opolyx_rules.engine import check
from opolyx_sdk.actions import ACTION_TYPES, Action, ProposeTrade, Surrender, WithdrawTrade
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import Phase
from opolyx_sdk.local import TableOptions
from opolyx_sdk.local._core_actions import core_action
from opolyx_sdk.local._local_game import LocalGame
from opolyx_sdk.local.simulator import set_up
from opolyx_sdk.terminal.lobby.wish import RULESETS as OFFERED
from opolyx_sdk.terminal.lobby.wish import seat_counts
from opolyx_sdk.terminal.menu import Hand
from opolyx_sdk.views import GameView
from support_terminal import keys_to, typed

_STEPS = 700
_TRIED = 4
"""How often each kind of action is tried in each phase."""

_EVERYWHERE = {
    Phase.ROLL,
    Phase.JAIL,
    Phase.BUY,
    Phase.AUCTION,
    Phase.PAYMENT,
    Phase.OFFER,
}


@cache
def seen(ruleset: str) -> Counter[tuple[Phase, type[Action]]]:
    """What was tried, and led to exactly what it should, in games of a ruleset."""
    tried: Counter[tuple[Phase, type[Action]]] = Counter()
    seats = 4
    for seed in range(2):
        rng = random.Random(f"{ruleset}{seed}")
        options = TableOptions(
            vip=frozenset(range(seats)), house={"start_cash": 4_000 + 9_000 * seed}
        )
        names = ("Ada", "Bruno", "Chandra", "Dewi")
        game, _ = set_up(ruleset, [""] * seats, names, str(seed), 0, options)
        for _ in range(_STEPS):
            if game.over:
                break
            game.clock.tick()
            due = game.clock.due(game.state)
            if due is not None:
                game.act(due)
                continue
            seat, offer = game.asked()
            decision = game.decision(offer)
            try_keys(game, decision, tried, rng)
            for action in (choice(decision, game.view, rng), rng.choice(decision.legal_actions)):
                core = core_action(action, seat)
                assert isinstance(core, tuple)
                if check(game.state, core) is None:
                    game.act(core)
                    break
    return tried


def try_keys(
    game: LocalGame,
    decision: Decision,
    tried: Counter[tuple[Phase, type[Action]]],
    rng: random.Random,
) -> None:
    """Try every kind of action that hasn't been tried often enough."""
    view, seat = game.view, decision.seat
    own = tuple(one for one in game.decisions() if one.seat == seat)
    hand = Hand(view, seat, own)
    for action in rng.sample(decision.legal_actions, len(decision.legal_actions)):
        kind = decision.phase, type(action)
        if tried[kind] < _TRIED:
            assert action == typed(hand, keys_to(action, decision, view)).action
            tried[kind] += 1
    for kind_of, extra in (("trade", some_trade(decision, rng)), ("leave", Surrender())):
        if extra is None or tried[decision.phase, type(extra)] >= _TRIED:
            continue
        assert extra == typed(hand, keys_to(extra, decision, view)).action, kind_of
        tried[decision.phase, type(extra)] += 1

    for offer in view.offers:
        if tried[decision.phase, WithdrawTrade] < _TRIED:
            withdrawal = WithdrawTrade(offer.offer_id)
            maker = Hand(view, offer.proposer, game.decisions()[:1])
            keys = keys_to(withdrawal, replace(decision, seat=offer.proposer), view)
            assert withdrawal == typed(maker, keys).action
            tried[decision.phase, WithdrawTrade] += 1


def some_trade(decision: Decision, rng: random.Random) -> ProposeTrade | None:
    """Any trade within the template, allowed or not: the dialog leaves that to the server."""
    template = decision.trade_template
    if template is None:
        return None
    partner = rng.choice(template.partner_squares)
    give = tuple(one for one in template.own_squares if rng.random() < 0.3)
    want = tuple(one for one in partner.squares if rng.random() < 0.3)
    give_cash = rng.randint(0 if give else 1, max(1, template.max_give_cash))
    want_cash = rng.randint(0, partner.max_cash) if want else 0
    if (not want and not want_cash) or give_cash > template.max_give_cash:
        return None
    return ProposeTrade(partner.seat, give_cash, give, want_cash, want)


def choice(decision: Decision, view: GameView, rng: random.Random) -> Action:
    """Now and then an offer, so that there are some to answer; else anything."""
    template = decision.trade_template
    if template is not None and rng.random() < 0.05:
        for partner in template.partner_squares:
            if partner.squares and template.own_squares:
                own, theirs = rng.choice(template.own_squares), rng.choice(partner.squares)
                offer = ProposeTrade(partner.seat, 0, (own,), 0, (theirs,))
                if not any(one.proposer == decision.seat for one in view.offers):
                    return offer
    return rng.choice(decision.legal_actions)


@pytest.mark.parametrize("ruleset", OFFERED)
def test_every_action_of_every_phase_has_its_keys(ruleset: str) -> None:
    phases = {phase for phase, _ in seen(ruleset)}

    assert phases >= _EVERYWHERE


def test_every_phase_is_met_in_some_ruleset() -> None:
    phases = {phase for ruleset in OFFERED for phase, _ in seen(ruleset)}

    assert phases == set(Phase) - {Phase.UNSPECIFIED}


def test_every_kind_of_action_is_tried_in_some_ruleset() -> None:
    kinds = {kind for ruleset in OFFERED for _, kind in seen(ruleset)}

    assert kinds == set(ACTION_TYPES)


def test_lobby_offers_every_ruleset_with_its_numbers_of_seats() -> None:
    assert sorted(OFFERED) == sorted(RULESETS)
    assert all(seat_counts(name) == rules.seat_counts() for name, rules in RULESETS.items())
