"""The engine's own metrics; no label holds a game or a player."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from opolyx_engine import command
from opolyx_rules import reasons

REASON_NAMES: Final = {
    number: name.lower()
    for module in (reasons, command)
    for name, number in vars(module).items()
    if name.isupper() and isinstance(number, int)
}
"""Names of the reasons of refusals, for labels."""

_FAST: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class EngineMetrics:
    """Counters and histograms of one engine."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        """Register with `registry`, or with one of its own."""
        self.registry = registry or CollectorRegistry()
        self.active_games = Gauge(
            "opolyx_active_games",
            "Games running here, in memory.",
            ("ruleset",),
            registry=self.registry,
        )
        self.evicted_games = Gauge(
            "opolyx_evicted_games",
            "Games that rest: out of memory until they are asked for or due.",
            ("ruleset",),
            registry=self.registry,
        )
        self.evictions = Counter(
            "opolyx_game_evictions", "Games put out of memory to rest.", registry=self.registry
        )
        self.held_games = Gauge(
            "opolyx_held_games",
            "Running games whose log can't be followed, kept for operators.",
            registry=self.registry,
        )
        self.stuck_games = Gauge(
            "opolyx_stuck_games",
            "Games whose clock or answer is far too late.",
            registry=self.registry,
        )
        self.commands = Counter(
            "opolyx_commands",
            "Commands answered, by action and outcome.",
            ("action", "outcome"),
            registry=self.registry,
        )
        self.refusals = Counter(
            "opolyx_refusals", "Refused commands, by reason.", ("reason",), registry=self.registry
        )
        self.timer_lag = Histogram(
            "opolyx_timer_lag_seconds",
            "Seconds from a deadline to its effect.",
            registry=self.registry,
            buckets=_FAST,
        )
        self.append_seconds = Histogram(
            "opolyx_store_append_seconds",
            "Seconds from asking for an append to its commit.",
            registry=self.registry,
            buckets=_FAST,
        )
        self.queue_seconds = Histogram(
            "opolyx_store_queue_seconds",
            "Seconds that an append waited before the store began with it.",
            registry=self.registry,
            buckets=_FAST,
        )
        self.append_failures = Counter(
            "opolyx_store_append_failures",
            "Appends that failed, by kind: busy (not done), unavailable (unknown) or other.",
            ("kind",),
            registry=self.registry,
        )
        self.store_retries = Counter(
            "opolyx_store_retries",
            "Times that a game tried again after its store failed.",
            registry=self.registry,
        )
        self.commands_waiting = Gauge(
            "opolyx_commands_waiting",
            "Commands that wait for their games.",
            registry=self.registry,
        )
        self.retries = Counter(
            "opolyx_command_retries",
            "Commands answered that they are to be sent again, by reason.",
            ("reason",),
            registry=self.registry,
        )
        self.slow_readers = Counter(
            "opolyx_slow_readers",
            "Streams that fell behind, by what was done.",
            ("outcome",),
            registry=self.registry,
        )
        self.streams = Gauge("opolyx_streams", "Open streams.", registry=self.registry)
        self.limited = Counter(
            "opolyx_limited",
            "Streams, attaches and reads of the past refused because they came too often.",
            ("what",),
            registry=self.registry,
        )
        self.streams_cut = Counter(
            "opolyx_streams_cut",
            "Streams ended because their token was revoked or has expired.",
            ("reason",),
            registry=self.registry,
        )
        self.revocations_followed = Gauge(
            "opolyx_revocations_followed",
            "Whether the engine hears of revoked tokens: 1, or 0 while it doesn't.",
            registry=self.registry,
        )
        self.faults = Counter(
            "opolyx_game_faults", "Games ended by a fault.", registry=self.registry
        )

    def refused(self, reason: int) -> None:
        """Count a refusal."""
        self.refusals.labels(REASON_NAMES[reason]).inc()
