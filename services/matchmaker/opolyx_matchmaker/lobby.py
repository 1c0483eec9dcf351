"""What people do with rooms: each call is one step of the store, and its news to those who watch."""

from dataclasses import dataclass
from typing import Final

from opolyx_matchmaker.bots import BotOffer, bot_unavailable, built_in
from opolyx_matchmaker.ids import ROOM, new_code, new_id, read_code
from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.peers import EngineRefused, EngineUnavailable
from opolyx_matchmaker.refusals import (
    already_playing,
    bad_field,
    draining,
    engine_unavailable,
    room_error,
    room_not_found,
)
from opolyx_matchmaker.rooms import (
    LEAST_SEATS,
    MOST_SEATS,
    OPEN_SEAT,
    Occupant,
    RefusalKind,
    Room,
    RoomOptions,
    RoomRefusal,
    RoomState,
    Seat,
    add_bot,
    begin_start,
    join,
    kick,
    leave,
    remove_bot,
    withdraw,
)
from opolyx_matchmaker.start import Starter
from opolyx_matchmaker.store.base import Placement, Transition
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import FailedPrecondition, InvalidArgument, PermissionDenied

_LONGEST_NONCE: Final = 64
_LONGEST_REQUEST_ID: Final = 64
_BOT_ROLE: Final = "bot"


@dataclass(frozen=True, slots=True)
class RoomWish:
    """The room that somebody wants to open."""

    request_id: str
    """Made by the caller; the same again gets the same room."""

    ruleset: str
    """The ruleset."""

    seats: int
    """How many seats."""

    public: bool
    """Whether it is listed."""

    options: RoomOptions
    """What the house changes."""

    nonce: bytes
    """The caller's share in the dice."""


