"""The answers of one game on their way to who asked: limited, counted and sent."""

import time

import structlog

from opolyx_engine.command import TOO_FAST, Answer, Command
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.settings import EngineSettings
from opolyx_rules.actions import KIND, NAMES
from opolyx_rules.reasons import Refusal
from opolyx_servicekit.rates import Bucket

_log = structlog.get_logger(__name__)


class Replies:
    """Sends answers, and has those that need no look at the game."""

    def __init__(self, game_id: str, metrics: EngineMetrics, settings: EngineSettings) -> None:
        """Count in `metrics`, with the limits of `settings`."""
        self._game_id = game_id
        self._metrics = metrics
        self._settings = settings
        self._rates: dict[int, Bucket] = {}

    def too_fast(self, command: Command) -> Answer | None:
        """A refusal if the seat sends too much; spectators change nothing, and cost nothing."""
        if command.seat is None:
            return None
        settings = self._settings
        rate = self._rates.get(command.seat)
        if rate is None:
            rate = Bucket(settings.commands_per_second, settings.command_burst)
            self._rates[command.seat] = rate
        wait_ms = rate.wait_ms(command.arrived_ms)
        if not wait_ms:
            return None
        numbers = (
            ("commands_per_second", settings.commands_per_second),
            ("retry_after_ms", wait_ms),
        )
        return Answer(refusal=Refusal(TOO_FAST, "", numbers))

    def retry(self, reason: str) -> Answer:
        """The answer that a command is to be sent again."""
        return Answer(retry_after_ms=self._settings.store_retry_ms, retry_reason=reason)

    def send(self, command: Command, answer: Answer) -> None:
        """Tell who sent `command`."""
        action = command.action
        name = "unknown" if isinstance(action, Refusal) else NAMES[action[KIND]]
        outcome = "accepted"
        if answer.refusal is not None:
            outcome = "refused"
            self._metrics.refused(answer.refusal.reason)
        elif answer.retry_after_ms:
            outcome = "retry"
            self._metrics.retries.labels(answer.retry_reason.lower()).inc()
        self._metrics.answered(name, outcome, time.perf_counter() - command.taken_s)
        try:
            command.reply(answer)
        except Exception:  # who asked is at fault, not the game
            _log.exception("reply_failed", game_id=self._game_id)
