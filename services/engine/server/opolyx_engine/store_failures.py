"""What one game knows of its store's failures, and when it tries again."""

import asyncio
from collections.abc import Callable

import structlog

from opolyx_engine.game_log import failure_kind
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.settings import EngineSettings
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)


class StoreFailures:
    """The failures of one game's store since it was taken up."""

    def __init__(
        self,
        game_id: str,
        clock: Clock,
        metrics: EngineMetrics,
        settings: EngineSettings,
        wake: Callable[[], object],
    ) -> None:
        """None yet; `wake` is called `store_retry_ms` after each."""
        self.last: tuple[int, str] | None = None
        """When the last one was, Unix milliseconds, and how."""
        self.since_ms: int | None = None
        """When the first one was since something was stored, Unix milliseconds; None if there is none."""
        self.excused = False
        """Whether players have got more time because of them."""
        self._game_id = game_id
        self._clock = clock
        self._metrics = metrics
        self._settings = settings
        self._wake: Callable[[], object] | None = wake

    def note(self, error: ServiceError) -> None:
        """The store failed: let the game try again after a moment."""
        self._metrics.append_failures.labels(failure_kind(error)).inc()
        now_ms = self._clock.now_ms()
        self.last = (now_ms, str(error))
        if self.since_ms is None:
            self.since_ms = now_ms
        self.excused = False
        _log.warning("store_failed", game_id=self._game_id, error=str(error))
        asyncio.get_running_loop().call_later(self._settings.store_retry_ms / 1000, self._try_again)

    def over(self) -> None:
        """Something was stored."""
        self.since_ms = None

    def off(self) -> None:
        """Never wake the game again."""
        self._wake = None

    def _try_again(self) -> None:
        if self._wake is not None:
            self._metrics.store_retries.inc()
            self._wake()
