"""Rolling the dice (TURN-1, TURN-2, DIE)."""

from opolyx_rules.chance import DICE, THIRD_DIE, Chance
from opolyx_rules.events import DICE_ROLLED, Log
from opolyx_rules.ids import (
    JAILED_BY_DOUBLES,
    PHASE_BUS,
    PHASE_TRIPLE,
    RELEASE_DOUBLE,
    THIRD_BUS,
    THIRD_X,
    Seat,
)
from opolyx_rules.mechanics.gods import pay_eight
from opolyx_rules.mechanics.jail import fail_attempt, go_to_jail, release, walk
from opolyx_rules.mechanics.rent import dice_total
from opolyx_rules.state import State

_THIRD_FACES = (1, 2, 3, THIRD_BUS, THIRD_X, THIRD_X)


def roll_and_move(state: State, seat: Seat, chance: Chance, log: Log) -> None:
    """Roll and move, or open the choice that the third die gives."""
    with_third = state.round >= state.ruleset.third_die_from
    _roll(state, seat, chance, log, with_third=with_third)
    first, second, third = state.dice
    if first == second == third < THIRD_BUS:
        state.rolls_again = 1
        state.push(PHASE_TRIPLE, seat)
        return
    if first == second:
        state.doubles += 1
        if state.doubles == 3:
            go_to_jail(state, seat, JAILED_BY_DOUBLES, log)
            return
    state.rolls_again = int(first == second)
    if third == THIRD_BUS:
        state.push(PHASE_BUS, seat)
        return
    if third == THIRD_X and not state.jumped:
        state.jump_due = 1
    walk(state, seat, dice_total(state), log)


def roll_in_jail(state: State, seat: Seat, chance: Chance, log: Log) -> None:
    """Roll for a double: it moves by its sum with no further roll (JAIL-3, JAIL-6)."""
    _roll(state, seat, chance, log, with_third=False)
    steps = state.dice[0] + state.dice[1]
    if state.dice[0] == state.dice[1]:
        release(state, seat, RELEASE_DOUBLE, log)
        walk(state, seat, steps, log)
    else:
        fail_attempt(state, seat, steps, log)


def _roll(state: State, seat: Seat, chance: Chance, log: Log, *, with_third: bool) -> None:
    first = chance.draw(DICE, 6) + 1
    second = chance.draw(DICE, 6) + 1
    third = _THIRD_FACES[chance.draw(THIRD_DIE, 6)] if with_third else 0
    state.dice = [first, second, third]
    log.append((DICE_ROLLED, seat, first, second, third))
    pay_eight(state, seat, log)
