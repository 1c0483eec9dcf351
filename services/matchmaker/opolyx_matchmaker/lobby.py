"""What people do with rooms: each call is one step of the store, and its news to those who watch."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from opolyx_matchmaker.bots import bot_unavailable, built_in
from opolyx_matchmaker.entrant import BOT_ROLE, seat_for
from opolyx_matchmaker.ids import ROOM, new_code, new_id, read_code
from opolyx_matchmaker.limits import MinuteLimit
from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.peers import EngineRefused, EngineUnavailable
from opolyx_matchmaker.refusals import (
    already_playing,
    bad_field,
    draining,
    engine_unavailable,
    room_error,
    room_not_found,
    table_refused,
    unknown_ruleset,
)
from opolyx_matchmaker.room import (
    MOST_SEATS,
    OPEN_SEAT,
    Occupant,
    Room,
    RoomOptions,
    RoomState,
    Seat,
)
from opolyx_matchmaker.room_changes import (
    add_bot,
    begin_start,
    join,
    kick,
    leave,
    remove_bot,
    withdraw,
)
from opolyx_matchmaker.room_refusal import RefusalKind, RoomRefusal
from opolyx_matchmaker.room_wish import RoomWish
from opolyx_matchmaker.shown_grants import ShownGrants
from opolyx_matchmaker.start import Starter
from opolyx_matchmaker.store.base import Placement, Transition
from opolyx_matchmaker.stored_changes import RatedTransition, StoredChanges
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import FailedPrecondition

_LONGEST_REQUEST_ID: Final = 64


class Lobby:
    """Rooms before their games start."""

    def __init__(self, parts: Parts, starter: Starter) -> None:
        """Use what the service was composed of."""
        self._settings = parts.settings
        self._store = parts.store
        self._engine = parts.engine
        self._board = parts.board
        self._bots = parts.bots
        self._metrics = parts.metrics
        self._clock = parts.clock
        self._starter = starter
        self._rulesets = frozenset(parts.settings.rulesets)
        self._opened = MinuteLimit("rooms_per_minute", parts.settings.rooms_per_minute, parts.clock)
        self._wrong_codes = MinuteLimit(
            "wrong_codes_per_minute", parts.settings.wrong_codes_per_minute, parts.clock
        )
        self._shown_grants = ShownGrants(parts)
        self._changes = StoredChanges(parts)
        self._draining = False

    def drain(self) -> None:
        """Refuse every further change as retryable; reading goes on."""
        self._draining = True

    async def create(self, caller: Principal, wish: RoomWish) -> Room:
        """Open a room with the caller on its first seat; idempotent by request id."""
        self._check_open()
        if not 1 <= len(wish.request_id) <= _LONGEST_REQUEST_ID:
            raise bad_field("request_id", f"must have 1 to {_LONGEST_REQUEST_ID} characters")
        self._check_ruleset(wish.ruleset)
        request = f"{caller.subject}/{wish.request_id}"
        placed = await self._store.placements(caller.subject)  # first: see `_check_unplaced`
        if known := await self._store.find_request(request):
            return known
        _check_unplaced(placed)
        first = seat_for(caller, wish.nonce)
        self._opened.take(caller.subject)
        await self.check_table(wish.ruleset, wish.seats, wish.options)
        seats = (first, *[OPEN_SEAT] * (wish.seats - 1))
        options = wish.options
        if not wish.public and options.watchable is None:
            options = replace(options, watchable=False)
        room = await self.reserve(caller.subject, wish.ruleset, seats, wish.public, options)
        created = _changed(await self._store.create_room(room, request), room.room_id)
        self._shown_grants.find_out(created, caller.subject)
        return created

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
            expires_ms=self._changes.until_ms(),
        )

    async def join(
        self, caller: Principal, room_id: str, code: str, nonce: bytes
    ) -> tuple[Room, int]:
        """Take a seat; the same player again gets the same seat.

        A private room wants its code, from everybody who isn't in it yet. Wrong codes have a limit
        a minute; who has used it up learns nothing of a right one either.
        """
        self._check_open()
        seat = seat_for(caller, nonce)
        typed = read_code(code)
        if not room_id and not typed:
            raise bad_field("room_id", "room_id or code must be given")
        if typed:
            room_id = await self._read_code(caller.subject, room_id, typed)

        def enter(room: Room, ratings: Mapping[str, int]) -> Room | RoomRefusal:
            is_in = room.seat_of(caller.subject) is not None
            if not is_in and (typed != room.code if typed else not room.public):
                return RoomRefusal(RefusalKind.ROOM_NOT_FOUND)
            return join(room, seat, ratings)

        return await self._seat(caller, room_id, enter)

    async def leave(self, caller: Principal, room_id: str) -> None:
        """Leave a room that has not started."""
        await self._change(room_id, lambda room: leave(room, caller.subject))

    async def kick(self, caller: Principal, room_id: str, player_id: str) -> Room:
        """Unseat a person."""
        return await self._change(room_id, lambda room: kick(room, caller.subject, player_id))

    async def add_built_in(
        self, caller: Principal, room_id: str, policy: str, seat: int | None, request_id: str = ""
    ) -> Room:
        """Seat a bot that the engine plays; idempotent by request id, if there is one."""
        built_in(policy, 1)  # refuse an unknown policy before looking for the room
        request = _bot_request(caller, request_id)

        def seat_it(room: Room) -> Room | RoomRefusal:
            others = sum(other.occupant is Occupant.BUILT_IN for other in room.seats)
            return add_bot(
                room, caller.subject, built_in(policy, others + 1), seat, request=request
            )

        return await self._change(room_id, seat_it)

    async def add_offered(
        self,
        caller: Principal,
        room_id: str,
        player_id: str,
        seat: int | None,
        request_id: str = "",
    ) -> Room:
        """Seat a bot that offers itself, within its capacity and for whom it plays.

        Idempotent by request id, if there is one.
        """
        self._check_open()
        request = _bot_request(caller, request_id)
        room = await self.get(room_id)
        if request in room.requests:
            return room
        bot, offer = self._bots.offer_for(player_id, room.ruleset)
        outcome = await self._changes.change_rated(
            room_id,
            lambda now, ratings: add_bot(now, caller.subject, bot, seat, ratings, request),
            offer.max_games,
        )
        room = _changed(outcome, room_id)
        self._board.publish(room)
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
            await self._withdraw_from(placement.room_id, player_id)

    async def start(self, caller: Principal, room_id: str) -> str:
        """Start the game; again, the same game. Returns its id."""
        self._check_open()
        await self._check_offers(room_id)
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
            self._opened.take(caller.subject)
            seats = _table_again(played, seat)
            room = await self.reserve(caller.subject, played.ruleset, seats, False, played.options)
            again = _changed(await self._store.create_room(room, request), room.room_id)
        return (
            await self._seat(caller, again.room_id, lambda room, ratings: join(room, seat, ratings))
        )[0]

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

    async def check_table(self, ruleset: str, seats: int, options: RoomOptions) -> None:
        """Refuse a table that no game is played at; the engine knows, by the rules."""
        self._check_ruleset(ruleset)
        if seats > MOST_SEATS:  # before anybody makes so many
            raise bad_field("seats", f"must be at most {MOST_SEATS}, is {seats}")
        try:
            await self._engine.check_table(ruleset, seats, options)
        except EngineRefused as refused:
            raise table_refused(ruleset, refused) from None
        except EngineUnavailable:
            raise engine_unavailable() from None

    async def check_free(self, player_id: str) -> None:
        """Refuse early who is placed; the store decides in the end."""
        _check_unplaced(await self._store.placements(player_id))

    async def _withdraw_from(self, room_id: str, player_id: str) -> None:
        changed = await self._store.change_room(room_id, lambda room: withdraw(room, player_id))
        if isinstance(changed, Room):
            self._board.publish(changed)

    async def _check_offers(self, room_id: str) -> None:
        """Free the seats of bots that went away unnoticed, while this process was down, say."""
        room = await self.get(room_id)
        gone = [
            seat.player_id
            for seat in room.seats
            if seat.offered and not self._bots.is_offered(seat.player_id)
        ]
        if room.state is not RoomState.OPEN or not gone:
            return
        for player_id in gone:
            await self._withdraw_from(room_id, player_id)
        raise bot_unavailable(gone[0], "has ended its offer")

    async def _read_code(self, player_id: str, room_id: str, typed: str) -> str:
        """The id of the room whose code it is; `room_id`, too, for who is in that room already.

        A code counts as wrong until it proves right, so that many at once are no way round.
        """
        self._wrong_codes.take(player_id)
        found = await (
            self._store.get_room(room_id) if room_id else self._store.find_room(code=typed)
        )
        if found is None or (typed != found.code and found.seat_of(player_id) is None):
            raise room_not_found(room_id)
        self._wrong_codes.give_back(player_id)
        return found.room_id

    def _check_ruleset(self, ruleset: str) -> None:
        if ruleset not in self._rulesets:
            raise unknown_ruleset(ruleset)

    async def _seat(
        self, caller: Principal, room_id: str, enter: RatedTransition
    ) -> tuple[Room, int]:
        capacity = self._bots.capacity(caller.subject) if caller.role == BOT_ROLE else 1
        changed = await self._changes.change_rated(room_id, enter, capacity)
        if isinstance(changed, RoomRefusal) and changed.kind is RefusalKind.BOT_UNAVAILABLE:
            await self.check_free(caller.subject)  # a bot that is at its capacity is playing
        room = _changed(changed, room_id)
        self._board.publish(room)
        seat = room.seat_of(caller.subject)
        if seat is None:
            raise room_not_found(room_id)
        self._shown_grants.find_out(room, caller.subject)
        return room, seat

    async def _change(self, room_id: str, change: Transition, *, capacity: int = 1) -> Room:
        self._check_open()
        room = _changed(await self._changes.change(room_id, change, capacity=capacity), room_id)
        self._board.publish(room)
        return room

    def _check_open(self) -> None:
        if self._draining:
            raise draining()


def _bot_request(caller: Principal, request_id: str) -> str:
    """A caller's request as the room remembers it; empty if it has no id."""
    if len(request_id) > _LONGEST_REQUEST_ID:
        raise bad_field("request_id", f"must have at most {_LONGEST_REQUEST_ID} characters")
    return f"{caller.subject}/{request_id}" if request_id else ""


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
