"""Debts and the payment pause (DEBT-1, DEBT-2, DEBT-5, DEBT-6)."""

from opolyx_rules.events import DEBT_OPENED, DEBT_REDIRECTED, DEBT_SETTLED, Log
from opolyx_rules.ids import BANK, PHASE_PAYMENT, Seat
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.queries import debt_of, debt_total
from opolyx_rules.reasons import InvariantError
from opolyx_rules.state import Claim, Debt, State


def open_debt(state: State, debtor: Seat, claims: list[Claim], log: Log) -> None:
    """Pause the game until the debtor has paid; claims of 0 are left out (DEBT-1)."""
    owed = [claim for claim in claims if claim[1] > 0]
    if not owed:
        return
    if debt_of(state, debtor) is not None:
        raise InvariantError(f"seat {debtor} has a debt already")
    debt = (debtor, tuple(owed))
    state.debts.append(debt)
    state.push(PHASE_PAYMENT, debtor)
    log.append((DEBT_OPENED, debtor, debt_total(debt)))


def required_debt(state: State, debtor: Seat) -> Debt:
    """The debt of a seat that is in a payment pause."""
    debt = debt_of(state, debtor)
    if debt is None:
        raise InvariantError(f"seat {debtor} has no debt")
    return debt


def pay_in_full(state: State, debtor: Seat, log: Log) -> None:
    """Pay every claim of the debt and close the pause (DEBT-2)."""
    debt = required_debt(state, debtor)
    for creditor, amount, cause in debt[1]:
        move_cash(state, debtor, creditor, amount, cause, log)
    close_debt(state, debt)
    log.append((DEBT_SETTLED, debtor, debt_total(debt)))


def pay_in_proportion(state: State, debtor: Seat, fund: int, log: Log) -> int:
    """Pay what `fund` allows, each claim in proportion, rounded down, and close the pause.

    The rent tax is a claim like the others; what rounding leaves stays with the debtor, for the
    caller to hand to the bank (DEBT-5).

    Returns:
        What was paid in all.
    """
    debt = required_debt(state, debtor)
    total = debt_total(debt)
    available = min(fund, total)
    paid = 0
    for creditor, amount, cause in debt[1]:
        share = available * amount // total
        move_cash(state, debtor, creditor, share, cause, log)
        paid += share
    close_debt(state, debt)
    return paid


def close_debt(state: State, debt: Debt) -> None:
    """Take the debt and its pause away."""
    state.debts.remove(debt)
    for index in range(len(state.stack) - 1, -1, -1):
        frame = state.stack[index]
        if frame[0] == PHASE_PAYMENT and frame[1] == debt[0]:
            del state.stack[index]
            return


def redirect_claims(state: State, creditor: Seat, log: Log) -> None:
    """What others owe to a seat that goes out goes to the bank (DEBT-6)."""
    for index, (debtor, claims) in enumerate(state.debts):
        redirected = []
        for claim in claims:
            if claim[0] == creditor:
                log.append((DEBT_REDIRECTED, debtor, creditor, claim[1]))
                redirected.append((BANK, claim[1], claim[2]))
            else:
                redirected.append(claim)
        state.debts[index] = (debtor, tuple(redirected))
