"""What happened: `(kind, *fields)`, all ints, in the order of the proto's fields.

Kinds equal the field numbers of the proto's Event. Never renumber. `NOBODY` stands for an absent
seat or for the bank; the wager's numbers are a bit mask.
"""

from typing import Final, TypeAlias

Event: TypeAlias = tuple[int, ...]

Log: TypeAlias = list[Event]
"""Events of one step, in order; mechanics append to it."""

GAME_STARTED: Final = 1
ROUND_STARTED: Final = 2
TURN_STARTED: Final = 3
TURN_ENDED: Final = 4
DICE_ROLLED: Final = 5
TOKEN_MOVED: Final = 6
CASH_MOVED: Final = 7
PROPERTY_MOVED: Final = 8
BUILDING_BUILT: Final = 9
BUILDING_SOLD: Final = 10
PROPERTY_MORTGAGED: Final = 11
PROPERTY_REDEEMED: Final = 12
MORTGAGE_COUNTED: Final = 13
MORTGAGE_LAPSED: Final = 14
CARD_DRAWN: Final = 15
RENT_CHARGED: Final = 16
JAILED: Final = 17
JAIL_ROLL_FAILED: Final = 18
RELEASED: Final = 19
PURCHASE_DECLINED: Final = 20
AUCTION_STARTED: Final = 21
BID_PLACED: Final = 22
BID_PASSED: Final = 23
BID_VOIDED: Final = 24
AUCTION_ENDED: Final = 25
DEBT_OPENED: Final = 26
DEBT_REDIRECTED: Final = 27
DEBT_SETTLED: Final = 28
WAGER_PLACED: Final = 29
WAGER_ROLLED: Final = 30
WAGER_DECLINED: Final = 31
BUS_MOVED: Final = 32
SQUARE_CHOSEN: Final = 33
GOD_ARRIVED: Final = 34
GOD_LEFT: Final = 35
PACKET_OPENED: Final = 36
PROPERTY_FINANCED: Final = 37
FINANCING_SETTLED: Final = 38
OFFER_MADE: Final = 39
OFFER_CLOSED: Final = 40
CLOCK_RAN_OUT: Final = 41
TURN_SKIPPED: Final = 42
SURRENDERED: Final = 43
BANKRUPTED: Final = 44
ELIMINATED: Final = 45
GAME_ENDED: Final = 46

FIELDS: Final[dict[int, tuple[str, ...]]] = {
    GAME_STARTED: ("first_seat",),
    ROUND_STARTED: ("round",),
    TURN_STARTED: ("seat",),
    TURN_ENDED: ("seat",),
    DICE_ROLLED: ("seat", "die1", "die2", "third"),
    TOKEN_MOVED: ("seat", "origin", "target", "manner"),
    CASH_MOVED: ("payer", "payee", "amount", "cause"),
    PROPERTY_MOVED: ("square", "giver", "taker", "cause"),
    BUILDING_BUILT: ("seat", "square", "level"),
    BUILDING_SOLD: ("seat", "square", "level"),
    PROPERTY_MORTGAGED: ("seat", "square"),
    PROPERTY_REDEEMED: ("seat", "square"),
    MORTGAGE_COUNTED: ("seat", "square", "rounds_left"),
    MORTGAGE_LAPSED: ("seat", "square"),
    CARD_DRAWN: ("seat", "card"),
    RENT_CHARGED: ("seat", "owner", "square", "amount", "card_bp", "tax_bp"),
    JAILED: ("seat", "cause"),
    JAIL_ROLL_FAILED: ("seat", "attempts"),
    RELEASED: ("seat", "cause"),
    PURCHASE_DECLINED: ("seat", "square"),
    AUCTION_STARTED: ("square", "opening_bid"),
    BID_PLACED: ("seat", "amount"),
    BID_PASSED: ("seat", "cause"),
    BID_VOIDED: ("seat", "amount"),
    AUCTION_ENDED: ("square", "winner", "price"),
    DEBT_OPENED: ("seat", "amount"),
    DEBT_REDIRECTED: ("seat", "creditor", "amount"),
    DEBT_SETTLED: ("seat", "amount"),
    WAGER_PLACED: ("seat", "numbers"),
    WAGER_ROLLED: ("seat", "die", "payout"),
    WAGER_DECLINED: ("seat",),
    BUS_MOVED: ("seat", "steps"),
    SQUARE_CHOSEN: ("seat", "square"),
    GOD_ARRIVED: ("seat", "god", "until_round"),
    GOD_LEFT: ("seat", "god"),
    PACKET_OPENED: ("seat", "recipient", "amount"),
    PROPERTY_FINANCED: ("seat", "square", "price", "due_round"),
    FINANCING_SETTLED: ("seat", "square", "amount"),
    OFFER_MADE: ("offer_id", "proposer", "recipient"),
    OFFER_CLOSED: ("offer_id", "cause"),
    CLOCK_RAN_OUT: ("seat", "missed_turns"),
    TURN_SKIPPED: ("seat",),
    SURRENDERED: ("seat", "cause"),
    BANKRUPTED: ("seat", "owed", "paid"),
    ELIMINATED: ("seat", "out_order"),
    GAME_ENDED: ("cause",),
}
"""Names of each kind's fields; those of the proto."""

NAMES: Final[dict[int, str]] = {
    GAME_STARTED: "game_started",
    ROUND_STARTED: "round_started",
    TURN_STARTED: "turn_started",
    TURN_ENDED: "turn_ended",
    DICE_ROLLED: "dice_rolled",
    TOKEN_MOVED: "token_moved",
    CASH_MOVED: "cash_moved",
    PROPERTY_MOVED: "property_moved",
    BUILDING_BUILT: "building_built",
    BUILDING_SOLD: "building_sold",
    PROPERTY_MORTGAGED: "property_mortgaged",
    PROPERTY_REDEEMED: "property_redeemed",
    MORTGAGE_COUNTED: "mortgage_counted",
    MORTGAGE_LAPSED: "mortgage_lapsed",
    CARD_DRAWN: "card_drawn",
    RENT_CHARGED: "rent_charged",
    JAILED: "jailed",
    JAIL_ROLL_FAILED: "jail_roll_failed",
    RELEASED: "released",
    PURCHASE_DECLINED: "purchase_declined",
    AUCTION_STARTED: "auction_started",
    BID_PLACED: "bid_placed",
    BID_PASSED: "bid_passed",
    BID_VOIDED: "bid_voided",
    AUCTION_ENDED: "auction_ended",
    DEBT_OPENED: "debt_opened",
    DEBT_REDIRECTED: "debt_redirected",
    DEBT_SETTLED: "debt_settled",
    WAGER_PLACED: "wager_placed",
    WAGER_ROLLED: "wager_rolled",
    WAGER_DECLINED: "wager_declined",
    BUS_MOVED: "bus_moved",
    SQUARE_CHOSEN: "square_chosen",
    GOD_ARRIVED: "god_arrived",
    GOD_LEFT: "god_left",
    PACKET_OPENED: "packet_opened",
    PROPERTY_FINANCED: "property_financed",
    FINANCING_SETTLED: "financing_settled",
    OFFER_MADE: "offer_made",
    OFFER_CLOSED: "offer_closed",
    CLOCK_RAN_OUT: "clock_ran_out",
    TURN_SKIPPED: "turn_skipped",
    SURRENDERED: "surrendered",
    BANKRUPTED: "bankrupted",
    ELIMINATED: "eliminated",
    GAME_ENDED: "game_ended",
}
"""Name of each kind; that of the proto's field."""
