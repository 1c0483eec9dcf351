"""The decisions that are open, with all that is needed to answer them."""

from opolyx.engine.v1 import decision_pb2 as pb
from opolyx_engine.clocks import Clocks
from opolyx_engine.rpc.convert_actions import action_to_proto
from opolyx_rules.actions import ACCEPT_TRADE, DECLINE_TRADE, KIND
from opolyx_rules.engine import check, legal_actions
from opolyx_rules.ids import PHASE_PAYMENT
from opolyx_rules.queries import awaited_phase, awaited_seat, debt_of, debt_total
from opolyx_rules.state import Offer, State
from opolyx_rules.trade_template import TradeTemplate, trade_template

_ANSWERS = frozenset({ACCEPT_TRADE, DECLINE_TRADE})


def decisions(state: State, clocks: Clocks) -> list[pb.Decision]:
    """All open decisions: the awaited seat's, then each offer's."""
    if state.over:
        return []
    return [
        _awaited(state, clocks),
        *(_offered(state, offer, clocks) for offer in state.offers),
    ]


def _awaited(state: State, clocks: Clocks) -> pb.Decision:
    seat, phase = awaited_seat(state), awaited_phase(state)
    decision = pb.Decision(
        decision_id=f"d{state.decision}",
        seat=seat,
        phase=pb.Phase.ValueType(phase),
        deadline_unix_ms=clocks.deadline_ms,
        legal_actions=[
            action_to_proto(action)
            for action in legal_actions(state, seat)
            if action[KIND] not in _ANSWERS
        ],
    )
    template = trade_template(state, seat)
    if template is not None and template.partners:
        _fill_template(decision.trade_template, template)
    if phase == PHASE_PAYMENT and (debt := debt_of(state, seat)) is not None:
        decision.amount_owed = debt_total(debt)
    return decision


def _offered(state: State, offer: Offer, clocks: Clocks) -> pb.Decision:
    offer_id, recipient = offer[0], offer[2]
    answers = [(kind, recipient, offer_id) for kind in (ACCEPT_TRADE, DECLINE_TRADE)]
    return pb.Decision(
        decision_id=f"o{offer_id}",
        seat=recipient,
        phase=pb.PHASE_OFFER,
        deadline_unix_ms=clocks.offer_deadline_ms(offer_id),
        legal_actions=[
            action_to_proto(answer) for answer in answers if check(state, answer) is None
        ],
        offer_id=offer_id,
    )


def _fill_template(message: pb.TradeTemplate, template: TradeTemplate) -> None:
    message.own_squares.extend(template.own_squares)
    message.max_give_cash = template.max_give_cash
    message.fairness_bp = template.fairness_bp
    message.offers_left = template.offers_left
    for seat, squares, max_cash, ally in template.partners:
        message.partners.append(seat)
        message.partner_squares.add(seat=seat, squares=squares, max_cash=max_cash, ally=ally)
