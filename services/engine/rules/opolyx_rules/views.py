"""What everybody may see: whitelists of ints, built field by field, and their digest.

The order of the fields is the order in the protos' messages and part of the digest's definition
(docs/digests.md): never change it. Seats, phases and causes are the numbers of `ids`; NOBODY (-1)
stands for an absent seat, for the bank and for an absent square; flags are 0 or 1.
"""

import hashlib
import json
from typing import Final, TypeAlias

from opolyx_rules.actions import squares_of
from opolyx_rules.content.boards import PROPERTIES
from opolyx_rules.ids import NOBODY, Seat, Square
from opolyx_rules.queries import awaited_phase, awaited_seat, financing_owed, net_worth, next_bid
from opolyx_rules.state import Debt, Offer, State

Ints: TypeAlias = tuple[int, ...]

PLAYER_FIELDS: Final = (
    "seat",
    "cash",
    "position",
    "in_game",
    "in_jail",
    "jail_attempts",
    "missed_turns",
    "god",
    "god_until_round",
    "financed_square",
    "financed_price",
    "financed_due_round",
    "net_worth",
    "out_order",
)
PROPERTY_FIELDS: Final = (
    "square",
    "owner",
    "level",
    "mortgaged",
    "mortgaged_round",
    "built_this_turn",
)
TURN_FIELDS: Final = (
    "round",
    "seat",
    "first_seat",
    "turn_number",
    "phase",
    "awaited_seat",
    "doubles",
    "rolls_again",
    "jump_due",
    "die1",
    "die2",
    "third",
)


def player_view(state: State, seat: Seat) -> Ints:
    """One seat, in the order of `PLAYER_FIELDS`."""
    financed = state.financed[seat]
    due = state.financed_round[seat] + state.ruleset.financing_rounds if financed >= 0 else 0
    return (
        seat,
        state.cash[seat],
        state.position[seat],
        int(state.out_order[seat] == 0),
        state.jailed[seat],
        state.attempts[seat],
        state.missed[seat],
        state.god[seat],
        state.god_until[seat],
        financed,
        financing_owed(state, seat),
        due,
        net_worth(state, seat),
        state.out_order[seat],
    )


def property_view(state: State, square: Square) -> Ints:
    """One property, in the order of `PROPERTY_FIELDS`."""
    mortgaged = state.mortgaged[square]
    return (
        square,
        state.owner[square],
        state.level[square],
        int(mortgaged > 0),
        mortgaged,
        state.built[square],
    )


def turn_view(state: State) -> Ints:
    """The turn, in the order of `TURN_FIELDS`; dice are 0 before the first roll."""
    return (
        state.round,
        state.turn_seat,
        state.first_seat,
        state.turn_number,
        awaited_phase(state),
        awaited_seat(state),
        state.doubles,
        state.rolls_again,
        state.jump_due,
        state.dice[0],
        state.dice[1],
        state.dice[2],
    )


def auction_view(state: State) -> Ints:
    """(square, bid, leader, next bid, then the bidders in the order asked); empty when none runs."""
    if state.auction_square == NOBODY:
        return ()
    head = (state.auction_square, state.auction_bid, state.auction_leader, next_bid(state))
    return head + tuple(state.auction_queue)


def debt_view(debt: Debt) -> Ints:
    """(debtor, then creditor, amount and cause of each claim)."""
    flat = [debt[0]]
    for creditor, amount, cause in debt[1]:
        flat += [creditor, amount, cause]
    return tuple(flat)


def offer_view(offer: Offer) -> tuple[int, int, int, int, int, list[int], list[int]]:
    """(id, proposer, recipient, give cash, want cash, squares given, squares wanted)."""
    give, want = squares_of(offer[4]), squares_of(offer[6])
    return (offer[0], offer[1], offer[2], offer[3], offer[5], give, want)


def debts_view(state: State) -> list[Ints]:
    """All open debts, the one awaited first."""
    order = [frame[1] for frame in reversed(state.stack)]
    ranked = sorted([(order.index(debt[0]), debt) for debt in state.debts])
    return [debt_view(debt) for _, debt in ranked]


def public_view(state: State) -> list[object]:
    """The whole public state: players, properties, turn, auction, debts, offers, end cause."""
    return [
        [player_view(state, seat) for seat in range(state.seats)],
        [property_view(state, square) for square in PROPERTIES],
        turn_view(state),
        auction_view(state),
        debts_view(state),
        [offer_view(offer) for offer in state.offers],
        state.end_cause,
    ]


def state_digest(state: State) -> bytes:
    """SHA-256 of the public view as JSON without spaces: the same on every machine and client."""
    return hashlib.sha256(public_text(state).encode()).digest()


def public_text(state: State) -> str:
    """`public_view` as JSON without spaces.

    Nearly all of it is players and properties: patterns write those in half the time of the encoder.
    """
    players = ",".join([_PLAYER % player_view(state, seat) for seat in range(state.seats)])
    numbers: list[int] = []
    for square in PROPERTIES:
        numbers += property_view(state, square)
    rest = [
        turn_view(state),
        auction_view(state),
        debts_view(state),
        [offer_view(offer) for offer in state.offers],
        state.end_cause,
    ]
    return f"[[{players}],{_PROPERTIES % tuple(numbers)},{_ENCODER.encode(rest)[1:]}"


def _pattern(fields: tuple[str, ...]) -> str:
    return "[" + ",".join(["%d"] * len(fields)) + "]"


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))
_PLAYER: Final = _pattern(PLAYER_FIELDS)
_PROPERTIES: Final = "[" + ",".join([_pattern(PROPERTY_FIELDS)] * len(PROPERTIES)) + "]"
