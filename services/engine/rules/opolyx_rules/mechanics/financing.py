"""Financing for VIPs: murabaha and loans (FIN)."""

from opolyx_rules.events import FINANCING_SETTLED, PROPERTY_FINANCED, Log
from opolyx_rules.ids import BANK, CASH_FINANCING, NOBODY, PROPERTY_FINANCING, Seat, Square
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.mechanics.payments import open_debt
from opolyx_rules.mechanics.property import move_property
from opolyx_rules.queries import financing_owed, financing_price
from opolyx_rules.reasons import NO_FINANCING, NOT_ENOUGH_CASH, Refusal
from opolyx_rules.state import State


def may_finance(state: State, seat: Seat, square: Square) -> bool:
    """Whether the seat can finance the property now (FIN-1, FIN-3)."""
    if not state.vip[seat] or state.financed[seat] != NOBODY:
        return False
    return financing_price(state.ruleset, square, 0) > 0


def finance(state: State, seat: Seat, square: Square, log: Log) -> None:
    """Take the property with nothing down (FIN-1)."""
    move_property(state, square, seat, PROPERTY_FINANCING, log)
    state.financed[seat] = square
    state.financed_round[seat] = state.round
    due = state.round + state.ruleset.financing_rounds
    log.append((PROPERTY_FINANCED, seat, square, financing_owed(state, seat), due))


def refuse_pay_off(state: State, seat: Seat) -> Refusal | None:
    """Why the seat can't pay off its financed property now (FIN-1)."""
    owed = financing_owed(state, seat)
    if owed == 0:
        return Refusal(NO_FINANCING, "FIN-1")
    if state.cash[seat] < owed:
        numbers = (("owed", owed), ("cash", state.cash[seat]))
        return Refusal(NOT_ENOUGH_CASH, "FIN-1", numbers)
    return None


def may_pay_off(state: State, seat: Seat) -> bool:
    """Whether the seat can pay off a financed property now. Must agree with `refuse_pay_off`."""
    return state.financed[seat] != NOBODY and refuse_pay_off(state, seat) is None


def pay_off(state: State, seat: Seat, log: Log) -> None:
    """Pay for the financed property in whole (FIN-1)."""
    owed = financing_owed(state, seat)
    move_cash(state, seat, BANK, owed, CASH_FINANCING, log)
    _settle(state, seat, owed, log)


def call_in(state: State, seat: Seat, log: Log) -> None:
    """At the start of the seat's turn financing that is due becomes a debt (FIN-1)."""
    if state.financed[seat] == NOBODY:
        return
    if state.round >= state.financed_round[seat] + state.ruleset.financing_rounds:
        owed = financing_owed(state, seat)
        open_debt(state, seat, [(BANK, owed, CASH_FINANCING)], log)


def settle_called_in(
    state: State, seat: Seat, claims: tuple[tuple[int, int, int], ...], log: Log
) -> None:
    """A debt that was paid in full frees the property it was for, if it was financing."""
    for _, amount, cause in claims:
        if cause == CASH_FINANCING:
            _settle(state, seat, amount, log)


def _settle(state: State, seat: Seat, amount: int, log: Log) -> None:
    log.append((FINANCING_SETTLED, seat, state.financed[seat], amount))
    state.financed[seat] = NOBODY
    state.financed_round[seat] = 0
