"""Puts right what was left behind: expired rooms, interrupted starts, games that are gone."""

import asyncio
from typing import Final

import structlog

from opolyx_matchmaker.bots import BotDirectory
from opolyx_matchmaker.peers import Engine, EngineRefused, EngineUnavailable, GameLife
from opolyx_matchmaker.revocations import Revocations
from opolyx_matchmaker.rooms import Occupant, Room, end, expire
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.start import Starter
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.watch import RoomBoard
from opolyx_servicekit.errors import EnvironmentFault
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

_MOST_A_SWEEP: Final = 200


class Sweeper:
    """Sweeps at start and then periodically.

    A player of a game that is gone is free at the latest one sweep after the time after which
    games are checked (`gone_check_seconds`).
    """

    def __init__(
        self,
        settings: MatchmakerSettings,
        store: Store,
        engine: Engine,
        starter: Starter,
        board: RoomBoard,
        bots: BotDirectory,
        revocations: Revocations,
        clock: Clock,
    ) -> None:
        """Sweep nothing before `run`."""
        self._settings = settings
        self._store = store
        self._engine = engine
        self._starter = starter
        self._board = board
        self._bots = bots
        self._revocations = revocations
        self._clock = clock

    async def run(self) -> None:
        """Sweep for ever."""
        while True:
            try:
                await self.sweep()
            except EnvironmentFault as error:
                _log.warning("sweep_interrupted", error=str(error))
            except Exception:  # the next sweep may find the trouble gone
                _log.exception("sweep_crashed")
            await asyncio.sleep(self._settings.sweep_seconds)

    async def sweep(self) -> None:
        """Sweep once."""
        await self._revocations.refresh()
        for room_id in await self._store.rooms_starting(_MOST_A_SWEEP):
            await self._starter.resume(room_id)
        await self._expire_rooms()
        await self._check_games()
        now_ms = self._clock.now_ms()
        keep_ms = int(self._settings.room_keep_seconds * 1000)
        await self._store.forget(now_ms - keep_ms, now_ms)

    async def _expire_rooms(self) -> None:
        now_ms = self._clock.now_ms()
        for room_id in await self._store.rooms_to_expire(now_ms, _MOST_A_SWEEP):
            changed = await self._store.change_room(room_id, lambda room: expire(room, now_ms))
            if isinstance(changed, Room):
                self._board.publish(changed)
                _log.info("room_expired", room_id=room_id)

    async def _check_games(self) -> None:
        """Ask the engine of games whose end it may never tell, because it lost them."""
        now_ms = self._clock.now_ms()
        before_ms = now_ms - int(self._settings.gone_check_seconds * 1000)
        for room in await self._store.rooms_to_check(before_ms, now_ms, _MOST_A_SWEEP):
            try:
                life = await self._engine.life(room.game_id)
            except (EngineUnavailable, EngineRefused) as error:
                _log.warning("games_not_checked", error=str(error))
                return
            if life is not GameLife.RUNNING:
                await self._end(room, life)

    async def _end(self, room: Room, life: GameLife) -> None:
        await self._store.change_room(room.room_id, end)
        for seat in room.seats:
            if seat.occupant is Occupant.BOT:
                self._bots.tell_released(seat.player_id, room.game_id)
        _log.warning("players_swept", room_id=room.room_id, game_id=room.game_id, life=life.value)
