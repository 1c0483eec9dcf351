"""Between the wire's messages and our own values."""

import base64
from collections.abc import Sequence
from typing import Final

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as engine_pb
from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from opolyx_matchmaker.accounts import Account, IssuedToken, Revocation
from opolyx_matchmaker.bots import MOST_GAMES, BotOffer
from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.peers import Fact, FactKind, GameLife, PlayerGrant
from opolyx_matchmaker.refusals import bad_field
from opolyx_matchmaker.room import Occupant, Room, RoomOptions, Seat

_ROLES: Final = {
    "player": identity_pb.ROLE_PLAYER,
    "bot": identity_pb.ROLE_BOT,
    "service": identity_pb.ROLE_SERVICE,
    "operator": identity_pb.ROLE_OPERATOR,
}
_OPTIONS: Final = ("start_cash", "round_cap", "turn_seconds", "watchable")
_LATEST_MS: Final = 1 << 62
_GAME_LIVES: Final = {
    engine_pb.GAME_STATE_FINISHED: GameLife.OVER,
    engine_pb.GAME_STATE_VOID: GameLife.OVER,
}


def account_message(account: Account) -> identity_pb.Account:
    """An account."""
    return identity_pb.Account(
        player_id=account.player_id,
        name=account.name,
        role=_ROLES.get(account.role, identity_pb.ROLE_UNSPECIFIED),
        owner_id=account.owner_id,
    )


def token_message(token: IssuedToken) -> identity_pb.Token:
    """A token."""
    return identity_pb.Token(
        jwt=token.jwt, token_id=token.token_id, expires_unix_ms=token.expires_ms
    )


def revocation_message(revocation: Revocation) -> identity_pb.Revocation:
    """A revocation."""
    return identity_pb.Revocation(
        token_id=revocation.token_id,
        player_id=revocation.player_id,
        before_unix_ms=revocation.before_ms,
    )


def room_message(room: Room, viewer_id: str) -> pb.Room:
    """A room as `viewer_id` may see it: the code only for those in it, the nonces for nobody."""
    return pb.Room(
        room_id=room.room_id,
        code=room.code if room.seat_of(viewer_id) is not None else "",
        ruleset=room.ruleset,
        seats=[_seat_message(number, seat) for number, seat in enumerate(room.seats)],
        creator_id=room.creator_id,
        public=room.public,
        options=_options_message(room.options),
        state=pb.RoomState.ValueType(int(room.state)),
        game_id=room.game_id,
        commitment=room.commitment,
        created_unix_ms=room.created_ms,
        expires_unix_ms=room.expires_ms,
        revision=room.revision,
    )


def options_of(message: pb.RoomOptions) -> RoomOptions:
    """What the house changes; the engine says whether the ruleset allows it."""
    return RoomOptions(
        **{name: getattr(message, name) for name in _OPTIONS if message.HasField(name)}
    )


def offer_of(message: pb.BotOffer) -> BotOffer:
    """What a bot offers; raises InvalidArgument."""
    if not 1 <= message.max_games <= MOST_GAMES:
        raise bad_field("offer.max_games", f"must be 1 to {MOST_GAMES}, is {message.max_games}")
    plays_bots = message.plays_bots if message.HasField("plays_bots") else True
    if not (message.plays_people or plays_bots):
        raise bad_field("offer.plays_bots", "a bot plays with people, with bots or with both")
    return BotOffer(
        max_games=message.max_games,
        rulesets=frozenset(message.rulesets),
        plays_people=message.plays_people,
        plays_bots=plays_bots,
        min_rating=message.min_rating if message.HasField("min_rating") else None,
        max_rating=message.max_rating if message.HasField("max_rating") else None,
    )


def page_token(room: Room) -> str:
    """Where a list goes on after `room`."""
    return base64.urlsafe_b64encode(f"{room.created_ms}.{room.room_id}".encode()).decode()


