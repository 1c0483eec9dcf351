"""The two gods and the roll of eight (GOD)."""

from opolyx_rules.events import GOD_ARRIVED, GOD_LEFT, Log
from opolyx_rules.ids import BANK, CASH_EIGHT_BONUS, GOD_NONE, Seat
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.state import State


def receive_god(state: State, seat: Seat, god: int, log: Log) -> None:
    """A god comes to the seat and replaces the one that is there (GOD-1, GOD-2)."""
    state.god[seat] = god
    state.god_until[seat] = state.round + state.ruleset.god_rounds
    log.append((GOD_ARRIVED, seat, god, state.god_until[seat]))


def part_with_god(state: State, seat: Seat, log: Log) -> None:
    """At the start of the seat's turn its god leaves when its rounds are over (GOD-2)."""
    if state.god[seat] == GOD_NONE or state.round < state.god_until[seat]:
        return
    log.append((GOD_LEFT, seat, state.god[seat]))
    state.god[seat] = GOD_NONE
    state.god_until[seat] = 0


def pay_eight(state: State, seat: Seat, log: Log) -> None:
    """A roll whose white dice total 8 pays the bonus, in jail too (GOD-3)."""
    if state.dice[0] + state.dice[1] == 8:
        move_cash(state, BANK, seat, state.ruleset.eight_bonus, CASH_EIGHT_BONUS, log)
