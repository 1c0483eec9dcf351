"""What happened, past tense. Facts with ids and amounts; money is in k."""

from dataclasses import dataclass
from typing import Final, TypeAlias

from opolyx_sdk.enums import (
    CashCause,
    EndCause,
    God,
    JailCause,
    MoveManner,
    OfferCause,
    PassCause,
    PropertyCause,
    ReleaseCause,
    SurrenderCause,
)


@dataclass(frozen=True, slots=True)
class GameStarted:
    """The game began."""

    first_seat: int
    """Seat that has the first turn."""


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A round began."""

    round: int
    """The round, from 1."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began."""

    seat: int
    """Whose turn it is."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn ended."""

    seat: int
    """Whose turn it was."""


@dataclass(frozen=True, slots=True)
class DiceRolled:
    """The dice were rolled."""

    seat: int
    """Who rolled."""

    die1: int
    """First white die, 1..6."""

    die2: int
    """Second white die, 1..6."""

    third: int
    """Third die: 0 not rolled, 1..3, 4 bus, 5 X."""


@dataclass(frozen=True, slots=True)
class TokenMoved:
    """A token moved."""

    seat: int
    """Whose token."""

    origin: int
    """Square it left."""

    target: int
    """Square it reached."""

    manner: MoveManner
    """How it moved."""


@dataclass(frozen=True, slots=True)
class CashMoved:
    """Cash moved. The sum of these events explains every change of every seat's cash."""

    payer: int | None
    """Who paid; absent for the bank."""

    payee: int | None
    """Who received; absent for the bank."""

    amount: int
    """How much, in k; more than 0."""

    cause: CashCause
    """Why."""


@dataclass(frozen=True, slots=True)
class PropertyMoved:
    """A property changed hands."""

    square: int
    """The property."""

    giver: int | None
    """Who had it; absent for the bank."""

    taker: int | None
    """Who has it now; absent for the bank."""

    cause: PropertyCause
    """Why."""


@dataclass(frozen=True, slots=True)
class BuildingBuilt:
    """A level was built."""

    seat: int
    """Who built."""

    square: int
    """The street."""

    level: int
    """Its level now, 1..5."""


@dataclass(frozen=True, slots=True)
class BuildingSold:
    """A level was sold to the bank."""

    seat: int
    """Who sold."""

    square: int
    """The street."""

    level: int
    """Its level now, 0..4."""


@dataclass(frozen=True, slots=True)
class PropertyMortgaged:
    """A property was mortgaged."""

    seat: int
    """The owner."""

    square: int
    """The property."""


@dataclass(frozen=True, slots=True)
class PropertyRedeemed:
    """A mortgage was redeemed."""

    seat: int
    """The owner."""

    square: int
    """The property."""


@dataclass(frozen=True, slots=True)
class MortgageCounted:
    """The rounds left of a mortgage were counted (MORT-4)."""

    seat: int
    """The owner."""

    square: int
    """The property."""

    rounds_left: int
    """Rounds left."""


@dataclass(frozen=True, slots=True)
class MortgageLapsed:
    """A mortgage ran out: the property went back to the bank (MORT-4)."""

    seat: int
    """Who had it."""

    square: int
    """The property."""


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """A Chance card was drawn (CHANCE-2)."""

    seat: int
    """Who drew it."""

    card: int
    """The card's number, see the rule book."""


@dataclass(frozen=True, slots=True)
class RentCharged:
    """Rent fell due (RENT-1)."""

    seat: int
    """Who owes it."""

    owner: int
    """To whom."""

    square: int
    """For which property."""

    amount: int
    """The whole rent in k."""

    card_bp: int
    """Collection card's bonus in it, basis points."""

    tax_bp: int
    """Share withheld by the rent tax, basis points (RTAX-1)."""


@dataclass(frozen=True, slots=True)
class Jailed:
    """A seat went to jail."""

    seat: int
    """Who."""

    cause: JailCause
    """Why."""


