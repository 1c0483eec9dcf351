"""Chance cards and what they do (CHANCE). The rows are in `content/decks.py`."""

from opolyx_rules.chance import PACKET, Chance
from opolyx_rules.content.boards import GROUP
from opolyx_rules.content.decks import (
    BACK,
    COLLECT,
    COLLECT_EACH,
    DECKS,
    MISFORTUNE_GOD,
    MOVE_TO,
    NEAREST,
    PAY,
    PAY_EACH,
    RED_PACKET,
    REPAIRS,
    TO_JAIL,
    WEALTH_GOD,
)
from opolyx_rules.events import CARD_DRAWN, PACKET_OPENED, Log
from opolyx_rules.ids import (
    BANK,
    CASH_CARD,
    GOD_MISFORTUNE,
    GOD_WEALTH,
    JAILED_BY_CARD,
    MOVE_CARD_FORWARD,
    SQUARES,
    Seat,
    Square,
)
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.mechanics.gods import receive_god
from opolyx_rules.mechanics.jail import go_to_jail
from opolyx_rules.mechanics.movement import move_back, move_forward
from opolyx_rules.mechanics.payments import open_debt
from opolyx_rules.queries import levels_owned, opponents_after
from opolyx_rules.reasons import InvariantError
from opolyx_rules.state import Claim, State


def draw_card(state: State, seat: Seat, chance: Chance, log: Log) -> None:
    """Draw the next card, name it to the table and do what it says (CHANCE-1, CHANCE-2)."""
    number = state.deck[state.deck_at]
    state.deck_at = (state.deck_at + 1) % len(state.deck)
    log.append((CARD_DRAWN, seat, number))
    effect, argument = DECKS[state.ruleset.deck][number]
    if effect in (MOVE_TO, NEAREST, BACK, TO_JAIL):
        _move(state, seat, effect, argument, log)
    elif effect in (COLLECT, PAY, REPAIRS):
        _settle_with_bank(state, seat, effect, argument, log)
    elif effect == COLLECT_EACH:
        _collect_from_each(state, seat, argument, log)
    elif effect == PAY_EACH:
        claims = [(other, argument, CASH_CARD) for other in opponents_after(state, seat)]
        open_debt(state, seat, claims, log)
    elif effect == RED_PACKET:
        _split_packet(state, seat, argument, chance, log)
    elif effect in (WEALTH_GOD, MISFORTUNE_GOD):
        god = GOD_WEALTH if effect == WEALTH_GOD else GOD_MISFORTUNE
        receive_god(state, seat, god, log)
    else:
        raise InvariantError(f"card {number} has an unknown effect {effect}")


def nearest_square(position: Square, group: int) -> Square:
    """The next property of a group, forward from `position`."""
    for step in range(1, SQUARES + 1):
        square = (position + step) % SQUARES
        if GROUP[square] == group:
            return square
    raise InvariantError(f"group {group} has no square")


def _move(state: State, seat: Seat, effect: int, argument: int, log: Log) -> None:
    """Cards that move the token; the square reached is resolved as usual (CHANCE-4)."""
    if effect == TO_JAIL:
        go_to_jail(state, seat, JAILED_BY_CARD, log)
    elif effect == BACK:
        move_back(state, seat, argument, log)
    else:
        target = argument
        if effect == NEAREST:
            target = nearest_square(state.position[seat], argument)
        move_forward(state, seat, target, MOVE_CARD_FORWARD, log)


def _settle_with_bank(state: State, seat: Seat, effect: int, argument: int, log: Log) -> None:
    """Cards that pay or charge; a charge goes through the payment pause (CHANCE-5)."""
    if effect == COLLECT:
        move_cash(state, BANK, seat, argument, CASH_CARD, log)
        return
    amount = argument * levels_owned(state, seat) if effect == REPAIRS else argument
    open_debt(state, seat, [(BANK, amount, CASH_CARD)], log)


def _collect_from_each(state: State, seat: Seat, amount: int, log: Log) -> None:
    """Taken at once from whoever has the cash; a pause for whoever has not (CHANCE-5)."""
    short = []
    for other in opponents_after(state, seat):
        if state.cash[other] >= amount:
            move_cash(state, other, seat, amount, CASH_CARD, log)
        else:
            short.append(other)
    for other in reversed(short):
        open_debt(state, other, [(seat, amount, CASH_CARD)], log)


def _split_packet(state: State, seat: Seat, amount: int, chance: Chance, log: Log) -> None:
    """A red packet: the total is cut at uniformly drawn points (CHANCE-8)."""
    opponents = opponents_after(state, seat)
    total = amount * len(opponents)
    cuts = sorted([chance.draw(PACKET, total + 1) for _ in opponents[1:]])
    claims: list[Claim] = []
    start = 0
    for other, end in zip(opponents, [*cuts, total], strict=True):
        log.append((PACKET_OPENED, seat, other, end - start))
        claims.append((other, end - start, CASH_CARD))
        start = end
    open_debt(state, seat, claims, log)
