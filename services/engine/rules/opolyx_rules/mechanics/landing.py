"""What the square underfoot does to who stops there (TURN-1)."""

from opolyx_rules.chance import Chance
from opolyx_rules.content.boards import (
    CHANCE,
    CORNER,
    GO_TO_JAIL,
    GROUP,
    KIND,
    PRICE,
    START,
    TAX,
)
from opolyx_rules.events import RENT_CHARGED, Log
from opolyx_rules.ids import (
    BANK,
    CASH_RENT,
    CASH_RENT_TAX,
    CASH_TAX,
    JAILED_BY_SQUARE,
    NOBODY,
    PHASE_BUY,
    Seat,
    Square,
)
from opolyx_rules.mechanics.auctions import start_auction
from opolyx_rules.mechanics.cards import draw_card
from opolyx_rules.mechanics.corner import stop_at_corner
from opolyx_rules.mechanics.financing import may_finance
from opolyx_rules.mechanics.jail import go_to_jail
from opolyx_rules.mechanics.movement import land_on_start
from opolyx_rules.mechanics.payments import open_debt
from opolyx_rules.mechanics.rent import card_bonus, rent_due, rent_tax_rate
from opolyx_rules.queries import liquidation_value
from opolyx_rules.state import State


def land(state: State, seat: Seat, chance: Chance, log: Log) -> None:
    """Resolve the square that the seat's token stands on."""
    square = state.position[seat]
    kind = KIND[square]
    if GROUP[square] >= 0:
        _stop_on_property(state, seat, square, log)
    elif kind == START:
        land_on_start(state, seat, log)
    elif kind == TAX:
        open_debt(state, seat, [(BANK, PRICE[square], CASH_TAX)], log)
    elif kind == CHANCE:
        draw_card(state, seat, chance, log)
    elif kind == CORNER:
        stop_at_corner(state, seat, log)
    elif kind == GO_TO_JAIL:
        go_to_jail(state, seat, JAILED_BY_SQUARE, log)


def _stop_on_property(state: State, seat: Seat, square: Square, log: Log) -> None:
    if state.owner[square] != NOBODY:
        charge_rent(state, square, seat, log)
    elif can_buy(state, seat, square):
        state.push(PHASE_BUY, seat, square)
    else:
        start_auction(state, square, seat, log)


def can_buy(state: State, seat: Seat, square: Square) -> bool:
    """Whether the seat gets a buy decision (BUY-2)."""
    means = state.cash[seat]
    if state.ruleset.manage_after_roll:
        means += liquidation_value(state, seat)
    return means >= PRICE[square] or may_finance(state, seat, square)


def charge_rent(state: State, square: Square, tenant: Seat, log: Log) -> None:
    """Open the debt for a rent: the owner's part and the part withheld (RENT-9, RTAX-2)."""
    amount = rent_due(state, square, tenant)
    if amount == 0:
        return
    owner, rate = state.owner[square], rent_tax_rate(state)
    withheld = amount * rate // 10_000
    bonus = card_bonus(state, square)
    log.append((RENT_CHARGED, tenant, owner, square, amount, bonus, rate))
    claims = [(owner, amount - withheld, CASH_RENT), (BANK, withheld, CASH_RENT_TAX)]
    open_debt(state, tenant, claims, log)