@dataclass(frozen=True, slots=True)
class JailRollFailed:
    """A roll for a double failed (JAIL-3)."""

    seat: int
    """Who."""

    attempts: int
    """Failed attempts so far."""


@dataclass(frozen=True, slots=True)
class Released:
    """A seat left jail."""

    seat: int
    """Who."""

    cause: ReleaseCause
    """How."""


@dataclass(frozen=True, slots=True)
class PurchaseDeclined:
    """A property was declined."""

    seat: int
    """Who declined."""

    square: int
    """The property."""


@dataclass(frozen=True, slots=True)
class AuctionStarted:
    """An auction began."""

    square: int
    """The property."""

    opening_bid: int
    """The opening bid in k."""


@dataclass(frozen=True, slots=True)
class BidPlaced:
    """A bid was placed."""

    seat: int
    """Who bid."""

    amount: int
    """The bid in k."""


@dataclass(frozen=True, slots=True)
class BidPassed:
    """A seat passed for good."""

    seat: int
    """Who passed."""

    cause: PassCause
    """Why."""


@dataclass(frozen=True, slots=True)
class BidVoided:
    """A leader's bid became void (AUCTION-9)."""

    seat: int
    """Whose bid."""

    amount: int
    """The bid in k."""


@dataclass(frozen=True, slots=True)
class AuctionEnded:
    """An auction ended."""

    square: int
    """The property."""

    winner: int | None
    """Who bought it; absent when nobody bid."""

    price: int
    """The price in k."""


@dataclass(frozen=True, slots=True)
class DebtOpened:
    """The game paused for a debt (DEBT-1)."""

    seat: int
    """Who owes."""

    amount: int
    """How much in all, in k."""


@dataclass(frozen=True, slots=True)
class DebtRedirected:
    """A creditor went out: their share goes to the bank (DEBT-6)."""

    seat: int
    """Who owes."""

    creditor: int
    """Who went out."""

    amount: int
    """The share in k."""


@dataclass(frozen=True, slots=True)
class DebtSettled:
    """A debt was settled."""

    seat: int
    """Who owed."""

    amount: int
    """How much was paid in all, in k."""


@dataclass(frozen=True, slots=True)
class WagerPlaced:
    """A wager was placed (CORNER-2)."""

    seat: int
    """Who."""

    numbers: tuple[int, ...]
    """The numbers."""


@dataclass(frozen=True, slots=True)
class WagerRolled:
    """The wager's die was rolled."""

    seat: int
    """Who."""

    die: int
    """The die, 1..6."""

    payout: int
    """What the hit pays, gross, in k; 0 for a miss."""


@dataclass(frozen=True, slots=True)
class WagerDeclined:
    """A wager was declined."""

    seat: int
    """Who."""


@dataclass(frozen=True, slots=True)
class BusMoved:
    """The bus's move was chosen (DIE-3)."""

    seat: int
    """Who."""

    steps: int
    """The squares to move."""


@dataclass(frozen=True, slots=True)
class SquareChosen:
    """The triple's square was chosen (DIE-5)."""

    seat: int
    """Who."""

    square: int
    """The square."""


@dataclass(frozen=True, slots=True)
class GodArrived:
    """A god came (GOD-1)."""

    seat: int
    """To whom."""

    god: God
    """Which."""

    until_round: int
    """Round in which it leaves."""


@dataclass(frozen=True, slots=True)
class GodLeft:
    """A god left (GOD-2)."""

    seat: int
    """From whom."""

    god: God
    """Which."""


@dataclass(frozen=True, slots=True)
class PacketOpened:
    """A red packet was split (CHANCE-8)."""

    seat: int
    """Who owes it."""

    recipient: int
    """Who gets this share."""

    amount: int
    """The share in k; may be 0."""


@dataclass(frozen=True, slots=True)
class PropertyFinanced:
    """A property was bought by financing (FIN-1)."""

    seat: int
    """Who."""

    square: int
    """The property."""

    price: int
    """The price fixed, in k."""

    due_round: int
    """Round in which it falls due."""


