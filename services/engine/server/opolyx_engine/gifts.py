"""What seats gave each other in trades beyond what they got: a sign of two who play as one.

Kept with the table, as nothing else of a finished game tells it without the whole log.
"""

from typing import Final, TypeAlias

from opolyx_rules.events import OFFER_CLOSED, Event
from opolyx_rules.ids import OFFER_ACCEPTED
from opolyx_rules.queries import trade_value
from opolyx_rules.state import State

Gifts: TypeAlias = tuple[tuple[int, int, int], ...]
"""Giver, taker and value in k, by the values of TRADE-5; each pair once, ascending."""

NONE: Final[Gifts] = ()


def gifts_after(gifts: Gifts, before: State, events: list[Event]) -> Gifts:
    """The gifts once a step was taken.

    Args:
        gifts: those before it.
        before: the state before it, in which the offers still lie.
        events: what happened in it.
    """
    accepted = {
        event[1] for event in events if event[0] == OFFER_CLOSED and event[2] == OFFER_ACCEPTED
    }
    if not accepted:
        return gifts
    total = {(giver, taker): value for giver, taker, value in gifts}
    for offer in before.offers:
        if offer[0] in accepted:
            _, proposer, recipient, give_cash, give, want_cash, want, _ = offer
            gave, got = trade_value(before, give_cash, give), trade_value(before, want_cash, want)
            pair = (proposer, recipient) if gave > got else (recipient, proposer)
            total[pair] = total.get(pair, 0) + abs(gave - got)
    return tuple((*pair, value) for pair, value in sorted(total.items()) if value)
