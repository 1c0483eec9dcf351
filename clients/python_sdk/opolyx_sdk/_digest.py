"""The digest of a game's public state, from its view (docs/digests.md).

The canonical form is a nested list of ints; an absent seat or square and the bank are -1, flags are
0 or 1. It is written here a second time, so that a contract test can hold it against the rules.
"""

import hashlib
import json
from typing import Final

from opolyx_sdk.views import (
    AuctionView,
    DebtView,
    GameView,
    OfferView,
    PlayerView,
    PropertyView,
    TurnView,
)

_ABSENT: Final = -1


def state_digest(view: GameView) -> bytes:
    """SHA-256 of the canonical public state, 32 bytes, the same as the server's."""
    text = json.dumps(canonical_state(view), separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).digest()


def canonical_state(view: GameView) -> list[object]:
    """Players, properties, turn, auction, debts, offers, and how the game ended (0 if it didn't)."""
    return [
        [_player(one) for one in view.players],
        [_property(one) for one in view.properties],
        _turn(view.turn),
        _auction(view.auction),
        [_debt(one) for one in view.debts],
        [_offer(one) for one in view.offers],
        int(view.result.cause) if view.result is not None else 0,
    ]


def _player(player: PlayerView) -> list[int]:
    return [
        player.seat,
        player.cash,
        player.position,
        int(player.in_game),
        int(player.in_jail),
        player.jail_attempts,
        player.missed_turns,
        int(player.god),
        player.god_until_round,
        _or_absent(player.financed_square),
        player.financed_price,
        player.financed_due_round,
        player.net_worth,
        player.out_order,
    ]


def _property(one: PropertyView) -> list[int]:
    return [
        one.square,
        _or_absent(one.owner),
        one.level,
        int(one.mortgaged),
        one.mortgaged_round,
        one.built_this_turn,
    ]


def _turn(turn: TurnView) -> list[int]:
    """The dice come last, 0 for each that was not rolled."""
    dice = (*turn.dice, 0, 0, 0)
    return [
        turn.round,
        turn.seat,
        turn.first_seat,
        turn.turn_number,
        int(turn.phase),
        _or_absent(turn.awaited_seat),
        turn.doubles,
        int(turn.rolls_again),
        int(turn.jump_due),
        *dice[:3],
    ]


def _auction(auction: AuctionView | None) -> list[int]:
    if auction is None:
        return []
    head = [auction.square, auction.bid, _or_absent(auction.leader), auction.next_bid]
    return head + list(auction.bidders)


def _debt(debt: DebtView) -> list[int]:
    flat = [debt.debtor]
    for claim in debt.claims:
        flat += [_or_absent(claim.creditor), claim.amount, int(claim.cause)]
    return flat


def _offer(offer: OfferView) -> list[object]:
    """Without its deadline, which is no part of the state."""
    return [
        offer.offer_id,
        offer.proposer,
        offer.recipient,
        offer.give_cash,
        offer.want_cash,
        list(offer.give_squares),
        list(offer.want_squares),
    ]


def _or_absent(value: int | None) -> int:
    return _ABSENT if value is None else value
