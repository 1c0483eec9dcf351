"""Mortgaging, redeeming and the mortgage clock (MORT)."""

from opolyx_rules.actions import ARGUMENT, MORTGAGE_BY, REDEEM_BY, Action
from opolyx_rules.content.boards import GROUP, PRICE
from opolyx_rules.events import (
    MORTGAGE_COUNTED,
    MORTGAGE_LAPSED,
    PROPERTY_MORTGAGED,
    PROPERTY_REDEEMED,
    Log,
)
from opolyx_rules.ids import (
    BANK,
    CASH_MORTGAGE,
    CASH_REDEEM,
    NOBODY,
    PROPERTY_MORTGAGE_LAPSED,
    Seat,
    Square,
)
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.mechanics.property import move_property
from opolyx_rules.queries import (
    group_built,
    mortgage_value,
    redeem_cost,
    redeem_costs,
)
from opolyx_rules.reasons import (
    FINANCED,
    GROUP_HAS_BUILDINGS,
    MORTGAGED,
    NOT_A_PROPERTY,
    NOT_ENOUGH_CASH,
    NOT_MORTGAGED,
    NOT_OWNER,
    Refusal,
)
from opolyx_rules.ruleset import NEVER
from opolyx_rules.state import State


def refuse_mortgage(state: State, seat: Seat, square: Square) -> Refusal | None:
    """Why the seat can't mortgage the square now. Must agree with `list_mortgages`."""
    if GROUP[square] < 0:
        return Refusal(NOT_A_PROPERTY, "MORT-1", (("square", square),))
    if state.owner[square] != seat:
        return Refusal(NOT_OWNER, "MORT-1", (("square", square),))
    if state.mortgaged[square]:
        return Refusal(MORTGAGED, "MORT-1", (("square", square),))
    if group_built(state, GROUP[square]):
        return Refusal(GROUP_HAS_BUILDINGS, "MORT-3", (("square", square),))
    if state.financed[seat] == square:
        return Refusal(FINANCED, "FIN-3", (("square", square),))
    return None


def list_mortgages(state: State, seat: Seat, out: list[Action]) -> None:
    """Append what the seat can mortgage, by ascending square. Must agree with `refuse_mortgage`."""
    by_square, mortgaged, financed = MORTGAGE_BY[seat], state.mortgaged, state.financed[seat]
    may_have_built = bool(state.whole[seat])
    for square in state.held[seat]:
        if mortgaged[square] or square == financed:
            continue
        if may_have_built and group_built(state, GROUP[square]):
            continue
        out.append(by_square[square])


def mortgage(state: State, seat: Seat, square: Square, log: Log) -> None:
    """Mortgage a property for half its list price (MORT-1)."""
    state.mortgaged[square] = state.round
    move_cash(state, BANK, seat, mortgage_value(square), CASH_MORTGAGE, log)
    log.append((PROPERTY_MORTGAGED, seat, square))


def cheapest_mortgageable(state: State, seat: Seat) -> Square:
    """The property that the game mortgages first for a seat (DEBT-3); NOBODY for none."""
    best = NOBODY
    actions: list[Action] = []
    list_mortgages(state, seat, actions)
    for action in actions:
        square = action[ARGUMENT]
        if best == NOBODY or PRICE[square] < PRICE[best]:
            best = square
    return best


def refuse_redeem(state: State, seat: Seat, square: Square) -> Refusal | None:
    """Why the seat can't redeem the square now. Must agree with `list_redemptions`."""
    if GROUP[square] < 0:
        return Refusal(NOT_A_PROPERTY, "MORT-2", (("square", square),))
    if state.owner[square] != seat:
        return Refusal(NOT_OWNER, "MORT-2", (("square", square),))
    if not state.mortgaged[square]:
        return Refusal(NOT_MORTGAGED, "MORT-2", (("square", square),))
    cost = redeem_cost(state, square)
    if state.cash[seat] < cost:
        numbers = (("square", square), ("cost", cost), ("cash", state.cash[seat]))
        return Refusal(NOT_ENOUGH_CASH, "MORT-2", numbers)
    return None


def list_redemptions(state: State, seat: Seat, out: list[Action]) -> None:
    """Append what the seat can redeem, by ascending square. Must agree with `refuse_redeem`."""
    by_square, cash, mortgaged = REDEEM_BY[seat], state.cash[seat], state.mortgaged
    costs = redeem_costs(state.ruleset.mortgage_interest_bp)
    for square in state.held[seat]:
        if mortgaged[square] and cash >= costs[square]:
            out.append(by_square[square])


def redeem(state: State, seat: Seat, square: Square, log: Log) -> None:
    """Redeem a mortgage for half the list price and the interest (MORT-2)."""
    move_cash(state, seat, BANK, redeem_cost(state, square), CASH_REDEEM, log)
    state.mortgaged[square] = 0
    log.append((PROPERTY_REDEEMED, seat, square))


def count_mortgages(state: State, seat: Seat, log: Log) -> None:
    """At the start of the seat's turn its mortgages are counted, and lapse when due (MORT-4)."""
    rounds = state.ruleset.mortgage_rounds
    if rounds == NEVER:
        return
    for square in state.held[seat]:
        if state.mortgaged[square]:
            left = state.mortgaged[square] + rounds - state.round
            if left > 0:
                log.append((MORTGAGE_COUNTED, seat, square, left))
                continue
            state.mortgaged[square] = 0
            log.append((MORTGAGE_LAPSED, seat, square))
            move_property(state, square, BANK, PROPERTY_MORTGAGE_LAPSED, log)
