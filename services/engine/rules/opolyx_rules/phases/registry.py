"""Every kind of decision by its number."""

from typing import Final

from opolyx_rules.ids import (
    LAST_PHASE,
    PHASE_AUCTION,
    PHASE_BUS,
    PHASE_BUY,
    PHASE_JAIL,
    PHASE_JAIL_BAIL,
    PHASE_PAYMENT,
    PHASE_ROLL,
    PHASE_TRIPLE,
    PHASE_WAGER,
)
from opolyx_rules.phases.auction import AuctionPhase
from opolyx_rules.phases.bus import BusPhase
from opolyx_rules.phases.buy import BuyPhase
from opolyx_rules.phases.jail import JailPhase
from opolyx_rules.phases.jail_bail import JailBailPhase
from opolyx_rules.phases.payment import PaymentPhase
from opolyx_rules.phases.phase import Phase
from opolyx_rules.phases.roll import RollPhase
from opolyx_rules.phases.triple import TriplePhase
from opolyx_rules.phases.wager import WagerPhase


def _phases() -> list[Phase]:
    by_number: dict[int, Phase] = {
        PHASE_ROLL: RollPhase(),
        PHASE_JAIL: JailPhase(),
        PHASE_JAIL_BAIL: JailBailPhase(),
        PHASE_BUY: BuyPhase(),
        PHASE_AUCTION: AuctionPhase(),
        PHASE_PAYMENT: PaymentPhase(),
        PHASE_WAGER: WagerPhase(),
        PHASE_BUS: BusPhase(),
        PHASE_TRIPLE: TriplePhase(),
    }
    roll = by_number[PHASE_ROLL]
    return [by_number.get(number, roll) for number in range(LAST_PHASE)]


PHASES: Final[list[Phase]] = _phases()
"""The phase of each number; numbers that name no phase are never on the stack."""
