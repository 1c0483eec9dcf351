"""Applies changes to stored rooms: an open room that changes lasts on, and ratings are looked up."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.peers import rating_in
from opolyx_matchmaker.refusals import room_not_found
from opolyx_matchmaker.room import MOST_SEATS, Room
from opolyx_matchmaker.room_refusal import RoomRefusal
from opolyx_matchmaker.store.base import Transition

RatedTransition: TypeAlias = Callable[[Room, Mapping[str, int]], Room | RoomRefusal]
"""A transition that may need ratings, and is given those that are known."""


class StoredChanges:
    """Changes of rooms that haven't started."""

    def __init__(self, parts: Parts) -> None:
        """Use what the service was composed of."""
        self._store = parts.store
        self._progression = parts.progression
        self._clock = parts.clock
        self._idle_ms = int(parts.settings.room_idle_seconds * 1000)

    async def change(
        self, room_id: str, change: Transition, *, capacity: int = 1
    ) -> Room | RoomRefusal:
        """The room after a transition, or why it can't be."""
        return await self._store.change_room(room_id, self._lasting(change), capacity=capacity)

    async def change_rated(
        self, room_id: str, change: RatedTransition, capacity: int
    ) -> Room | RoomRefusal:
        """Apply a transition; the ratings that it misses are looked up, and it is tried again."""
        ratings: dict[str, int] = {}
        seat_it = self._lasting(lambda room: change(room, ratings))
        while True:
            outcome = await self._store.change_room(room_id, seat_it, capacity=capacity)
            missing = outcome.unrated if isinstance(outcome, RoomRefusal) else frozenset()
            if not missing or len(ratings) > MOST_SEATS:
                return outcome
            room = await self._store.get_room(room_id)
            if room is None:
                raise room_not_found(room_id)
            known = await self._progression.grants(sorted(missing))
            ratings |= {who: rating_in(known, who, room.ruleset) for who in missing}

    def until_ms(self) -> int:
        """Until when a room that changes now lasts, Unix milliseconds."""
        return self._clock.now_ms() + self._idle_ms

    def _lasting(self, change: Transition) -> Transition:
        """`change`, with the expiry of the room put off if it changes anything."""
        until_ms = self.until_ms()

        def changed(room: Room) -> Room | RoomRefusal:
            after = change(room)
            if isinstance(after, RoomRefusal) or after.revision == room.revision:
                return after
            return after.lasting(until_ms)

        return changed
