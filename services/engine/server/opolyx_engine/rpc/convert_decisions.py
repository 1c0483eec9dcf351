"""The decisions that are open, with all that is needed to answer them."""

from opolyx.engine.v1 import decision_pb2 as pb
from opolyx_engine.clocks import Clocks
from opolyx_engine.rpc.convert_actions import action_to_proto
from opolyx_engine.rpc.shown import Shown
from opolyx_rules.actions import ACCEPT_TRADE, DECLINE_TRADE, KIND
from opolyx_rules.engine import check, legal_actions
from opolyx_rules.ids import PHASE_PAYMENT, Seat
from opolyx_rules.mechanics.offers import may_propose, offers_by, trade_partners
from opolyx_rules.queries import are_allies, awaited_phase, awaited_seat, debt_of, debt_total
from opolyx_rules.state import Offer, State

_ANSWERS = frozenset({ACCEPT_TRADE, DECLINE_TRADE})


def decisions(shown: Shown, clocks: Clocks) -> list[pb.Decision]:
    """All open decisions: the awaited seat's, then each offer's."""
    state = shown.state
    if state.over:
        return []
    return [
        _awaited(shown, clocks),
        *(_offered(state, offer, clocks) for offer in state.offers),
    ]


def _awaited(shown: Shown, clocks: Clocks) -> pb.Decision:
    state = shown.state
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
    if may_propose(state, seat):
        _fill_template(decision.trade_template, shown, seat)
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
