"""Going to jail, sitting there and leaving (JAIL)."""

from opolyx_rules.content.boards import JAIL_SQUARE
from opolyx_rules.events import JAIL_ROLL_FAILED, JAILED, RELEASED, TOKEN_MOVED, Log
from opolyx_rules.ids import (
    BANK,
    CASH_BAIL,
    FRAME_LEAVE_JAIL,
    MOVE_TO_JAIL,
    MOVE_WALK,
    PHASE_JAIL_BAIL,
    RELEASE_BAIL,
    RELEASE_FORCED_BAIL,
    RELEASE_FREE,
    SQUARES,
    Seat,
)
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.mechanics.movement import move_forward
from opolyx_rules.mechanics.payments import open_debt
from opolyx_rules.reasons import NO_BAIL_NOW, NOT_ENOUGH_CASH, Refusal
from opolyx_rules.ruleset import (
    BAIL_AFTER_ROLL,
    BAIL_BEFORE_ROLL,
    LAST_FREE_RELEASE,
    LAST_PAY_AND_MOVE,
)
from opolyx_rules.state import State


def go_to_jail(state: State, seat: Seat, cause: int, log: Log) -> None:
    """Straight to jail: no salary, no further roll, no jump (JAIL-1, TURN-3, DIE-4)."""
    log.append((TOKEN_MOVED, seat, state.position[seat], JAIL_SQUARE, MOVE_TO_JAIL))
    log.append((JAILED, seat, cause))
    state.position[seat] = JAIL_SQUARE
    state.jailed[seat] = 1
    state.attempts[seat] = 0
    state.rolls_again = 0
    state.jump_due = 0


def release(state: State, seat: Seat, cause: int, log: Log) -> None:
    """Leave jail; the token stays on the square as a visitor."""
    state.jailed[seat] = 0
    state.attempts[seat] = 0
    log.append((RELEASED, seat, cause))


def refuse_bail(state: State, seat: Seat, *, rolled: bool) -> Refusal | None:
    """Why the seat can't pay bail before, or after, its roll (JAIL-2)."""
    timing = state.ruleset.bail_timing
    if timing != (BAIL_AFTER_ROLL if rolled else BAIL_BEFORE_ROLL):
        return Refusal(NO_BAIL_NOW, "JAIL-2")
    bail = state.ruleset.bail
    if state.cash[seat] < bail:
        numbers = (("bail", bail), ("cash", state.cash[seat]))
        return Refusal(NOT_ENOUGH_CASH, "JAIL-2", numbers)
    return None


def pay_bail(state: State, seat: Seat, log: Log) -> None:
    """Pay bail and leave (JAIL-2)."""
    move_cash(state, seat, BANK, state.ruleset.bail, CASH_BAIL, log)
    release(state, seat, RELEASE_BAIL, log)


def fail_attempt(state: State, seat: Seat, steps: int, log: Log) -> None:
    """A roll was no double: one attempt is used up (JAIL-3); the last one has its own end."""
    state.attempts[seat] += 1
    log.append((JAIL_ROLL_FAILED, seat, state.attempts[seat]))
    if state.attempts[seat] >= state.ruleset.jail_attempts:
        _end_attempts(state, seat, steps, log)
    elif refuse_bail(state, seat, rolled=True) is None:
        state.push(PHASE_JAIL_BAIL, seat, steps)


def _end_attempts(state: State, seat: Seat, steps: int, log: Log) -> None:
    """After the last failure: bail by the payment pause, or free (JAIL-4)."""
    policy = state.ruleset.last_attempt
    if policy == LAST_FREE_RELEASE:
        release(state, seat, RELEASE_FREE, log)
        return
    state.push(FRAME_LEAVE_JAIL, seat, steps if policy == LAST_PAY_AND_MOVE else 0)
    open_debt(state, seat, [(BANK, state.ruleset.bail, CASH_BAIL)], log)


def leave_after_forced_bail(state: State, seat: Seat, steps: int, log: Log) -> None:
    """The forced bail is paid: leave, and walk the roll that failed where there is one (JAIL-4)."""
    release(state, seat, RELEASE_FORCED_BAIL, log)
    if steps:
        walk(state, seat, steps, log)


def walk(state: State, seat: Seat, steps: int, log: Log) -> None:
    """Walk so many squares from where the token stands."""
    move_forward(state, seat, (state.position[seat] + steps) % SQUARES, MOVE_WALK, log)