@dataclass(frozen=True, slots=True)
class FinancingSettled:
    """A financed property was paid off."""

    seat: int
    """Who."""

    square: int
    """The property."""

    amount: int
    """What was paid in k."""


@dataclass(frozen=True, slots=True)
class OfferMade:
    """A trade was offered."""

    offer_id: int
    """The offer; its terms are in the delta."""

    proposer: int
    """Who offers."""

    recipient: int
    """To whom."""


@dataclass(frozen=True, slots=True)
class OfferClosed:
    """An offer was closed."""

    offer_id: int
    """The offer."""

    cause: OfferCause
    """Why."""


@dataclass(frozen=True, slots=True)
class ClockRanOut:
    """A seat's clock ran out (CLOCK-3)."""

    seat: int
    """Whose."""

    missed_turns: int
    """Missed turns in a row now."""


@dataclass(frozen=True, slots=True)
class TurnSkipped:
    """The rest of a turn was skipped (CLOCK-3)."""

    seat: int
    """Whose."""


@dataclass(frozen=True, slots=True)
class Surrendered:
    """A seat surrendered (DEBT-9)."""

    seat: int
    """Who."""

    cause: SurrenderCause
    """Why."""


@dataclass(frozen=True, slots=True)
class Bankrupted:
    """A seat went bankrupt (DEBT-7)."""

    seat: int
    """Who."""

    owed: int
    """What was owed in k."""

    paid: int
    """What the creditors got in all, in k."""


@dataclass(frozen=True, slots=True)
class Eliminated:
    """A seat is out of the game."""

    seat: int
    """Who."""

    out_order: int
    """1 for the first to go."""


@dataclass(frozen=True, slots=True)
class GameEnded:
    """The game ended."""

    cause: EndCause
    """How."""


Event: TypeAlias = (
    GameStarted
    | RoundStarted
    | TurnStarted
    | TurnEnded
    | DiceRolled
    | TokenMoved
    | CashMoved
    | PropertyMoved
    | BuildingBuilt
    | BuildingSold
    | PropertyMortgaged
    | PropertyRedeemed
    | MortgageCounted
    | MortgageLapsed
    | CardDrawn
    | RentCharged
    | Jailed
    | JailRollFailed
    | Released
    | PurchaseDeclined
    | AuctionStarted
    | BidPlaced
    | BidPassed
    | BidVoided
    | AuctionEnded
    | DebtOpened
    | DebtRedirected
    | DebtSettled
    | WagerPlaced
    | WagerRolled
    | WagerDeclined
    | BusMoved
    | SquareChosen
    | GodArrived
    | GodLeft
    | PacketOpened
    | PropertyFinanced
    | FinancingSettled
    | OfferMade
    | OfferClosed
    | ClockRanOut
    | TurnSkipped
    | Surrendered
    | Bankrupted
    | Eliminated
    | GameEnded
)
"""Any one event."""

EVENT_TYPES: Final[tuple[type[Event], ...]] = (
    GameStarted,
    RoundStarted,
    TurnStarted,
    TurnEnded,
    DiceRolled,
    TokenMoved,
    CashMoved,
    PropertyMoved,
    BuildingBuilt,
    BuildingSold,
    PropertyMortgaged,
    PropertyRedeemed,
    MortgageCounted,
    MortgageLapsed,
    CardDrawn,
    RentCharged,
    Jailed,
    JailRollFailed,
    Released,
    PurchaseDeclined,
    AuctionStarted,
    BidPlaced,
    BidPassed,
    BidVoided,
    AuctionEnded,
    DebtOpened,
    DebtRedirected,
    DebtSettled,
    WagerPlaced,
    WagerRolled,
    WagerDeclined,
    BusMoved,
    SquareChosen,
    GodArrived,
    GodLeft,
    PacketOpened,
    PropertyFinanced,
    FinancingSettled,
    OfferMade,
    OfferClosed,
    ClockRanOut,
    TurnSkipped,
    Surrendered,
    Bankrupted,
    Eliminated,
    GameEnded,
)
"""Every class of event, in the order of the wire."""
