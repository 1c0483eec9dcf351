"""Trade offers: part of the state, open beside whatever the table waits for (TRADE)."""

from opolyx_rules.actions import (
    ACCEPT_TRADE,
    ARGUMENT,
    DECLINE_TRADE,
    KIND,
    SEAT,
    WITHDRAW_TRADE,
    Action,
    squares_of,
)
from opolyx_rules.content.boards import GROUP, PROPERTIES
from opolyx_rules.events import OFFER_CLOSED, OFFER_MADE, Log
from opolyx_rules.ids import (
    CASH_TRADE,
    OFFER_CHANGED,
    OFFER_SEAT_OUT,
    PHASE_AUCTION,
    PHASE_JAIL,
    PHASE_PAYMENT,
    PHASE_ROLL,
    PROPERTY_TRADE,
    SQUARES,
    Seat,
)
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.mechanics.property import move_property
from opolyx_rules.queries import (
    are_allies,
    awaited_phase,
    awaited_seat,
    group_built,
    is_in,
    seats_in,
    trade_value,
)
from opolyx_rules.reasons import (
    AUCTION_RUNNING,
    DUPLICATE_LINE,
    EMPTY_OFFER,
    FINANCED,
    GROUP_HAS_BUILDINGS,
    INVALID_ACTION,
    INVALID_CASH,
    MORTGAGED,
    NO_TRADE_NOW,
    NOT_A_PROPERTY,
    NOT_ENOUGH_CASH,
    NOT_OWNER,
    NOT_PROPOSER,
    NOT_RECIPIENT,
    PARTNER_OUT,
    TOO_MANY_OFFERS,
    TRADE_WITH_SELF,
    UNFAIR,
    InvariantError,
    Refusal,
)
from opolyx_rules.reasons import (
    OFFER_CLOSED as NO_SUCH_OFFER,
)
from opolyx_rules.state import Offer, State

_PROPERTY_MASK = sum([1 << square for square in PROPERTIES])


def find_offer(state: State, offer_id: int) -> Offer | None:
    """The open offer of this id."""
    for offer in state.offers:
        if offer[0] == offer_id:
            return offer
    return None


def required_offer(state: State, offer_id: int) -> Offer:
    """The open offer of this id, which is known to be there."""
    offer = find_offer(state, offer_id)
    if offer is None:
        raise InvariantError(f"there is no offer {offer_id}")
    return offer


def offers_by(state: State, seat: Seat) -> int:
    """How many open offers the seat has made (TRADE-3)."""
    return sum([offer[1] == seat for offer in state.offers])


def may_propose(state: State, seat: Seat) -> bool:
    """Whether this is a moment in which the seat may propose trades (TRADE-2)."""
    if awaited_seat(state) != seat:
        return False
    phase = awaited_phase(state)
    if phase == PHASE_PAYMENT:
        return state.ruleset.trade_in_debt
    return phase in (PHASE_ROLL, PHASE_JAIL)


def tradable_squares(state: State, seat: Seat) -> list[int]:
    """Properties of the seat that a trade may hold now, ascending (TRADE-4, FIN-3)."""
    found = []
    for square in state.held[seat]:
        if _refuse_square(state, seat, square) is None:
            found.append(square)
    return found


def trade_partners(state: State, seat: Seat) -> list[Seat]:
    """Seats that the seat may trade with."""
    return [other for other in seats_in(state) if other != seat]


def refuse_proposal(state: State, action: Action) -> Refusal | None:
    """Why this trade can't be proposed now (TRADE-1 to TRADE-5)."""
    _, seat, recipient, give_cash, give, want_cash, want = action
    if not may_propose(state, seat):
        return Refusal(NO_TRADE_NOW, "TRADE-2")
    if not 0 <= recipient < state.seats:
        return Refusal(INVALID_ACTION, "TRADE-1", (("recipient", recipient),))
    if recipient == seat:
        return Refusal(TRADE_WITH_SELF, "TRADE-1")
    if not is_in(state, recipient):
        return Refusal(PARTNER_OUT, "TRADE-1", (("recipient", recipient),))
    if offers_by(state, seat) >= state.ruleset.max_offers:
        return Refusal(TOO_MANY_OFFERS, "TRADE-3", (("limit", state.ruleset.max_offers),))
    return refuse_terms(state, seat, recipient, give_cash, give, want_cash, want)


def refuse_terms(
    state: State, seat: Seat, recipient: Seat, give_cash: int, give: int, want_cash: int, want: int
) -> Refusal | None:
    """Why the terms of a trade are not allowed; checked when proposed and when accepted (TRADE-7)."""
    if give_cash < 0 or want_cash < 0:
        return Refusal(INVALID_CASH, "TRADE-1")
    if (give | want) & ~_PROPERTY_MASK or give < 0 or want < 0:
        return Refusal(NOT_A_PROPERTY, "TRADE-1")
    if give & want:
        return Refusal(DUPLICATE_LINE, "TRADE-1")
    if not (give or want or give_cash or want_cash):
        return Refusal(EMPTY_OFFER, "TRADE-1")
    refusal = _refuse_side(state, seat, give_cash, give)
    if refusal is None:
        refusal = _refuse_side(state, recipient, want_cash, want)
    if refusal is None and not are_allies(state, seat, recipient):
        refusal = _refuse_unfair(state, give_cash, give, want_cash, want)
    return refusal


