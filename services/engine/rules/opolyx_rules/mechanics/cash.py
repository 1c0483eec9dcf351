"""The one place where cash changes hands, so that events account for every k."""

from opolyx_rules.events import CASH_MOVED, Log
from opolyx_rules.ids import BANK, Seat
from opolyx_rules.state import State


def move_cash(state: State, payer: Seat, payee: Seat, amount: int, cause: int, log: Log) -> None:
    """Move `amount` k from `payer` to `payee`, each a seat or BANK; nothing happens for 0."""
    if amount == 0:
        return
    if payer != BANK:
        state.cash[payer] -= amount
    if payee != BANK:
        state.cash[payee] += amount
    log.append((CASH_MOVED, payer, payee, amount, cause))
