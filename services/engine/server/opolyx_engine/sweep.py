"""Looks over all games from time to time: idle ones are let to rest, stuck ones are counted."""

from typing import Final

from opolyx_engine.absent import RestingGame
from opolyx_engine.game_actor import GameActor
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.registry import Registry
from opolyx_engine.settings import EngineSettings
from opolyx_servicekit.wall_clock import Clock

_LOOKS_AN_IDLE_TIME: Final = 4
_LONGEST_MS: Final = 15_000
_SHORTEST_MS: Final = 10


class Sweep:
    """The looks."""

    def __init__(
        self, registry: Registry, settings: EngineSettings, clock: Clock, metrics: EngineMetrics
    ) -> None:
        """Look over `registry`."""
        self._registry = registry
        self._settings = settings
        self._clock = clock
        self._metrics = metrics

    async def run(self) -> None:
        """Look until cancelled."""
        idle_ms = self._settings.idle_evict_ms or _LONGEST_MS * _LOOKS_AN_IDLE_TIME
        every_ms = min(max(idle_ms // _LOOKS_AN_IDLE_TIME, _SHORTEST_MS), _LONGEST_MS)
        while True:
            await self._clock.sleep_until(self._clock.now_ms() + every_ms)
            self._registry.rest_idle()
            self.count_stuck()

    def count_stuck(self) -> None:
        """Put the number of stuck games into the metrics."""
        now_ms, after_ms = self._clock.now_ms(), self._settings.stuck_after_ms
        games: list[GameActor | RestingGame] = [*self._registry.running()]
        games += self._registry.resting().values()
        self._metrics.stuck_games.set(sum(is_stuck(game, now_ms, after_ms) for game in games))


def is_stuck(game: GameActor | RestingGame, now_ms: int, after_ms: int) -> bool:
    """Whether a game's clock, or the answer to the command that is next, is so late.

    Whatever the reason: a game that rests is stuck too if the store can't give it when it is due.
    """
    times = [game.next_due_ms]
    if isinstance(game, GameActor):
        times += [game.first_waits_since_ms, game.failures.since_ms]
    return any(time_ms is not None and time_ms + after_ms < now_ms for time_ms in times)
