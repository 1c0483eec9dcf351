"""The third corner: rest, wager or temple (CORNER)."""

from opolyx_rules.actions import squares_of
from opolyx_rules.chance import WAGER as WAGER_STREAM
from opolyx_rules.chance import Chance
from opolyx_rules.events import WAGER_PLACED, WAGER_ROLLED, Log
from opolyx_rules.ids import (
    BANK,
    CASH_WAGER_STAKE,
    CASH_WAGER_WIN,
    GOD_WEALTH,
    PHASE_WAGER,
    Seat,
)
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.mechanics.gods import receive_god
from opolyx_rules.ruleset import CORNER_TEMPLE, CORNER_WAGER
from opolyx_rules.state import State


def stop_at_corner(state: State, seat: Seat, log: Log) -> None:
    """What the third corner does to who stops there (CORNER-1 to CORNER-3)."""
    policy = state.ruleset.third_corner
    if policy == CORNER_WAGER:
        if state.cash[seat] >= state.ruleset.wager_stake:
            state.push(PHASE_WAGER, seat)
    elif policy == CORNER_TEMPLE:
        receive_god(state, seat, GOD_WEALTH, log)


def wager_payout(stake: int, numbers: int) -> int:
    """What a hit pays for so many numbers, gross: 6, 3 or 2 times the stake (CORNER-2)."""
    return stake * 6 // numbers


def place_wager(state: State, seat: Seat, mask: int, chance: Chance, log: Log) -> None:
    """Stake, roll one die, pay a hit (CORNER-2)."""
    stake = state.ruleset.wager_stake
    log.append((WAGER_PLACED, seat, mask))
    move_cash(state, seat, BANK, stake, CASH_WAGER_STAKE, log)
    die = chance.draw(WAGER_STREAM, 6) + 1
    payout = wager_payout(stake, len(squares_of(mask))) if mask >> die & 1 else 0
    log.append((WAGER_ROLLED, seat, die, payout))
    move_cash(state, BANK, seat, payout, CASH_WAGER_WIN, log)
