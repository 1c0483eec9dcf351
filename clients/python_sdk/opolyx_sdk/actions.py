"""What a seat can ask for, imperative. The seat is never named: it follows from who asks."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from opolyx_sdk.enums import BusMove


@dataclass(frozen=True, slots=True)
class Roll:
    """Roll the dice (TURN-1); in jail, roll for a double (JAIL-3)."""


@dataclass(frozen=True, slots=True)
class Buy:
    """Buy the property underfoot at its list price (BUY-1)."""


@dataclass(frozen=True, slots=True)
class DeclinePurchase:
    """Decline the property underfoot, so that it is auctioned (BUY-1)."""


@dataclass(frozen=True, slots=True)
class FinancePurchase:
    """Buy the property underfoot by financing (FIN-1, FIN-2)."""


@dataclass(frozen=True, slots=True)
class Bid:
    """Bid the minimum in the auction (AUCTION-3)."""


@dataclass(frozen=True, slots=True)
class PassBid:
    """Pass in the auction for good (AUCTION-3)."""


@dataclass(frozen=True, slots=True)
class PayDebt:
    """Pay the whole of one's open debt (DEBT-2)."""


@dataclass(frozen=True, slots=True)
class DeclareBankruptcy:
    """Declare bankruptcy (DEBT-4)."""


@dataclass(frozen=True, slots=True)
class Build:
    """Build one level on a street (BUILD-1)."""

    square: int
    """The street, 0..39."""


@dataclass(frozen=True, slots=True)
class SellBuilding:
    """Sell one level of a street to the bank (BUILD-4)."""

    square: int
    """The street, 0..39."""


@dataclass(frozen=True, slots=True)
class Mortgage:
    """Mortgage a property (MORT-1)."""

    square: int
    """The property, 0..39."""


@dataclass(frozen=True, slots=True)
class Redeem:
    """Redeem a mortgage (MORT-2)."""

    square: int
    """The property, 0..39."""


@dataclass(frozen=True, slots=True)
class PayBail:
    """Pay bail and leave jail (JAIL-2)."""


@dataclass(frozen=True, slots=True)
class StayInJail:
    """Stay in jail after a roll that failed (JAIL-2, after_roll)."""


@dataclass(frozen=True, slots=True)
class Wager:
    """Take the wager of the third corner (CORNER-2)."""

    numbers: tuple[int, ...]
    """One, two or three different numbers from 1 to 6."""


@dataclass(frozen=True, slots=True)
class DeclineWager:
    """Decline the wager (CORNER-2)."""


@dataclass(frozen=True, slots=True)
class ChooseBus:
    """Choose how to move after the bus came up (DIE-3)."""

    move: BusMove
    """Which dice to move by."""


@dataclass(frozen=True, slots=True)
class ChooseSquare:
    """Choose the square to go to after a triple (DIE-5)."""

    square: int
    """The square, 0..39; the one underfoot means staying put."""


@dataclass(frozen=True, slots=True)
class PayOffFinancing:
    """Pay off the financed property, before the roll (FIN-1)."""


@dataclass(frozen=True, slots=True)
class ProposeTrade:
    """Propose a trade (TRADE-1)."""

    recipient: int
    """The other seat."""

    give_cash: int
    """Cash the proposer gives, in k; 0 or more."""

    give_squares: tuple[int, ...]
    """Properties the proposer gives, each once."""

    want_cash: int
    """Cash the proposer wants, in k; 0 or more."""

    want_squares: tuple[int, ...]
    """Properties the proposer wants, each once."""


@dataclass(frozen=True, slots=True)
class AcceptTrade:
    """Accept an offer made to this seat (TRADE-1)."""

    offer_id: int
    """The offer; a changed offer has a new id."""


@dataclass(frozen=True, slots=True)
class DeclineTrade:
    """Decline an offer made to this seat (TRADE-1)."""

    offer_id: int
    """The offer."""


@dataclass(frozen=True, slots=True)
class WithdrawTrade:
    """Withdraw an offer this seat made (TRADE-1)."""

    offer_id: int
    """The offer."""


@dataclass(frozen=True, slots=True)
class Surrender:
    """Leave the game for good (DEBT-9)."""


Action: TypeAlias = (
    Roll
    | Buy
    | DeclinePurchase
    | FinancePurchase
    | Bid
    | PassBid
    | PayDebt
    | DeclareBankruptcy
    | Build
    | SellBuilding
    | Mortgage
    | Redeem
    | PayBail
    | StayInJail
    | Wager
    | DeclineWager
    | ChooseBus
    | ChooseSquare
    | PayOffFinancing
    | ProposeTrade
    | AcceptTrade
    | DeclineTrade
    | WithdrawTrade
    | Surrender
)
"""Any one action."""

ACTION_TYPES: Final[tuple[type[Action], ...]] = (
    Roll,
    Buy,
    DeclinePurchase,
    FinancePurchase,
    Bid,
    PassBid,
    PayDebt,
    DeclareBankruptcy,
    Build,
    SellBuilding,
    Mortgage,
    Redeem,
    PayBail,
    StayInJail,
    Wager,
    DeclineWager,
    ChooseBus,
    ChooseSquare,
    PayOffFinancing,
    ProposeTrade,
    AcceptTrade,
    DeclineTrade,
    WithdrawTrade,
    Surrender,
)
"""Every class of action, in the order of the wire."""
