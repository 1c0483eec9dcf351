"""The lives of games, told in a line of the log each and in numbers: nothing here for a command."""

from typing import Final

import structlog

from opolyx_engine.game_actor import GameActor, Watcher
from opolyx_engine.header import KIND_NAMES
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.store.base import FINISHED, RUNNING
from opolyx_servicekit.streams import was_cancelled
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

_START: Final = 0


class Lives(Watcher):
    """Notes when a game starts, comes back, is put away and ends."""

    def __init__(self, metrics: EngineMetrics, clock: Clock) -> None:
        """No game yet."""
        self._metrics = metrics
        self._clock = clock
        self._here: set[str] = set()

    def changed(self, game: GameActor) -> None:
        """Note a game of which nothing was known."""
        if game.game_id in self._here:
            return
        self._here.add(game.game_id)
        self._count_seats(game, 1)
        table = game.table
        event = "game_started" if table.seq == _START else "game_taken_up"
        _log.info(
            event,
            game_id=game.game_id,
            ruleset=table.header.ruleset,
            seats=len(table.header.holders),
            update=table.seq,
        )

    def ended(self, game: GameActor) -> None:
        """Note that a game is over, or here no longer; not when the whole server stops."""
        if game.game_id not in self._here:
            return
        self._here.remove(game.game_id)
        self._count_seats(game, -1)
        table = game.table
        if table.life != RUNNING:
            how = "finished" if table.life == FINISHED else "void"
            self._metrics.games_ended.labels(how).inc()
            _log.info(
                "game_ended",
                game_id=game.game_id,
                how=how,
                reason=table.end_reason,
                round=table.state.round,
                updates=table.seq,
                seconds=(self._clock.now_ms() - table.started_ms) // 1000,
            )
        elif not (game.lost or game.broken or was_cancelled()):  # which have lines of their own
            _log.info("game_put_away", game_id=game.game_id, update=table.seq)

    def _count_seats(self, game: GameActor, change: int) -> None:
        for holder in game.table.header.holders:
            self._metrics.seats.labels(KIND_NAMES[holder.kind]).inc(change)
