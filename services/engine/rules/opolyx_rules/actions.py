"""What a seat asks for: `(kind, seat, *arguments)`, all ints.

Kinds equal the field numbers of the proto's Action; the last two come from the clock and can't be
sent by a client. Actions without much choice are made once and shared, so that a list of legal
actions costs little.
"""

from typing import Final, TypeAlias

from opolyx_rules.ids import MAX_SEATS, SQUARES

Action: TypeAlias = tuple[int, ...]

ROLL: Final = 1
BUY: Final = 2
DECLINE_PURCHASE: Final = 3
FINANCE_PURCHASE: Final = 4
BID: Final = 5
PASS_BID: Final = 6
PAY_DEBT: Final = 7
DECLARE_BANKRUPTCY: Final = 8
BUILD: Final = 9
SELL_BUILDING: Final = 10
MORTGAGE: Final = 11
REDEEM: Final = 12
PAY_BAIL: Final = 13
STAY_IN_JAIL: Final = 14
WAGER: Final = 15
DECLINE_WAGER: Final = 16
CHOOSE_BUS: Final = 17
CHOOSE_SQUARE: Final = 18
PAY_OFF_FINANCING: Final = 19
PROPOSE_TRADE: Final = 20
ACCEPT_TRADE: Final = 21
DECLINE_TRADE: Final = 22
WITHDRAW_TRADE: Final = 23
SURRENDER: Final = 24
TIME_OUT: Final = 100
LAPSE_OFFER: Final = 101

KIND: Final = 0
SEAT: Final = 1
ARGUMENT: Final = 2

ARGUMENTS: Final[dict[int, tuple[str, ...]]] = {
    ROLL: (),
    BUY: (),
    DECLINE_PURCHASE: (),
    FINANCE_PURCHASE: (),
    BID: (),
    PASS_BID: (),
    PAY_DEBT: (),
    DECLARE_BANKRUPTCY: (),
    BUILD: ("square",),
    SELL_BUILDING: ("square",),
    MORTGAGE: ("square",),
    REDEEM: ("square",),
    PAY_BAIL: (),
    STAY_IN_JAIL: (),
    WAGER: ("numbers",),
    DECLINE_WAGER: (),
    CHOOSE_BUS: ("move",),
    CHOOSE_SQUARE: ("square",),
    PAY_OFF_FINANCING: (),
    PROPOSE_TRADE: ("recipient", "give_cash", "give_squares", "want_cash", "want_squares"),
    ACCEPT_TRADE: ("offer_id",),
    DECLINE_TRADE: ("offer_id",),
    WITHDRAW_TRADE: ("offer_id",),
    SURRENDER: (),
    TIME_OUT: (),
    LAPSE_OFFER: ("offer_id",),
}
"""Names of each kind's arguments, in order; those of the proto. Sets of squares are bit masks
(bit n for square n), the wager's numbers likewise (bit n for number n)."""

NAMES: Final[dict[int, str]] = {
    ROLL: "roll",
    BUY: "buy",
    DECLINE_PURCHASE: "decline_purchase",
    FINANCE_PURCHASE: "finance_purchase",
    BID: "bid",
    PASS_BID: "pass_bid",
    PAY_DEBT: "pay_debt",
    DECLARE_BANKRUPTCY: "declare_bankruptcy",
    BUILD: "build",
    SELL_BUILDING: "sell_building",
    MORTGAGE: "mortgage",
    REDEEM: "redeem",
    PAY_BAIL: "pay_bail",
    STAY_IN_JAIL: "stay_in_jail",
    WAGER: "wager",
    DECLINE_WAGER: "decline_wager",
    CHOOSE_BUS: "choose_bus",
    CHOOSE_SQUARE: "choose_square",
    PAY_OFF_FINANCING: "pay_off_financing",
    PROPOSE_TRADE: "propose_trade",
    ACCEPT_TRADE: "accept_trade",
    DECLINE_TRADE: "decline_trade",
    WITHDRAW_TRADE: "withdraw_trade",
    SURRENDER: "surrender",
    TIME_OUT: "time_out",
    LAPSE_OFFER: "lapse_offer",
}
"""Name of each kind; that of the proto's field for what a client can send."""


def _plain(kind: int) -> tuple[Action, ...]:
    return tuple((kind, seat) for seat in range(MAX_SEATS))


def _by_square(kind: int) -> tuple[tuple[Action, ...], ...]:
    return tuple(
        tuple((kind, seat, square) for square in range(SQUARES)) for seat in range(MAX_SEATS)
    )


ROLL_BY: Final = _plain(ROLL)
BUY_BY: Final = _plain(BUY)
DECLINE_PURCHASE_BY: Final = _plain(DECLINE_PURCHASE)
FINANCE_PURCHASE_BY: Final = _plain(FINANCE_PURCHASE)
BID_BY: Final = _plain(BID)
PASS_BID_BY: Final = _plain(PASS_BID)
PAY_DEBT_BY: Final = _plain(PAY_DEBT)
DECLARE_BANKRUPTCY_BY: Final = _plain(DECLARE_BANKRUPTCY)
PAY_BAIL_BY: Final = _plain(PAY_BAIL)
STAY_IN_JAIL_BY: Final = _plain(STAY_IN_JAIL)
DECLINE_WAGER_BY: Final = _plain(DECLINE_WAGER)
PAY_OFF_FINANCING_BY: Final = _plain(PAY_OFF_FINANCING)
SURRENDER_BY: Final = _plain(SURRENDER)
TIME_OUT_BY: Final = _plain(TIME_OUT)
BUILD_BY: Final = _by_square(BUILD)
SELL_BUILDING_BY: Final = _by_square(SELL_BUILDING)
MORTGAGE_BY: Final = _by_square(MORTGAGE)
REDEEM_BY: Final = _by_square(REDEEM)
CHOOSE_SQUARE_BY: Final = _by_square(CHOOSE_SQUARE)

WAGER_MASKS: Final[tuple[int, ...]] = tuple(
    mask for mask in range(0, 128, 2) if 1 <= mask.bit_count() <= 3
)
"""Every choice of one, two or three numbers from 1 to 6 (CORNER-2)."""


def propose_trade(
    seat: int,
    recipient: int,
    *,
    give_cash: int = 0,
    give_squares: tuple[int, ...] = (),
    want_cash: int = 0,
    want_squares: tuple[int, ...] = (),
) -> Action:
    """A trade that `seat` proposes to `recipient`; cash in k, squares each once."""
    give, want = mask_of(give_squares), mask_of(want_squares)
    return (PROPOSE_TRADE, seat, recipient, give_cash, give, want_cash, want)


def mask_of(squares: tuple[int, ...]) -> int:
    """The bit mask of a set of squares; one listed twice counts once."""
    mask = 0
    for square in squares:
        mask |= 1 << square
    return mask


def squares_of(mask: int) -> list[int]:
    """The squares (or numbers) of a bit mask, ascending."""
    squares = []
    while mask:
        low = mask & -mask
        squares.append(low.bit_length() - 1)
        mask ^= low
    return squares
