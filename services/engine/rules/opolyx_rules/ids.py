"""Numbers with names: everything in the core is an int.

All numbers here are stored and sent; they equal those of the protos. Never renumber.
"""

from typing import Final, TypeAlias

Seat: TypeAlias = int
"""0-based place at the table; `NOBODY` where nobody is meant."""

Square: TypeAlias = int
"""0..39, clockwise from Start."""

NOBODY: Final = -1
BANK: Final = -1
"""The bank as payer, payee, creditor or owner."""

MAX_SEATS: Final = 6
SQUARES: Final = 40

# Phases that await a seat (proto Phase).
PHASE_NONE: Final = 0
PHASE_ROLL: Final = 1
PHASE_JAIL: Final = 2
PHASE_JAIL_BAIL: Final = 3
PHASE_BUY: Final = 4
PHASE_AUCTION: Final = 5
PHASE_PAYMENT: Final = 6
PHASE_WAGER: Final = 7
PHASE_BUS: Final = 8
PHASE_TRIPLE: Final = 9
PHASE_OFFER: Final = 10
LAST_PHASE: Final = 10

# Frames of the phase stack that await nobody: the game goes on by itself when they come up.
# All are above the phases.
FRAME_TURN: Final = 20
FRAME_LAND: Final = 21
FRAME_LEAVE_JAIL: Final = 22

# Faces of the third die (DIE-1); 0 where it was not rolled.
THIRD_BUS: Final = 4
THIRD_X: Final = 5

# How to move after the bus (proto BusMove).
BUS_SUM: Final = 1
BUS_FIRST: Final = 2
BUS_SECOND: Final = 3

# Gods (proto God).
GOD_NONE: Final = 0
GOD_WEALTH: Final = 1
GOD_MISFORTUNE: Final = 2

# Why cash moves or is owed (proto CashCause).
CASH_SALARY: Final = 1
CASH_LANDING_BONUS: Final = 2
CASH_PURCHASE: Final = 3
CASH_AUCTION: Final = 4
CASH_RENT: Final = 5
CASH_RENT_TAX: Final = 6
CASH_TAX: Final = 7
CASH_CARD: Final = 8
CASH_BAIL: Final = 9
CASH_BUILD: Final = 10
CASH_SELL_BUILDING: Final = 11
CASH_MORTGAGE: Final = 12
CASH_REDEEM: Final = 13
CASH_TRADE: Final = 14
CASH_WAGER_STAKE: Final = 15
CASH_WAGER_WIN: Final = 16
CASH_EIGHT_BONUS: Final = 17
CASH_FINANCING: Final = 18
CASH_LIQUIDATION: Final = 19
CASH_FORFEIT: Final = 20
CASH_START: Final = 21

# How a token moves (proto MoveManner).
MOVE_WALK: Final = 1
MOVE_CARD_FORWARD: Final = 2
MOVE_CARD_BACK: Final = 3
MOVE_JUMP: Final = 4
MOVE_TELEPORT: Final = 5
MOVE_TO_JAIL: Final = 6

# Why a property changes hands (proto PropertyCause).
PROPERTY_PURCHASE: Final = 1
PROPERTY_AUCTION: Final = 2
PROPERTY_TRADE: Final = 3
PROPERTY_FINANCING: Final = 4
PROPERTY_LIQUIDATION: Final = 5
PROPERTY_INHERITANCE: Final = 6
PROPERTY_MORTGAGE_LAPSED: Final = 7

# Why a seat goes to jail, and how it leaves (protos JailCause, ReleaseCause).
JAILED_BY_SQUARE: Final = 1
JAILED_BY_CARD: Final = 2
JAILED_BY_DOUBLES: Final = 3
RELEASE_DOUBLE: Final = 1
RELEASE_BAIL: Final = 2
RELEASE_FORCED_BAIL: Final = 3
RELEASE_FREE: Final = 4

# Why a seat passes in an auction (proto PassCause).
PASS_CHOICE: Final = 1
PASS_CASH: Final = 2
PASS_CLOCK: Final = 3
PASS_GONE: Final = 4

# Why an offer is closed (proto OfferCause).
OFFER_ACCEPTED: Final = 1
OFFER_DECLINED: Final = 2
OFFER_WITHDRAWN: Final = 3
OFFER_LAPSED: Final = 4
OFFER_CHANGED: Final = 5
OFFER_SEAT_OUT: Final = 6

# Why a seat surrenders (proto SurrenderCause).
SURRENDER_CHOICE: Final = 1
SURRENDER_MISSED_TURNS: Final = 2

# How a game ends (proto EndCause).
END_LAST_STANDING: Final = 1
END_ROUND_CAP: Final = 2
