"""What may differ between games: one frozen value, handed to the game at its start.

Every rule reads its numbers here; no rule asks which mode or edition is played. A policy (an int
with a few named answers) is read in exactly one function.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Final

from opolyx_rules.content.decks import DECKS

NEVER: Final = 1_000_000
"""A round that never comes: the neutral value of fields that name a round."""

# Answers of third_corner: rules CORNER-1 .. CORNER-3.
CORNER_REST: Final = 0
CORNER_WAGER: Final = 1
CORNER_TEMPLE: Final = 2

# Answers of bail_timing: rules JAIL-2.
BAIL_BEFORE_ROLL: Final = 0
BAIL_AFTER_ROLL: Final = 1

# Answers of last_attempt: rules JAIL-4.
LAST_PAY_AND_MOVE: Final = 0
LAST_PAY_AND_STAY: Final = 1
LAST_FREE_RELEASE: Final = 2

# Answers of team_bankruptcy: rules DEBT-7, DEBT-8.
BANKRUPT_LIQUIDATES: Final = 0
BANKRUPT_TO_TEAMMATE: Final = 1

# Answers of financing: rules FIN-1, FIN-2.
FINANCING_NONE: Final = 0
FINANCING_MURABAHA: Final = 1
FINANCING_LOAN: Final = 2

# Answers of xp: rules XP-1, XP-3; the numbers are those of the proto XpScheme.
XP_NONE: Final = 1
XP_WINNER: Final = 2
XP_EVERY_SEAT: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruleset:
    """The fields of a ruleset. Money is in k, shares are in basis points, times in seconds."""

    mode: str
    """Name of the mode; for people, no rule reads it."""
    edition: str
    """Name of the edition; for people, no rule reads it."""

    start_cash: int = 15_000
    """Cash of each seat at the start (TABLE-7)."""
    salary: int = 2_000
    """Paid for passing or reaching Start (TURN-5)."""
    start_landing_bonus: int = 1_000
    """Paid on top for stopping on Start exactly (TURN-5)."""
    salary_until_tax: bool = False
    """Whether Start pays nothing from `rent_tax_from` on (TURN-5)."""
    third_corner: int = CORNER_WAGER
    """What square 20 does (CORNER)."""
    wager_stake: int = 1_000
    """Stake of the wager (CORNER-2)."""
    deck: str = "standard"
    """Name of the deck (CHANCE-3)."""
    deck_shuffled: bool = True
    """Whether the deck is shuffled once, at the start (CHANCE-1)."""
    eight_bonus: int = 0
    """Paid for a roll whose white dice total 8 (GOD-3)."""
    god_rounds: int = 3
    """Rounds a god stays (GOD-1)."""
    god_bp: int = 5_000
    """How much a god adds to a rent (GOD-1)."""
    third_die_from: int = NEVER
    """Round from which the third die is rolled (DIE-1)."""
    even_build: bool = True
    """Whether a group is built and sold evenly (BUILD-2)."""
    builds_per_street: int = 1
    """Levels that may be built on one street in one turn; `MAX_LEVEL` for any (BUILD-3)."""
    manage_after_roll: bool = False
    """Whether managing is also open in the turn's later decisions (TURN-4)."""
    mortgage_interest_bp: int = 1_000
    """Surcharge for redeeming (MORT-2)."""
    mortgage_rounds: int = NEVER
    """Rounds after which a mortgage lapses (MORT-4)."""
    trade_in_debt: bool = True
    """Whether a debtor may propose trades in the payment pause (TRADE-2)."""
    trade_mortgaged: bool = True
    """Whether mortgaged property may be traded (TRADE-4)."""
    trade_fairness_bp: int = 5_000
    """Least worth of the smaller side of a trade, as a share of the larger (TRADE-5)."""
    max_offers: int = 3
    """Open offers a proposer (TRADE-3)."""
    bail: int = 500
    """Bail (JAIL-2)."""
    bail_timing: int = BAIL_BEFORE_ROLL
    """When bail may be paid (JAIL-2)."""
    jail_attempts: int = 3
    """Rolls for a double (JAIL-3)."""
    last_attempt: int = LAST_PAY_AND_MOVE
    """What follows the last failure (JAIL-4)."""
    rent_tax_from: int = 100
    """First round with a rent tax (RTAX-1)."""
    rent_tax_full: int = 200
    """Round in which it reaches its height (RTAX-1)."""
    rent_tax_max_bp: int = 9_900
    """Its height (RTAX-1)."""
    round_cap: int = 500
    """The game ends when this round is complete (END-1)."""
    auction_step: int = 100
    """Distance of bids (AUCTION-2)."""
    turn_seconds: int = 75
    """Clock of a step (CLOCK-1)."""
    auction_seconds: int = 10
    """Clock of a bid (AUCTION-6)."""
    payment_seconds: int = 75
    """Least clock of a payment pause (DEBT-3)."""
    offer_seconds: int = 60
    """Life of an offer (TRADE-6)."""
    missed_turns: int = 2
    """Missed turns in a row that surrender a seat (CLOCK-4)."""
    sides: int = 0
    """Number of sides; 0 where each seat is its own (TABLE-2)."""
    team_bankruptcy: int = BANKRUPT_LIQUIDATES
    """What becomes of a bankrupt's properties (DEBT-8)."""
    financing: int = FINANCING_NONE
    """How a VIP may finance (FIN-1, FIN-2)."""
    financing_rounds: int = 15
    """Rounds until financing falls due (FIN-1)."""
    financing_bp: int = 2_000
    """What financing costs by its due round (FIN-1, FIN-2)."""
    collection_bonus: bool = True
    """Whether collection cards raise rents (RENT-5)."""
    collection_cap_bp: int = 3_300
    """Most that a card adds (RENT-5)."""
    xp: int = XP_EVERY_SEAT
    """Who is awarded (XP-1, XP-3); not read by the rules of play."""
    theme: str = "world"
    """Names of squares and cards (BOARD-3); not read by the rules of play."""

    @property
    def name(self) -> str:
        """`mode@edition`."""
        return f"{self.mode}@{self.edition}"

    def digest(self) -> str:
        """SHA-256 of all fields by name, hex: equal exactly when every field is."""
        fields = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(fields.encode()).hexdigest()

    def seat_counts(self) -> tuple[int, ...]:
        """Numbers of seats that can play it (TABLE-1, TABLE-2)."""
        return (4, 6) if self.sides else (2, 3, 4, 5, 6)

    def validate(self) -> list[str]:
        """What is wrong with the fields, a sentence each; empty when nothing is."""
        wrong = []
        for name, low, high in _BOUNDS:
            value = getattr(self, name)
            if not low <= value <= high:
                wrong.append(f"{name} must be from {low} to {high}, is {value}")
        if self.deck not in DECKS:
            wrong.append(f"deck must be one of {', '.join(sorted(DECKS))}, is {self.deck!r}")
        if self.rent_tax_full < self.rent_tax_from:
            wrong.append("rent_tax_full must not be before rent_tax_from")
        return wrong


_BOUNDS: Final[tuple[tuple[str, int, int], ...]] = (
    ("start_cash", 1_000, 1_000_000),
    ("round_cap", 1, 1_000),
    ("turn_seconds", 5, 600),
    ("auction_seconds", 5, 120),
    ("payment_seconds", 5, 600),
    ("offer_seconds", 5, 600),
    ("missed_turns", 1, 10),
    ("builds_per_street", 1, 5),
    ("max_offers", 0, 10),
    ("jail_attempts", 1, 10),
    ("trade_fairness_bp", 0, 10_000),
    ("rent_tax_max_bp", 0, 10_000),
    ("mortgage_interest_bp", 0, 10_000),
)
"""Fields with bounds: what a house may set, and what a preset must keep to."""