def read_page_token(token: str) -> tuple[int, str]:
    """Creation time and id after which a list goes on; raises InvalidArgument."""
    if not token:
        return 0, ""
    try:
        text, _, room_id = base64.urlsafe_b64decode(token.encode()).decode().partition(".")
        created_ms = int(text)
    except ValueError:
        created_ms, room_id = -1, ""
    if not 0 <= created_ms < _LATEST_MS:
        raise bad_field("page_token", "is not one of ours")
    return created_ms, room_id


def create_game_request(room: Room, grants: Sequence[SeatGrant]) -> allocation_pb.CreateGameRequest:
    """The start of a room's game; the same room and grants make the same bytes."""
    return allocation_pb.CreateGameRequest(
        game_id=room.game_id,
        ruleset=room.ruleset,
        seats=[
            _assignment(number, seat, grant)
            for number, (seat, grant) in enumerate(zip(room.seats, grants, strict=True))
        ],
        options=_house_options(room.options),
    )


def check_table_request(
    ruleset: str, seats: int, options: RoomOptions
) -> allocation_pb.CheckTableRequest:
    """The question whether a table could be played."""
    return allocation_pb.CheckTableRequest(
        ruleset=ruleset, seats=seats, options=_house_options(options)
    )


def fact_of(message: allocation_pb.Fact) -> Fact:
    """A fact as it concerns players."""
    kind = message.WhichOneof("kind")
    if kind == "seat_released":
        released = message.seat_released.player_id
        return Fact(message.number, message.game_id, FactKind.SEAT_RELEASED, released)
    over = kind in ("game_finished", "game_voided")
    return Fact(message.number, message.game_id, FactKind.GAME_OVER if over else FactKind.OTHER)


def life_of(message: engine_pb.GetGameResponse) -> GameLife:
    """What became of a game."""
    return _GAME_LIVES.get(message.snapshot.state, GameLife.RUNNING)


def grant_of(message: progression_pb.Grant) -> PlayerGrant:
    """What a player brings."""
    cards = tuple((card.square, card.bonus_bp) for card in message.card_bonuses)
    ratings = {rating.mode: rating.ordinal for rating in message.ratings}
    return PlayerGrant(SeatGrant(message.vip, cards), ratings)


def _seat_message(number: int, seat: Seat) -> pb.RoomSeat:
    return pb.RoomSeat(
        seat=number,
        occupant=pb.Occupant.ValueType(int(seat.occupant)),
        player_id=seat.player_id,
        name=seat.name,
        policy=seat.policy,
        cards=[pb.SeatCard(square=square, bonus_bp=bonus) for square, bonus in seat.grant.cards],
        vip=seat.grant.vip,
    )


def _options_message(options: RoomOptions) -> pb.RoomOptions:
    message = pb.RoomOptions()
    for name in _OPTIONS:
        if (value := getattr(options, name)) is not None:
            setattr(message, name, value)
    return message


def _house_options(options: RoomOptions) -> allocation_pb.HouseOptions:
    message = allocation_pb.HouseOptions()
    for name in _OPTIONS:
        if (value := getattr(options, name)) is not None:
            setattr(message, name, value)
    return message


def _assignment(number: int, seat: Seat, grant: SeatGrant) -> allocation_pb.SeatAssignment:
    kinds = {
        Occupant.PERSON: engine_pb.SEAT_KIND_PERSON,
        Occupant.BOT: engine_pb.SEAT_KIND_BOT,
        Occupant.BUILT_IN: engine_pb.SEAT_KIND_BUILT_IN,
    }
    return allocation_pb.SeatAssignment(
        seat=engine_pb.Seat(
            seat=number,
            player_id=seat.player_id,
            name=seat.name,
            kind=kinds[seat.occupant],
            policy=seat.policy,
            cards=[
                engine_pb.SeatCard(square=square, bonus_bp=bonus) for square, bonus in grant.cards
            ],
            vip=grant.vip,
        ),
        nonce=seat.nonce,
    )