def _refuse_side(state: State, seat: Seat, cash: int, mask: int) -> Refusal | None:
    if state.cash[seat] < cash:
        numbers = (("seat", seat), ("needed", cash), ("cash", state.cash[seat]))
        return Refusal(NOT_ENOUGH_CASH, "TRADE-7", numbers)
    for square in squares_of(mask):
        refusal = _refuse_square(state, seat, square)
        if refusal is not None:
            return refusal
    return None


def _refuse_square(state: State, seat: Seat, square: int) -> Refusal | None:
    if state.owner[square] != seat:
        return Refusal(NOT_OWNER, "TRADE-1", (("square", square), ("seat", seat)))
    if group_built(state, GROUP[square]):
        return Refusal(GROUP_HAS_BUILDINGS, "TRADE-4", (("square", square),))
    if state.mortgaged[square] and not state.ruleset.trade_mortgaged:
        return Refusal(MORTGAGED, "TRADE-4", (("square", square),))
    if state.financed[seat] == square:
        return Refusal(FINANCED, "FIN-3", (("square", square),))
    return None


def _refuse_unfair(
    state: State, give_cash: int, give: int, want_cash: int, want: int
) -> Refusal | None:
    given, wanted = trade_value(state, give_cash, give), trade_value(state, want_cash, want)
    smaller, larger = min(given, wanted), max(given, wanted)
    if smaller * 10_000 >= larger * state.ruleset.trade_fairness_bp:
        return None
    return Refusal(UNFAIR, "TRADE-5", (("given", given), ("wanted", wanted)))


def refuse_answer(state: State, action: Action) -> Refusal | None:
    """Why an offer can't be accepted, declined or withdrawn now (TRADE-1, TRADE-7)."""
    kind, seat = action[KIND], action[SEAT]
    offer = find_offer(state, action[ARGUMENT])
    if offer is None:
        return Refusal(NO_SUCH_OFFER, "TRADE-6", (("offer_id", action[ARGUMENT]),))
    if kind in (ACCEPT_TRADE, DECLINE_TRADE):
        if offer[2] != seat:
            return Refusal(NOT_RECIPIENT, "TRADE-1", (("offer_id", offer[0]),))
    elif offer[1] != seat:
        return Refusal(NOT_PROPOSER, "TRADE-1", (("offer_id", offer[0]),))
    if kind != ACCEPT_TRADE:
        return None
    if awaited_phase(state) == PHASE_AUCTION:
        return Refusal(AUCTION_RUNNING, "AUCTION-8")
    return refuse_terms(state, offer[1], offer[2], offer[3], offer[4], offer[5], offer[6])


def list_answers(state: State, seat: Seat, out: list[Action]) -> None:
    """Append the seat's answers to offers, and its withdrawals. Must agree with `refuse_answer`."""
    for offer in state.offers:
        if offer[2] == seat:
            accept = (ACCEPT_TRADE, seat, offer[0])
            if refuse_answer(state, accept) is None:
                out.append(accept)
            out.append((DECLINE_TRADE, seat, offer[0]))
        elif offer[1] == seat:
            out.append((WITHDRAW_TRADE, seat, offer[0]))


def propose(state: State, action: Action, log: Log) -> None:
    """Open the offer (TRADE-1)."""
    _, seat, recipient, give_cash, give, want_cash, want = action
    state.last_offer += 1
    mortgages = _mortgaged_mask(state, give | want)
    state.offers.append(
        (state.last_offer, seat, recipient, give_cash, give, want_cash, want, mortgages)
    )
    log.append((OFFER_MADE, state.last_offer, seat, recipient))


def accept(state: State, offer_id: int, cause: int, log: Log) -> None:
    """Carry the offer out: cash and properties change hands, mortgages go along (TRADE-4)."""
    offer = required_offer(state, offer_id)
    _, proposer, recipient, give_cash, give, want_cash, want, _ = offer
    close_offer(state, offer, cause, log)
    move_cash(state, proposer, recipient, give_cash, CASH_TRADE, log)
    move_cash(state, recipient, proposer, want_cash, CASH_TRADE, log)
    _hand_over(state, recipient, give, log)
    _hand_over(state, proposer, want, log)


def close_offer(state: State, offer: Offer, cause: int, log: Log) -> None:
    """Take the offer away."""
    state.offers.remove(offer)
    log.append((OFFER_CLOSED, offer[0], cause))


def close_offers_of(state: State, seat: Seat, log: Log) -> None:
    """A seat goes out: every offer by it and to it is closed (TRADE-6)."""
    for offer in state.offers[:]:
        if seat in (offer[1], offer[2]):
            close_offer(state, offer, OFFER_SEAT_OUT, log)


def close_changed_offers(state: State, log: Log) -> None:
    """Close offers in which an owner, a mortgage or a building has changed (TRADE-6)."""
    for offer in state.offers[:]:
        if _has_changed(state, offer):
            close_offer(state, offer, OFFER_CHANGED, log)


def _has_changed(state: State, offer: Offer) -> bool:
    _, proposer, recipient, _, give, _, want, mortgages = offer
    for square in range(SQUARES):
        bit = 1 << square
        if (give | want) & bit:
            holder = proposer if give & bit else recipient
            if state.owner[square] != holder or group_built(state, GROUP[square]):
                return True
    return _mortgaged_mask(state, give | want) != mortgages


def _mortgaged_mask(state: State, mask: int) -> int:
    found = 0
    for square in squares_of(mask):
        if state.mortgaged[square]:
            found |= 1 << square
    return found


def _hand_over(state: State, taker: Seat, mask: int, log: Log) -> None:
    for square in squares_of(mask):
        move_property(state, square, taker, PROPERTY_TRADE, log)
