"""The public state to the wire: whole, and what of it changed.

The core's views are tuples of ints in the order of named fields; the names are the protos'. A test
compares them by reflection.
"""

from functools import lru_cache
from typing import Any, Final

from opolyx.engine.v1 import game_pb2 as pb
from opolyx_engine.clocks import Clocks
from opolyx_engine.rpc.shown import Shown
from opolyx_rules import engine, views
from opolyx_rules.content.boards import PROPERTIES
from opolyx_rules.ids import NOBODY
from opolyx_rules.state import Offer, State
from opolyx_rules.views import Ints

_TURN_SCALARS: Final = views.TURN_FIELDS[:-3]  # the last three are the dice
_ABSENT: Final = frozenset({"financed_square", "owner", "awaited_seat"})


def game_view(state: State, clocks: Clocks) -> pb.GameView:
    """The whole public state."""
    view = pb.GameView(
        players=[_player(views.player_view(state, seat)) for seat in range(state.seats)],
        properties=[_property(views.property_view(state, square)) for square in PROPERTIES],
        debts=_debts(state),
        offers=_offers(state, clocks),
    )
    _fill_turn(view.turn, views.turn_view(state))
    auction = views.auction_view(state)
    if auction:
        view.auction.CopyFrom(_auction(auction))
    if state.over:
        view.result.CopyFrom(result_to_proto(state))
    return view


def fill_delta(delta: pb.GameDelta, before: Shown, after: Shown, clocks: Clocks) -> None:
    """Put into `delta` what changed between two states of a game."""
    for player, earlier in zip(after.players, before.players, strict=True):
        if player != earlier:
            _fill(delta.players.add(), views.PLAYER_FIELDS, player)
    _fill_of_states(delta, before.state, after.state, clocks)


def _fill_of_states(delta: pb.GameDelta, before: State, after: State, clocks: Clocks) -> None:
    for square in _touched(before, after):
        delta.properties.append(_property(views.property_view(after, square)))
    turn = views.turn_view(after)
    if turn != views.turn_view(before):
        _fill_turn(delta.turn, turn)
    _auction_part(delta, before, after)
    if before.debts != after.debts or (after.debts and before.stack != after.stack):
        delta.debts.SetInParent()
        delta.debts.debts.extend(_debts(after))
    if before.offers != after.offers:
        delta.offers.SetInParent()
        delta.offers.offers.extend(_offers(after, clocks))
    if after.over and not before.over:
        delta.result.CopyFrom(result_to_proto(after))


def _auction_part(delta: pb.GameDelta, before: State, after: State) -> None:
    auction = views.auction_view(after)
    if auction == views.auction_view(before):
        return
    delta.auction.SetInParent()
    if auction:
        delta.auction.auction.CopyFrom(_auction(auction))


def result_to_proto(state: State) -> pb.ResultView:
    """The result of a game that is over."""
    ended = engine.result(state)
    return pb.ResultView(
        cause=pb.EndCause.ValueType(ended.cause),
        round=ended.round,
        seats=[
            pb.SeatResult(
                seat=line.seat,
                place=line.place,
                survived=line.survived,
                net_worth=line.net_worth,
                full_groups=line.full_groups,
            )
            for line in ended.seats
        ],
    )


def _touched(before: State, after: State) -> list[int]:
    """Squares of properties whose view differs, ascending; most steps touch none."""
    if (
        before.owner == after.owner
        and before.level == after.level
        and before.mortgaged == after.mortgaged
        and before.built == after.built
    ):
        return []
    return [
        square
        for square in PROPERTIES
        if before.owner[square] != after.owner[square]
        or before.level[square] != after.level[square]
        or before.mortgaged[square] != after.mortgaged[square]
        or before.built[square] != after.built[square]
    ]


def _fill(message: Any, names: tuple[str, ...], values: Ints) -> None:
    for name, value in zip(names, values, strict=True):
        if name in _ABSENT:
            if value != NOBODY:
                setattr(message, name, value)
        elif value:
            setattr(message, name, value)


def _player(values: Ints) -> pb.PlayerView:
    message = pb.PlayerView()
    _fill(message, views.PLAYER_FIELDS, values)
    return message


@lru_cache(maxsize=2048)
def _property(values: Ints) -> pb.PropertyView:
    message = pb.PropertyView()
    _fill(message, views.PROPERTY_FIELDS, values)
    return message


def _fill_turn(message: pb.TurnView, values: Ints) -> None:
    _fill(message, _TURN_SCALARS, values[: len(_TURN_SCALARS)])
    die1, die2, third = values[len(_TURN_SCALARS) :]
    if die1:
        message.dice.extend((die1, die2, third) if third else (die1, die2))


def _auction(values: Ints) -> pb.AuctionView:
    square, bid, leader, next_bid, *bidders = values
    message = pb.AuctionView(square=square, bid=bid, next_bid=next_bid, bidders=bidders)
    if leader != NOBODY:
        message.leader = leader
    return message


def _debts(state: State) -> list[pb.DebtView]:
    return [_debt(values) for values in views.debts_view(state)] if state.debts else []


def _debt(values: Ints) -> pb.DebtView:
    message = pb.DebtView(debtor=values[0])
    for place in range(1, len(values), 3):
        creditor, amount, cause = values[place : place + 3]
        claim = message.claims.add(amount=amount, cause=pb.CashCause.ValueType(cause))
        if creditor != NOBODY:
            claim.creditor = creditor
    return message


def _offers(state: State, clocks: Clocks) -> list[pb.OfferView]:
    return [_offer(offer, clocks) for offer in state.offers]


def _offer(offer: Offer, clocks: Clocks) -> pb.OfferView:
    offer_id, proposer, recipient, give_cash, want_cash, give, want = views.offer_view(offer)
    return pb.OfferView(
        offer_id=offer_id,
        proposer=proposer,
        recipient=recipient,
        give_cash=give_cash,
        give_squares=give,
        want_cash=want_cash,
        want_squares=want,
        deadline_unix_ms=clocks.offer_deadline_ms(offer_id),
    )
