"""Turns and rounds, and what goes on by itself between two decisions (TURN)."""

from opolyx_rules.chance import Chance
from opolyx_rules.content.boards import GROUP
from opolyx_rules.events import ROUND_STARTED, TURN_ENDED, TURN_SKIPPED, TURN_STARTED, Log
from opolyx_rules.ids import (
    FRAME_LAND,
    FRAME_LEAVE_JAIL,
    FRAME_TURN,
    MOVE_JUMP,
    NOBODY,
    PHASE_JAIL,
    PHASE_ROLL,
    SQUARES,
    Seat,
    Square,
)
from opolyx_rules.mechanics.ending import end_at_cap
from opolyx_rules.mechanics.financing import call_in
from opolyx_rules.mechanics.gods import part_with_god
from opolyx_rules.mechanics.jail import leave_after_forced_bail
from opolyx_rules.mechanics.landing import land
from opolyx_rules.mechanics.mortgage import count_mortgages
from opolyx_rules.mechanics.movement import move_forward
from opolyx_rules.queries import are_allies
from opolyx_rules.reasons import InvariantError
from opolyx_rules.state import State


def advance(state: State, chance: Chance, log: Log) -> None:
    """Go on until a seat is awaited or the game is over."""
    while not state.over:
        kind, seat, argument, _ = state.stack[-1]
        if kind < FRAME_TURN:
            return  # a phase, which waits for its seat
        if kind == FRAME_TURN:
            _continue_turn(state, seat, log)
        elif kind == FRAME_LAND:
            state.stack.pop()
            land(state, seat, chance, log)
        elif kind == FRAME_LEAVE_JAIL:
            state.stack.pop()
            leave_after_forced_bail(state, seat, argument, log)
        else:
            raise InvariantError(f"unknown frame {kind}")


def begin_turn(state: State, seat: Seat, log: Log) -> None:
    """A turn begins: gods leave, mortgages are counted, financing falls due, then the roll."""
    state.turn_seat = seat
    state.turn_number += 1
    state.doubles = 0
    state.rolls_again = 0
    state.jump_due = 0
    state.jumped = 0
    state.turn_missed = 0
    log.append((TURN_STARTED, seat))
    state.push(FRAME_TURN, seat)
    state.push(PHASE_JAIL if state.jailed[seat] else PHASE_ROLL, seat)
    part_with_god(state, seat, log)
    count_mortgages(state, seat, log)
    call_in(state, seat, log)


def skip_rest_of_turn(state: State, seat: Seat, log: Log) -> None:
    """The turn ends without a roll; a further roll or a jump is forfeited (CLOCK-3)."""
    state.stack.pop()
    state.rolls_again = 0
    state.jump_due = 0
    log.append((TURN_SKIPPED, seat))


def _continue_turn(state: State, seat: Seat, log: Log) -> None:
    """All is resolved: roll again, jump, or end the turn (TURN-1, TURN-2, DIE-4)."""
    if state.rolls_again:
        state.rolls_again = 0
        state.push(PHASE_ROLL, seat)
        return
    if state.jump_due:
        state.jump_due = 0
        state.jumped = 1
        target = _jump_target(state, seat)
        if target != NOBODY:
            move_forward(state, seat, target, MOVE_JUMP, log)
            return
    _end_turn(state, log)


def _end_turn(state: State, log: Log) -> None:
    state.stack.pop()
    state.built = [0] * SQUARES
    log.append((TURN_ENDED, state.turn_seat))
    seat = state.turn_seat
    while True:
        seat = (seat + 1) % state.seats
        if seat == state.first_seat and _end_round(state, log):
            return
        if state.out_order[seat] == 0:
            break
    begin_turn(state, seat, log)


def _end_round(state: State, log: Log) -> bool:
    """The order has wrapped past the first seat, whoever has gone meanwhile (TURN-6).

    Returns:
        Whether the game is over.
    """
    if end_at_cap(state, log):
        return True
    state.round += 1
    log.append((ROUND_STARTED, state.round))
    return False


def _jump_target(state: State, seat: Seat) -> Square:
    """Where an X jumps to: the nearest unowned property, else a rival's unmortgaged (DIE-4).

    Returns:
        The square; NOBODY when there is neither.
    """
    rival = NOBODY
    for step in range(1, SQUARES):
        square = (state.position[seat] + step) % SQUARES
        if GROUP[square] < 0:
            continue
        owner = state.owner[square]
        if owner == NOBODY:
            return square
        if owner == seat or are_allies(state, seat, owner) or state.mortgaged[square]:
            continue
        if rival == NOBODY:
            rival = square
    return rival
