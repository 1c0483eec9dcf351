"""The start of a game, in steps that can each be interrupted.

A start is: STARTING stored, grants fixed, game created, STARTED stored. Every step may be done
again: the grants stay as they were fixed first, and the engine makes one game of a game id. So a
start that was interrupted anywhere is simply done once more, by the next caller or the sweeper.
Only the engine's plain refusal, when no earlier call can have got through, undoes a start.
"""

import asyncio
from typing import Final

import structlog

from opolyx_matchmaker.grants import NO_GRANT, SeatGrant
from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.peers import EngineRefused, EngineUnavailable, GameLife
from opolyx_matchmaker.refusals import (
    engine_unavailable,
    room_error,
    room_not_found,
    table_refused,
)
from opolyx_matchmaker.room import Occupant, Room, RoomState
from opolyx_matchmaker.room_changes import close, finish_start, undo_start
from opolyx_matchmaker.room_refusal import RoomRefusal
from opolyx_servicekit.errors import ServiceError, Unavailable
from opolyx_servicekit.streams import BackOff

_log = structlog.get_logger(__name__)

_BUSY: Final = frozenset({"PAUSED", "DRAINING", "STORE_UNAVAILABLE", "LIMIT"})
_LOST: Final = frozenset({"NO_RESERVATION", "GAME_CONFLICT"})


class Starter:
    """Carries rooms from STARTING to STARTED."""

    def __init__(self, parts: Parts) -> None:
        """Start nothing yet."""
        self._settings = parts.settings
        self._store = parts.store
        self._engine = parts.engine
        self._progression = parts.progression
        self._board = parts.board
        self._bots = parts.bots
        self._tasks = parts.tasks
        self._metrics = parts.metrics
        self._clock = parts.clock
        self._running: dict[str, asyncio.Task[Room | ServiceError]] = {}

    async def start(self, room: Room) -> Room:
        """Finish the start of a room that is STARTING; callers of one room share the work.

        It goes on if the caller goes away.

        Raises:
            ServiceError: the engine said no and the room is as it was before; or it can't be
                reached, and the start is tried again later.
        """
        if room.state is RoomState.STARTED:
            return room
        task = self._running.get(room.room_id)
        if task is None:
            task = self._tasks.start(self._outcome(room), name="start_game")
            self._running[room.room_id] = task
            task.add_done_callback(lambda _: self._running.pop(room.room_id, None))
        outcome = await asyncio.shield(task)
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome

    async def resume(self, room_id: str) -> bool:
        """Finish a start that was interrupted; what fails is left for the next time.

        Returns:
            Whether the engine could be reached; if not, others need not be tried now.
        """
        room = await self._store.get_room(room_id)
        if room is None or room.state is not RoomState.STARTING:
            return True
        try:
            await self.start(room)
            _log.info("start_resumed", room_id=room_id, game_id=room.game_id)
        except ServiceError as error:
            _log.warning("start_not_resumed", room_id=room_id, reason=error.reason)
            return not isinstance(error, Unavailable)
        return True

    async def _outcome(self, room: Room) -> Room | ServiceError:
        """Expected errors are returned, because a task that raises is logged as a bug."""
        try:
            return await self._run(room)
        except ServiceError as error:
            self._metrics.starts_failed.labels(error.reason).inc()
            return error

    async def _run(self, room: Room) -> Room:
        grants = await self._store.keep_grants(room.room_id, await self._grants(room))
        await self._create(room, grants)
        started = await self._store.change_room(room.room_id, lambda now: finish_start(now, grants))
        if isinstance(started, RoomRefusal):
            raise room_error(started, room.room_id)
        self._board.publish(started)
        self._bots.tell_seated(started)
        self._metrics.games_started.labels(room.ruleset).inc()
        _log.info("game_started", room_id=room.room_id, game_id=room.game_id)
        return started

    async def _grants(self, room: Room) -> list[SeatGrant]:
        """What the seats bring; nothing if progression can't say so in time."""
        people = [seat.player_id for seat in room.seats if seat.occupant is Occupant.PERSON]
        known = await self._progression.grants(people) if people else {}
        return [
            known[seat.player_id].seat if seat.player_id in known else NO_GRANT
            for seat in room.seats
        ]

    async def _create(self, room: Room, grants: list[SeatGrant]) -> None:
        """Have the engine make the game, however often that needs to be asked."""
        waits = BackOff(self._settings.retry_base_seconds, self._settings.retry_cap_seconds)
        for attempt in range(self._settings.start_attempts):
            if attempt:
                await asyncio.sleep(waits.next_seconds())
            try:
                return await self._engine.create(room, grants)
            except EngineUnavailable as lost:
                _log.info("create_game_unanswered", room_id=room.room_id, error=str(lost))
            except EngineRefused as refused:
                if await self._is_known(room):  # an earlier call, whose answer was lost, made it
                    return None
                await self._undo(room, refused)
        _log.warning("start_interrupted", room_id=room.room_id, game_id=room.game_id)
        raise engine_unavailable()

    async def _is_known(self, room: Room) -> bool:
        try:
            return await self._engine.life(room.game_id) is not GameLife.GONE
        except (EngineUnavailable, EngineRefused):
            raise engine_unavailable() from None

    async def _undo(self, room: Room, refused: EngineRefused) -> None:
        """Open the room again, or close it if its game can never be made; then say why."""
        until_ms = self._clock.now_ms() + int(self._settings.room_idle_seconds * 1000)
        if refused.reason in _LOST:
            changed = await self._store.change_room(room.room_id, close)
        else:
            changed = await self._store.change_room(
                room.room_id, lambda now: undo_start(now, until_ms)
            )
        if isinstance(changed, Room):
            self._board.publish(changed)
        _log.warning("start_refused", room_id=room.room_id, reason=refused.reason)
        raise _refusal_of_engine(room, refused)


def _refusal_of_engine(room: Room, refused: EngineRefused) -> ServiceError:
    if refused.reason in _BUSY:
        return engine_unavailable()
    if refused.reason in _LOST:
        return room_not_found(room.room_id)
    return table_refused(room.ruleset, refused)
