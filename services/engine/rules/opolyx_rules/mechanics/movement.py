"""Tokens move and pass Start (TURN-5). What the square reached does is `landing`."""

from opolyx_rules.events import TOKEN_MOVED, Log
from opolyx_rules.ids import (
    BANK,
    CASH_LANDING_BONUS,
    CASH_SALARY,
    FRAME_LAND,
    MOVE_CARD_BACK,
    MOVE_TELEPORT,
    SQUARES,
    Seat,
    Square,
)
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.state import State


def move_forward(state: State, seat: Seat, target: Square, manner: int, log: Log) -> None:
    """Walk clockwise to `target`; passing Start on the way pays the salary (TURN-5)."""
    origin = state.position[seat]
    steps = (target - origin) % SQUARES
    _place(state, seat, target, manner, log)
    # Exactly SQUARES is a stop on Start, which `land_on_start` pays for.
    if origin + steps > SQUARES and _start_pays(state):
        move_cash(state, BANK, seat, state.ruleset.salary, CASH_SALARY, log)
    state.push(FRAME_LAND, seat)


def move_back(state: State, seat: Seat, steps: int, log: Log) -> None:
    """Walk backwards, which never pays for passing Start (TURN-5)."""
    target = (state.position[seat] - steps) % SQUARES
    _place(state, seat, target, MOVE_CARD_BACK, log)
    state.push(FRAME_LAND, seat)


def teleport(state: State, seat: Seat, target: Square, log: Log) -> None:
    """Go to any square without passing Start (DIE-5)."""
    _place(state, seat, target, MOVE_TELEPORT, log)
    state.push(FRAME_LAND, seat)


def land_on_start(state: State, seat: Seat, log: Log) -> None:
    """Stopping on Start exactly pays the salary and the landing bonus (TURN-5)."""
    if _start_pays(state):
        ruleset = state.ruleset
        move_cash(state, BANK, seat, ruleset.salary, CASH_SALARY, log)
        move_cash(state, BANK, seat, ruleset.start_landing_bonus, CASH_LANDING_BONUS, log)


def _start_pays(state: State) -> bool:
    """Whether Start still pays anything in this round (TURN-5)."""
    ruleset = state.ruleset
    return not ruleset.salary_until_tax or state.round < ruleset.rent_tax_from


def _place(state: State, seat: Seat, target: Square, manner: int, log: Log) -> None:
    log.append((TOKEN_MOVED, seat, state.position[seat], target, manner))
    state.position[seat] = target