class Lobby:
    """Rooms before their games start."""

    def __init__(self, parts: Parts, starter: Starter) -> None:
        """Use what the service was composed of."""
        self._settings = parts.settings
        self._store = parts.store
        self._engine = parts.engine
        self._progression = parts.progression
        self._board = parts.board
        self._bots = parts.bots
        self._metrics = parts.metrics
        self._clock = parts.clock
        self._starter = starter
        self._rulesets = frozenset(parts.settings.rulesets)
        self._draining = False

    def drain(self) -> None:
        """Refuse every further change as retryable; reading goes on."""
        self._draining = True

    async def create(self, caller: Principal, wish: RoomWish) -> Room:
        """Open a room with the caller on its first seat; idempotent by request id."""
        self._check_open()
        if not 1 <= len(wish.request_id) <= _LONGEST_REQUEST_ID:
            raise bad_field("request_id", f"must have 1 to {_LONGEST_REQUEST_ID} characters")
        self.check_table(wish.ruleset, wish.seats)
        request = f"{caller.subject}/{wish.request_id}"
        placed = await self._store.placements(caller.subject)  # first: see `_check_unplaced`
        if known := await self._store.find_request(request):
            return known
        _check_unplaced(placed)
        first = seat_for(caller, wish.nonce)
        seats = (first, *[OPEN_SEAT] * (wish.seats - 1))
        room = await self.reserve(caller.subject, wish.ruleset, seats, wish.public, wish.options)
        return _changed(await self._store.create_room(room, request), room.room_id)

    async def reserve(
        self,
        creator_id: str,
        ruleset: str,
        seats: tuple[Seat, ...],
        public: bool,
        options: RoomOptions,
    ) -> Room:
        """A new room with a reserved game, not stored yet."""
        now_ms = self._clock.now_ms()
        room_id = new_id(ROOM, now_ms)
        try:
            reservation = await self._engine.reserve(room_id)
        except (EngineUnavailable, EngineRefused):
            raise engine_unavailable() from None
        self._metrics.rooms_opened.labels(ruleset).inc()
        return Room(
            room_id=room_id,
            code=new_code(),
            ruleset=ruleset,
            seats=seats,
            creator_id=creator_id,
            public=public,
            options=options,
            state=RoomState.OPEN,
            game_id=reservation.game_id,
            commitment=reservation.commitment,
            created_ms=now_ms,
            expires_ms=self._until_ms(),
        )

    async def join(
        self, caller: Principal, room_id: str, code: str, nonce: bytes
    ) -> tuple[Room, int]:
        """Take a seat; the same player again gets the same seat.

        A private room wants its code, from everybody who isn't in it yet.
        """
        self._check_open()
        seat = seat_for(caller, nonce)
        typed = read_code(code)
        if not room_id and not typed:
            raise bad_field("room_id", "room_id or code must be given")
        if not room_id:
            found = await self._store.find_room(code=typed)
            if found is None:
                raise room_not_found("")
            room_id = found.room_id

        def enter(room: Room) -> Room | RoomRefusal:
            is_in = room.seat_of(caller.subject) is not None
            if not is_in and (typed != room.code if typed else not room.public):
                return RoomRefusal(RefusalKind.ROOM_NOT_FOUND)
            return join(room, seat)

        return await self._seat(caller, room_id, enter)

    async def leave(self, caller: Principal, room_id: str) -> None:
        """Leave a room that has not started."""
        await self._change(room_id, lambda room: leave(room, caller.subject))

    async def kick(self, caller: Principal, room_id: str, player_id: str) -> Room:
        """Unseat a person."""
        return await self._change(room_id, lambda room: kick(room, caller.subject, player_id))

    async def add_built_in(
        self, caller: Principal, room_id: str, policy: str, seat: int | None
    ) -> Room:
        """Seat a bot that the engine plays."""
        built_in(policy, 1)  # refuse an unknown policy before looking for the room

        def seat_it(room: Room) -> Room | RoomRefusal:
            others = sum(other.occupant is Occupant.BUILT_IN for other in room.seats)
            return add_bot(room, caller.subject, built_in(policy, others + 1), seat)

        return await self._change(room_id, seat_it)

    async def add_offered(
        self, caller: Principal, room_id: str, player_id: str, seat: int | None
    ) -> Room:
        """Seat a bot that offers itself, within its capacity and for whom it plays."""
        room = await self.get(room_id)
        bot, offer = self._bots.offer_for(player_id, room.ruleset)
        await self._check_opponents(room, player_id, offer)
        room = await self._change(
            room_id,
            lambda now: add_bot(now, caller.subject, bot, seat),
            capacity=offer.max_games,
        )
        if not self._bots.is_offered(player_id):  # it went away meanwhile, and saw no such room
            await self.withdraw(player_id)
            raise bot_unavailable(player_id, "has just ended its offer")
        return room

    async def remove_bot(self, caller: Principal, room_id: str, seat: int) -> Room:
        """Unseat a bot."""
        return await self._change(room_id, lambda room: remove_bot(room, caller.subject, seat))

    async def withdraw(self, player_id: str) -> None:
        """Take a bot whose offer ended out of the rooms that have not started."""
        for placement in await self._store.placements(player_id):
            changed = await self._store.change_room(
                placement.room_id, lambda room: withdraw(room, player_id)
            )
            if isinstance(changed, Room):
                self._board.publish(changed)

    async def start(self, caller: Principal, room_id: str) -> str:
        """Start the game; again, the same game. Returns its id."""
        self._check_open()
        room = _changed(
            await self._store.change_room(room_id, lambda now: begin_start(now, caller.subject)),
            room_id,
        )
        self._board.publish(room)
        return (await self._starter.start(room)).game_id

    async def rematch(self, caller: Principal, game_id: str, nonce: bytes) -> Room:
        """Open a room with the table of a game that is over, or join the one that was opened."""
        self._check_open()
        played = await self._store.find_room(game_id=game_id)
        if played is None or played.seat_of(caller.subject) is None:
            raise room_not_found("")
        if not played.over:
            raise FailedPrecondition(
                "GAME_RUNNING", f"game {game_id} is not over", metadata={"game_id": game_id}
            )
        seat = seat_for(caller, nonce)
        placed = await self._store.placements(caller.subject)  # first: see `_check_unplaced`
        request = f"rematch/{game_id}"
        again = await self._store.find_request(request)
        while again is not None and again.state is RoomState.CLOSED:
            request = f"rematch/{again.game_id}"
            again = await self._store.find_request(request)
        if again is None:
            _check_unplaced(placed)
            seats = _table_again(played, seat)
            room = await self.reserve(caller.subject, played.ruleset, seats, False, played.options)
            again = _changed(await self._store.create_room(room, request), room.room_id)
        return (await self._seat(caller, again.room_id, lambda room: join(room, seat)))[0]

    async def get(self, room_id: str) -> Room:
        """One room; raises NotFound."""
        room = await self._store.get_room(room_id)
        if room is None:
            raise room_not_found(room_id)
        return room

    async def listed(self, ruleset: str, after: tuple[int, str], limit: int) -> list[Room]:
        """Public rooms with an open seat, oldest first."""
        if ruleset and ruleset not in self._rulesets:
            raise bad_field("ruleset", f"{ruleset!r} is not known")
        return await self._store.list_rooms(ruleset, after, limit, self._clock.now_ms())

    async def whereabouts(self, caller: Principal) -> tuple[Placement, Room] | None:
        """Where the caller is, if anywhere."""
        for placement in await self._store.placements(caller.subject):
            if room := await self._store.get_room(placement.room_id):
                return placement, room
        return None

    def check_table(self, ruleset: str, seats: int) -> None:
        """Refuse rulesets and numbers of seats that no room has (TABLE-1, TABLE-2)."""
        if ruleset not in self._rulesets:
            raise InvalidArgument(
                "UNKNOWN_RULESET",
                f"ruleset {ruleset!r} is not known",
                metadata={"ruleset": ruleset},
                fields={"ruleset": "is not known"},
            )
        if not LEAST_SEATS <= seats <= MOST_SEATS:
            raise bad_field("seats", f"must be {LEAST_SEATS} to {MOST_SEATS}, is {seats}")

    async def check_free(self, player_id: str) -> None:
        """Refuse early who is placed; the store decides in the end."""
        _check_unplaced(await self._store.placements(player_id))

    async def _seat(self, caller: Principal, room_id: str, enter: Transition) -> tuple[Room, int]:
        capacity = self._bots.capacity(caller.subject) if caller.role == _BOT_ROLE else 1
        changed = await self._store.change_room(room_id, self._lasting(enter), capacity=capacity)
        if isinstance(changed, RoomRefusal) and changed.kind is RefusalKind.BOT_UNAVAILABLE:
            await self.check_free(caller.subject)  # a bot that is at its capacity is playing
        room = _changed(changed, room_id)
        self._board.publish(room)
        seat = room.seat_of(caller.subject)
        if seat is None:
            raise room_not_found(room_id)
        return room, seat

    async def _change(self, room_id: str, change: Transition, *, capacity: int = 1) -> Room:
        self._check_open()
        room = _changed(
            await self._store.change_room(room_id, self._lasting(change), capacity=capacity),
            room_id,
        )
        self._board.publish(room)
        return room

    def _lasting(self, change: Transition) -> Transition:
        """`change`, with the expiry of the room put off if it changes anything."""
        until_ms = self._until_ms()

        def changed(room: Room) -> Room | RoomRefusal:
            after = change(room)
            if isinstance(after, RoomRefusal) or after.revision == room.revision:
                return after
            return after.lasting(until_ms)

        return changed

    def _until_ms(self) -> int:
        return self._clock.now_ms() + int(self._settings.room_idle_seconds * 1000)

    def _check_open(self) -> None:
        if self._draining:
            raise draining()

    async def _check_opponents(self, room: Room, player_id: str, offer: BotOffer) -> None:
        """Refuse a table with somebody whose rating the bot doesn't play."""
        if offer.min_rating is None and offer.max_rating is None:
            return
        others = [seat.player_id for seat in room.seats if seat.player_id]
        known = await self._progression.grants(others)
        mode = room.ruleset.partition("@")[0]
        for other in others:
            rating = known[other].ratings.get(mode, 0) if other in known else 0
            if not offer.takes_rating(rating):
                raise bot_unavailable(player_id, f"does not play a rating of {rating}")


