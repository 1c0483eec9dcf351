"""The decisions that are open, with all that is needed to answer them."""

from functools import lru_cache
from typing import Any, cast

from opolyx.engine.v1 import decision_pb2 as pb
from opolyx_engine.clocks import Clocks
from opolyx_engine.rpc.convert_actions import action_to_proto
from opolyx_engine.rpc.shown import Shown
from opolyx_rules.actions import ACCEPT_TRADE, DECLINE_TRADE, KIND, Action
from opolyx_rules.engine import check, legal_actions
from opolyx_rules.ids import PHASE_PAYMENT, Seat
from opolyx_rules.mechanics.offers import may_propose, offers_by, trade_partners
from opolyx_rules.queries import are_allies, awaited_phase, awaited_seat, debt_of, debt_total
from opolyx_rules.state import Offer, State

_ANSWERS = frozenset({ACCEPT_TRADE, DECLINE_TRADE})


def add_decisions(target: Any, shown: Shown, clocks: Clocks) -> None:
    """Add all open decisions to `target`, repeated; see `decisions_of`."""
    for body in decisions_of(shown, clocks):
        target.add().MergeFromString(body)


def decisions_of(shown: Shown, clocks: Clocks) -> list[bytes]:
    """All open decisions, serialised: the awaited seat's, then each offer's."""
    state = shown.state
    if state.over:
        return []
    return [
        _awaited(shown, clocks),
        *[_offered(state, offer, clocks).SerializeToString() for offer in state.offers],
    ]


def _awaited(shown: Shown, clocks: Clocks) -> bytes:
    state = shown.state
    seat, phase = awaited_seat(state), awaited_phase(state)
    decision = pb.Decision(
        decision_id=f"d{state.decision}",
        seat=seat,
        phase=cast("pb.Phase.ValueType", phase),
        deadline_unix_ms=clocks.deadline_ms,
    )
    actions = legal_actions(state, seat)
    if state.offers:
        actions = [action for action in actions if action[KIND] not in _ANSWERS]
    if may_propose(state, seat):
        _fill_template(decision.trade_template, shown, seat)
    if phase == PHASE_PAYMENT and (debt := debt_of(state, seat)) is not None:
        decision.amount_owed = debt_total(debt)
    return decision.SerializeToString() + b"".join([_legal_action(action) for action in actions])


@lru_cache(maxsize=8192)
def _legal_action(action: Action) -> bytes:
    """A decision's field `legal_actions` with one action, as bytes to be joined."""
    return pb.Decision(legal_actions=[action_to_proto(action)]).SerializeToString()


def _offered(state: State, offer: Offer, clocks: Clocks) -> pb.Decision:
    offer_id, recipient = offer[0], offer[2]
    decision = pb.Decision(
        decision_id=f"o{offer_id}",
        seat=recipient,
        phase=pb.PHASE_OFFER,
        deadline_unix_ms=clocks.offer_deadline_ms(offer_id),
        offer_id=offer_id,
    )
    for kind in (ACCEPT_TRADE, DECLINE_TRADE):
        answer = (kind, recipient, offer_id)
        if check(state, answer) is None:
            decision.legal_actions.append(action_to_proto(answer))
    return decision


def _fill_template(message: pb.TradeTemplate, shown: Shown, seat: Seat) -> None:
    """As the core's `trade_template`, which a test compares with this."""
    state = shown.state
    offers_left = state.ruleset.max_offers - offers_by(state, seat)
    partners = trade_partners(state, seat)
    if offers_left <= 0 or not partners:
        return
    message.partners.extend(partners)
    message.own_squares.extend(shown.tradable(seat))
    message.max_give_cash = state.cash[seat]
    message.fairness_bp = state.ruleset.trade_fairness_bp
    message.offers_left = offers_left
    for partner in partners:
        message.partner_squares.add(
            seat=partner,
            squares=shown.tradable(partner),
            max_cash=state.cash[partner],
            ally=are_allies(state, seat, partner),
        )
