"""Raising cash, going bankrupt, surrendering: how a seat goes out (DEBT-3 to DEBT-9)."""

from opolyx_rules.content.boards import GROUP, GROUPS
from opolyx_rules.events import (
    BANKRUPTED,
    BUILDING_SOLD,
    ELIMINATED,
    GOD_LEFT,
    SURRENDERED,
    Log,
)
from opolyx_rules.ids import (
    BANK,
    CASH_FORFEIT,
    CASH_LIQUIDATION,
    CASH_SELL_BUILDING,
    FRAME_TURN,
    NOBODY,
    PHASE_AUCTION,
    PHASE_BUY,
    PROPERTY_INHERITANCE,
    PROPERTY_LIQUIDATION,
    Seat,
    Square,
)
from opolyx_rules.mechanics.auctions import leave_auction, start_auction
from opolyx_rules.mechanics.building import cheapest_sellable, sell_building
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.mechanics.ending import end_if_last_standing
from opolyx_rules.mechanics.mortgage import cheapest_mortgageable, mortgage
from opolyx_rules.mechanics.offers import close_offers_of
from opolyx_rules.mechanics.payments import pay_in_proportion, redirect_claims, required_debt
from opolyx_rules.mechanics.property import move_property
from opolyx_rules.queries import (
    are_allies,
    debt_of,
    debt_total,
    liquidation_value,
    sale_value,
)
from opolyx_rules.reasons import SOLVENT, Refusal
from opolyx_rules.ruleset import BANKRUPT_TO_TEAMMATE
from opolyx_rules.state import State


def refuse_bankruptcy(state: State, seat: Seat) -> Refusal | None:
    """Bankruptcy is only open to who can't raise what is owed (DEBT-4)."""
    owed = debt_total(required_debt(state, seat))
    raisable = state.cash[seat] + liquidation_value(state, seat)
    if raisable >= owed:
        return Refusal(SOLVENT, "DEBT-4", (("owed", owed), ("raisable", raisable)))
    return None


def raise_cash(state: State, seat: Seat, owed: int, log: Log) -> bool:
    """Raise cash for a seat until it can pay: mortgages first, then buildings, cheapest first.

    What a sold building frees is mortgaged once no building is left to sell (DEBT-3).

    Returns:
        Whether the seat now has what is owed.
    """
    for raise_once in (_mortgage_cheapest, _sell_cheapest, _mortgage_cheapest):
        while state.cash[seat] < owed and raise_once(state, seat, log):
            continue
    return state.cash[seat] >= owed


def _mortgage_cheapest(state: State, seat: Seat, log: Log) -> bool:
    square = cheapest_mortgageable(state, seat)
    if square == NOBODY:
        return False
    mortgage(state, seat, square, log)
    return True


def _sell_cheapest(state: State, seat: Seat, log: Log) -> bool:
    square = cheapest_sellable(state, seat)
    if square == NOBODY:
        return False
    sell_building(state, seat, square, log)
    return True


def go_bankrupt(state: State, seat: Seat, log: Log) -> None:
    """The seat can't pay: creditors share what there is, the seat is out (DEBT-5, DEBT-7, DEBT-8)."""
    owed = debt_total(required_debt(state, seat))
    paid = _settle_estate(state, seat, log)
    log.append((BANKRUPTED, seat, owed, paid))
    _eliminate(state, seat, log)


def surrender(state: State, seat: Seat, cause: int, log: Log) -> None:
    """The seat leaves by choice or by missed turns; an open debt is met first (DEBT-9)."""
    log.append((SURRENDERED, seat, cause))
    _settle_estate(state, seat, log)
    _eliminate(state, seat, log)


def _settle_estate(state: State, seat: Seat, log: Log) -> int:
    """Turn the seat's property into cash or pass it on, pay the creditors, give up the rest."""
    close_offers_of(state, seat, log)
    heir = _heir(state, seat)
    _return_financed(state, seat, log)
    if heir == NOBODY:
        _liquidate(state, seat, log)
    paid = 0
    if debt_of(state, seat) is not None:
        paid = pay_in_proportion(state, seat, state.cash[seat], log)
    move_cash(state, seat, BANK, state.cash[seat], CASH_FORFEIT, log)
    if heir != NOBODY:
        _bequeath(state, seat, heir, log)
    return paid


def _heir(state: State, seat: Seat) -> Seat:
    """The next ally in seat order still in, where properties pass to allies (DEBT-8)."""
    if state.ruleset.team_bankruptcy == BANKRUPT_TO_TEAMMATE:
        for step in range(1, state.seats):
            other = (seat + step) % state.seats
            if state.out_order[other] == 0 and are_allies(state, seat, other):
                return other
    return NOBODY


def _return_financed(state: State, seat: Seat, log: Log) -> None:
    """Financed property goes back to the bank, the buildings of its group sold before (FIN-3)."""
    square = state.financed[seat]
    if square == NOBODY:
        return
    for other in GROUPS[GROUP[square]]:
        if state.owner[other] == seat and state.level[other]:
            proceeds = state.level[other] * sale_value(other)
            state.level[other] = 0
            move_cash(state, BANK, seat, proceeds, CASH_SELL_BUILDING, log)
            log.append((BUILDING_SOLD, seat, other, 0))
    state.financed[seat] = NOBODY
    state.financed_round[seat] = 0
    _free(state, square, log)


def _liquidate(state: State, seat: Seat, log: Log) -> None:
    """Everything goes to the bank for what it would have raised (DEBT-7)."""
    move_cash(state, BANK, seat, liquidation_value(state, seat), CASH_LIQUIDATION, log)
    for square in state.held[seat]:
        _free(state, square, log)


def _free(state: State, square: Square, log: Log) -> None:
    state.level[square] = 0
    state.mortgaged[square] = 0
    state.built[square] = 0
    move_property(state, square, BANK, PROPERTY_LIQUIDATION, log)


def _bequeath(state: State, seat: Seat, heir: Seat, log: Log) -> None:
    """The properties go to an ally as they are (DEBT-8)."""
    for square in state.held[seat]:
        move_property(state, square, heir, PROPERTY_INHERITANCE, log)


def _eliminate(state: State, seat: Seat, log: Log) -> None:
    """The seat is out: its place is fixed, nothing waits for it any more, play goes on."""
    state.outs += 1
    state.out_order[seat] = state.outs
    state.jailed[seat] = 0
    state.attempts[seat] = 0
    state.missed[seat] = 0
    if state.god[seat]:
        log.append((GOD_LEFT, seat, state.god[seat]))
        state.god[seat] = 0
        state.god_until[seat] = 0
    log.append((ELIMINATED, seat, state.outs))
    redirect_claims(state, seat, log)
    if end_if_last_standing(state, log):
        return
    square_on_offer = _drop_frames(state, seat)
    leave_auction(state, seat, log)
    if square_on_offer != NOBODY:
        start_auction(state, square_on_offer, seat, log)
    if state.turn_seat == seat:
        state.rolls_again = 0
        state.jump_due = 0


def _drop_frames(state: State, seat: Seat) -> Square:
    """Take the seat's frames away, but for its turn and an auction, which go on by themselves.

    Returns:
        The property whose purchase was awaited, so that it is auctioned; NOBODY for none.
    """
    kept, square = [], NOBODY
    for frame in state.stack:
        if frame[0] == PHASE_BUY and frame[1] == seat:
            square = frame[2]
        if frame[1] != seat or frame[0] in (FRAME_TURN, PHASE_AUCTION):
            kept.append(frame)
    state.stack = kept
    return square