def seat_for(caller: Principal, nonce: bytes) -> Seat:
    """The caller on a seat; raises InvalidArgument for a bad nonce."""
    if len(nonce) > _LONGEST_NONCE:
        raise bad_field("nonce", f"must have at most {_LONGEST_NONCE} bytes")
    if caller.role not in ("player", _BOT_ROLE):
        raise PermissionDenied("NOT_IN_ROOM", f"a {caller.role} takes no seat")
    occupant = Occupant.BOT if caller.role == _BOT_ROLE else Occupant.PERSON
    name = caller.name or caller.subject
    return Seat(occupant=occupant, player_id=caller.subject, name=name, nonce=nonce)


def _changed(outcome: Room | RoomRefusal, room_id: str) -> Room:
    if isinstance(outcome, RoomRefusal):
        raise room_error(outcome, room_id)
    return outcome


def _check_unplaced(placed: list[Placement]) -> None:
    """Refuse who is placed.

    Where the same request may have made the placement meanwhile, the placements must be read
    before the request is looked up: both are stored in one step, so the request is seen then.
    """
    if placed:
        raise already_playing(placed[0].room_id, placed[0].game_id)


def _table_again(played: Room, first: Seat) -> tuple[Seat, ...]:
    """The seats of a rematch: the built-in bots and the first who asks, each where they were."""
    number = played.seat_of(first.player_id)
    return tuple(
        first if at == number else (seat if seat.occupant is Occupant.BUILT_IN else OPEN_SEAT)
        for at, seat in enumerate(played.seats)
    )
