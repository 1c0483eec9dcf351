"""Seats between the wire and a game's header."""

from typing import Final

from opolyx.engine.v1 import allocation_service_pb2 as allocation
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.errors import invalid_field
from opolyx_engine.header import BUILT_IN, GameHeader, Holder, HouseOptions
from opolyx_rules.content.boards import PROPERTIES
from opolyx_rules.ruleset import Ruleset

LONGEST_NONCE: Final = 64
LONGEST_NAME: Final = 64
LONGEST_PLAYER_ID: Final = 128
MOST_CARD_BP: Final = 10_000


def seats_to_proto(header: GameHeader, ruleset: Ruleset) -> list[pb.Seat]:
    """Who sits where."""
    return [
        pb.Seat(
            seat=seat,
            player_id=holder.player_id,
            name=holder.name,
            kind=pb.SeatKind.ValueType(holder.kind),
            side=seat % ruleset.sides if ruleset.sides else seat,
            policy=holder.policy,
            cards=[pb.SeatCard(square=square, bonus_bp=bonus) for square, bonus in holder.cards],
            vip=holder.vip,
        )
        for seat, holder in enumerate(header.holders)
    ]


def house_to_proto(options: HouseOptions) -> pb.HouseRules:
    """What the house changed."""
    return pb.HouseRules(
        start_cash=options.start_cash,
        round_cap=options.round_cap,
        turn_seconds=options.turn_seconds,
    )


def header_from_proto(
    request: allocation.CreateGameRequest, policies: frozenset[str]
) -> GameHeader:
    """The header of a game to start.

    Raises:
        InvalidArgument: a field is missing or out of range.
    """
    header = GameHeader(
        game_id=request.game_id,
        ruleset=request.ruleset,
        holders=tuple(_holder(seat, number, policies) for number, seat in enumerate(request.seats)),
        options=options_from_proto(request.options),
        watchable=request.options.watchable if request.options.HasField("watchable") else True,
    )
    players = [holder.player_id for holder in header.holders if holder.player_id]
    if len(set(players)) != len(players):
        raise invalid_field("seats", "must not hold a player twice")
    return header


def options_from_proto(options: allocation.HouseOptions) -> HouseOptions:
    """What the house changes of the ruleset."""
    return HouseOptions(
        start_cash=options.start_cash if options.HasField("start_cash") else None,
        round_cap=options.round_cap if options.HasField("round_cap") else None,
        turn_seconds=options.turn_seconds if options.HasField("turn_seconds") else None,
    )


def _holder(assignment: allocation.SeatAssignment, number: int, policies: frozenset[str]) -> Holder:
    seat, path = assignment.seat, f"seats[{number}]"
    if seat.seat != number:
        raise invalid_field(f"{path}.seat.seat", f"must be {number}, seats are in order")
    if seat.kind not in (pb.SEAT_KIND_PERSON, pb.SEAT_KIND_BOT, pb.SEAT_KIND_BUILT_IN):
        raise invalid_field(f"{path}.seat.kind", "must be set")
    if (seat.kind == BUILT_IN) != (not seat.player_id):
        raise invalid_field(
            f"{path}.seat.player_id", "is for people and bots, not for built-in ones"
        )
    if len(seat.player_id) > LONGEST_PLAYER_ID:
        raise invalid_field(
            f"{path}.seat.player_id", f"must have at most {LONGEST_PLAYER_ID} characters"
        )
    if seat.kind == BUILT_IN and seat.policy not in policies:
        raise invalid_field(f"{path}.seat.policy", f"must be one of {', '.join(sorted(policies))}")
    if len(seat.name) > LONGEST_NAME:
        raise invalid_field(f"{path}.seat.name", f"must have at most {LONGEST_NAME} characters")
    if len(assignment.nonce) > LONGEST_NONCE:
        raise invalid_field(f"{path}.nonce", f"must have at most {LONGEST_NONCE} bytes")
    for card in seat.cards:
        if card.square not in PROPERTIES or card.bonus_bp > MOST_CARD_BP:
            raise invalid_field(f"{path}.seat.cards", "must be for properties, within bounds")
    return Holder(
        player_id=seat.player_id,
        name=seat.name,
        kind=int(seat.kind),
        policy=seat.policy if seat.kind == BUILT_IN else "",
        cards=_best_cards(seat),
        vip=seat.vip,
        nonce=assignment.nonce,
    )


def _best_cards(seat: pb.Seat) -> tuple[tuple[int, int], ...]:
    """Only the best card of a square counts (RENT-5)."""
    best: dict[int, int] = {}
    for card in seat.cards:
        best[card.square] = max(card.bonus_bp, best.get(card.square, 0))
    return tuple(sorted(best.items()))
