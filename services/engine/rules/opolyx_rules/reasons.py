"""Why an action is refused: a value, never an exception on the hot path.

The numbers equal those of the proto enum RefusalReason. Never renumber.
"""

from typing import Final

GAME_OVER: Final = 1
OUT_OF_GAME: Final = 2
NOT_AWAITED: Final = 3
WRONG_PHASE: Final = 4
INVALID_ACTION: Final = 5
NOT_ENOUGH_CASH: Final = 6
NOT_A_PROPERTY: Final = 7
NOT_A_STREET: Final = 8
NOT_OWNER: Final = 9
GROUP_INCOMPLETE: Final = 10
GROUP_MORTGAGED: Final = 11
UNEVEN: Final = 12
BUILD_LIMIT: Final = 13
FULLY_BUILT: Final = 14
NO_BUILDING: Final = 15
GROUP_HAS_BUILDINGS: Final = 16
MORTGAGED: Final = 17
NOT_MORTGAGED: Final = 18
FINANCED: Final = 19
RAISING_ONLY: Final = 20
SOLVENT: Final = 21
NO_BAIL_NOW: Final = 22
WAGER_NUMBERS: Final = 23
NO_FINANCING: Final = 24
NO_TRADE_NOW: Final = 25
TRADE_WITH_SELF: Final = 26
PARTNER_OUT: Final = 27
TOO_MANY_OFFERS: Final = 28
EMPTY_OFFER: Final = 29
DUPLICATE_LINE: Final = 30
INVALID_CASH: Final = 31
UNFAIR: Final = 32
OFFER_CLOSED: Final = 33
NOT_RECIPIENT: Final = 34
NOT_PROPOSER: Final = 35
AUCTION_RUNNING: Final = 36

NAMES: Final[dict[int, str]] = {
    GAME_OVER: "the game is over",
    OUT_OF_GAME: "the seat is out of the game",
    NOT_AWAITED: "another seat is awaited",
    WRONG_PHASE: "another kind of decision is awaited",
    INVALID_ACTION: "this is no action of the game",
    NOT_ENOUGH_CASH: "too little cash",
    NOT_A_PROPERTY: "the square is not a property",
    NOT_A_STREET: "the property is not a street",
    NOT_OWNER: "the property belongs to somebody else",
    GROUP_INCOMPLETE: "a street of the group is missing",
    GROUP_MORTGAGED: "a street of the group is mortgaged",
    UNEVEN: "the group would be built unevenly",
    BUILD_LIMIT: "the street has had its levels of this turn",
    FULLY_BUILT: "the street has all its levels",
    NO_BUILDING: "the street has no building",
    GROUP_HAS_BUILDINGS: "a street of the group has a building",
    MORTGAGED: "the property is mortgaged",
    NOT_MORTGAGED: "the property is not mortgaged",
    FINANCED: "the property is financed and not paid off",
    RAISING_ONLY: "in a payment pause only raising cash is open",
    SOLVENT: "what is owed can still be raised",
    NO_BAIL_NOW: "bail can't be paid now",
    WAGER_NUMBERS: "the wager takes one to three different numbers from 1 to 6",
    NO_FINANCING: "no financing is open to this seat",
    NO_TRADE_NOW: "trading is not open to this seat now",
    TRADE_WITH_SELF: "a seat can't trade with itself",
    PARTNER_OUT: "the partner is out of the game",
    TOO_MANY_OFFERS: "the proposer has as many open offers as are allowed",
    EMPTY_OFFER: "the offer holds nothing",
    DUPLICATE_LINE: "a line stands twice in the offer",
    INVALID_CASH: "an amount of cash is negative",
    UNFAIR: "the smaller side is worth too little",
    OFFER_CLOSED: "there is no such open offer",
    NOT_RECIPIENT: "the offer is not addressed to this seat",
    NOT_PROPOSER: "the offer is not this seat's own",
    AUCTION_RUNNING: "an auction is running",
}
"""A sentence in English for each reason, for developers."""


class Refusal:
    """Why an action is not allowed.

    Attributes:
        reason: One of this module's numbers, or one that the server adds to them.
        rule: Id of the rule that refuses, for instance `BUILD-2`.
        numbers: The numbers behind it, as (name, value) pairs; money in k.
    """

    __slots__ = ("numbers", "reason", "rule")

    def __init__(self, reason: int, rule: str, numbers: tuple[tuple[str, int], ...] = ()) -> None:
        self.reason = reason
        self.rule = rule
        self.numbers = numbers

    def __str__(self) -> str:
        numbers = ", ".join(f"{name}={value}" for name, value in self.numbers)
        sentence = NAMES.get(self.reason, f"reason {self.reason}")
        return f"{self.rule}: {sentence}" + (f" ({numbers})" if numbers else "")

    def __repr__(self) -> str:
        return f"Refusal({self})"


class IllegalAction(ValueError):
    """`apply` was asked for an action that `check` refuses; nothing was changed."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class InvariantError(RuntimeError):
    """A bug in the rules: the state is not one that the rules can reach."""
