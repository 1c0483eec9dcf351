"""Puts right what was left behind: expired rooms, interrupted starts, games that are gone."""

import asyncio
from typing import Final

import structlog

from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.peers import EngineRefused, EngineUnavailable, GameLife
from opolyx_matchmaker.revocations import Revocations
from opolyx_matchmaker.room import Occupant, Room
from opolyx_matchmaker.room_changes import end, expire
from opolyx_matchmaker.start import Starter
from opolyx_servicekit.errors import EnvironmentFault

_log = structlog.get_logger(__name__)

_MOST_AT_ONCE: Final = 200
_MOST_UNANSWERED: Final = 3  # in a row: then the engine is away, not one game


class Sweeper:
    """Sweeps at start and then periodically.

    A player of a game that is gone is free at the latest `gone_check_seconds` and one sweep after
    the engine lost it, however many games there are; while the engine is away, nobody is.
    """

    def __init__(self, parts: Parts, starter: Starter, revocations: Revocations) -> None:
        """Sweep nothing before `run`."""
        self._settings = parts.settings
        self._store = parts.store
        self._engine = parts.engine
        self._board = parts.board
        self._bots = parts.bots
        self._metrics = parts.metrics
        self._clock = parts.clock
        self._starter = starter
        self._revocations = revocations
        self._account_reached = ""

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
        await self._expire_rooms()
        await self._resume_starts()
        await self._check_games()
        now_ms = self._clock.now_ms()
        keep_ms = int(self._settings.room_keep_seconds * 1000)
        await self._store.forget(now_ms - keep_ms, now_ms)
        await self._forget_accounts(now_ms)

    async def _forget_accounts(self, now_ms: int) -> None:
        """Remove dead accounts, some of all at each sweep; a removed one's id never comes again."""
        before_ms = now_ms - self._settings.account_keep_seconds * 1000
        self._account_reached, removed = await self._store.forget_accounts(
            self._account_reached, before_ms, _MOST_AT_ONCE
        )
        if removed:
            _log.info("accounts_removed", count=removed)

    async def _resume_starts(self) -> None:
        """Finish interrupted starts; an engine that is away must not hold up all the rest."""
        for room_id in await self._store.rooms_starting(_MOST_AT_ONCE):
            if not await self._starter.resume(room_id):
                return

    async def _expire_rooms(self) -> None:
        now_ms = self._clock.now_ms()
        while due := await self._store.rooms_to_expire(now_ms, _MOST_AT_ONCE):
            for room_id in due:
                changed = await self._store.change_room(room_id, lambda room: expire(room, now_ms))
                if isinstance(changed, Room):
                    self._board.publish(changed)
                    _log.info("room_expired", room_id=room_id)

    async def _check_games(self) -> None:
        """Ask the engine of games whose end it may never tell, because it lost them."""
        now_ms = self._clock.now_ms()
        before_ms = now_ms - int(self._settings.gone_check_seconds * 1000)
        unanswered = 0
        while due := await self._store.rooms_to_check(before_ms, now_ms, _MOST_AT_ONCE):
            for room in due:
                try:
                    life = await self._engine.life(room.game_id)
                    unanswered = 0
                except EngineRefused as error:  # held for an operator, say: it isn't gone
                    _log.warning("game_not_checked", game_id=room.game_id, reason=error.reason)
                    continue
                except EngineUnavailable as error:
                    unanswered += 1
                    _log.warning("game_not_checked", game_id=room.game_id, error=str(error))
                    if unanswered >= _MOST_UNANSWERED:
                        return
                    continue
                if life is not GameLife.RUNNING:
                    await self._end(room, life)

    async def _end(self, room: Room, life: GameLife) -> None:
        await self._store.change_room(room.room_id, end)
        for seat in room.seats:
            if seat.occupant is Occupant.BOT:
                self._bots.tell_released(seat.player_id, room.game_id)
        self._metrics.players_released.labels("sweep").inc(len(room.holds))
        _log.warning("players_swept", room_id=room.room_id, game_id=room.game_id, life=life.value)
