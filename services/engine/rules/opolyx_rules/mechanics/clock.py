"""What happens when a clock runs out (CLOCK-3, CLOCK-4)."""

from opolyx_rules.events import CLOCK_RAN_OUT, Log
from opolyx_rules.ids import PHASE_AUCTION, SURRENDER_MISSED_TURNS, Seat
from opolyx_rules.mechanics.bankruptcy import surrender
from opolyx_rules.queries import awaited_phase
from opolyx_rules.state import State


def count_missed_turn(state: State, seat: Seat, log: Log) -> bool:
    """Count a clock that ran out in the seat's own turn, once a turn (CLOCK-4).

    A clock that runs out in an auction, or in somebody else's turn, is no missed turn.

    Returns:
        Whether the seat has missed too many in a row and was surrendered.
    """
    counts = seat == state.turn_seat and awaited_phase(state) != PHASE_AUCTION
    if counts and not state.turn_missed:
        state.turn_missed = 1
        state.missed[seat] += 1
    log.append((CLOCK_RAN_OUT, seat, state.missed[seat]))
    if counts and state.missed[seat] >= state.ruleset.missed_turns:
        surrender(state, seat, SURRENDER_MISSED_TURNS, log)
        return True
    return False
