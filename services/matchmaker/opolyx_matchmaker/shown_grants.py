"""Finds out what those who take a seat bring, so that the others in the room see it."""

from typing import Final

import structlog

from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.room import Occupant, Room, RoomState
from opolyx_matchmaker.room_changes import show_grant
from opolyx_servicekit.errors import EnvironmentFault

_log = structlog.get_logger(__name__)

_MOST_ASKED: Final = 100


class ShownGrants:
    """Asks progression after a seat was taken, and never makes anybody wait for the answer.

    What counts is fixed at the start, by `start`; this is for the eye. So it is left out, and the
    room shows nothing, when progression is away or as many questions as may be are open already.
    Whoever joins again, which changes nothing else, is asked for again.
    """

    def __init__(self, parts: Parts) -> None:
        """Ask nothing yet."""
        self._store = parts.store
        self._progression = parts.progression
        self._board = parts.board
        self._tasks = parts.tasks
        self._asked: set[tuple[str, str]] = set()

    def find_out(self, room: Room, player_id: str) -> None:
        """Show what somebody who has a seat in an open room brings, as soon as it is known."""
        number, question = room.seat_of(player_id), (room.room_id, player_id)
        if number is None or room.seats[number].occupant is not Occupant.PERSON:
            return  # bots bring nothing
        if room.state is not RoomState.OPEN or question in self._asked:
            return
        if len(self._asked) >= _MOST_ASKED:
            _log.info("grant_not_shown", room_id=room.room_id, why="too many are asked for")
            return
        self._asked.add(question)
        task = self._tasks.start(self._show(*question), name="show_grant")
        task.add_done_callback(lambda _: self._asked.discard(question))

    async def _show(self, room_id: str, player_id: str) -> None:
        """Ask, within progression's timeout, and tell the room's watchers what is new."""
        known = (await self._progression.grants([player_id])).get(player_id)
        if known is None:
            return
        try:
            changed = await self._store.change_room(
                room_id, lambda room: show_grant(room, player_id, known.seat)
            )
        except EnvironmentFault as error:
            _log.info("grant_not_shown", room_id=room_id, why=error.reason)
            return
        if isinstance(changed, Room):
            self._board.publish(changed)
