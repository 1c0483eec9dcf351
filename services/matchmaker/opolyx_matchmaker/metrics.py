"""What the matchmaker counts; labels are rulesets and reasons, never rooms or players."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from opolyx_matchmaker.refusals import ENGINE_AWAY
from opolyx_matchmaker.settings import RULESETS

_WAITS: Final = (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300)


class MatchmakerMetrics:
    """The matchmaker's own metrics."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        """Register with `registry`, or with one of their own."""
        registry = registry or CollectorRegistry(auto_describe=True)
        self.active = Gauge(
            "opolyx_matchmaker_active", "1 if it serves, 0 on standby.", registry=registry
        )
        """Whether this process is the one that serves."""
        self.fenced_writes = Counter(
            "opolyx_matchmaker_fenced_writes",
            "Writes refused, as another process serves.",
            registry=registry,
        )
        """Writes that the store refused, because another process took over."""
        self.rooms_opened = Counter(
            "opolyx_matchmaker_rooms_opened", "Rooms opened.", ("ruleset",), registry=registry
        )
        """Rooms opened, also by quick match, by ruleset."""
        self.games_started = Counter(
            "opolyx_matchmaker_games_started", "Games started.", ("ruleset",), registry=registry
        )
        """Games started, by ruleset."""
        self.starts_failed = Counter(
            "opolyx_matchmaker_starts_failed", "Starts that failed.", ("reason",), registry=registry
        )
        """Starts that the engine refused or did not answer, by the reason callers got."""
        self.players_released = Counter(
            "opolyx_matchmaker_players_released", "Players set free.", ("by",), registry=registry
        )
        """Players set free, by a fact or by the sweeper."""
        self.facts_cursor = Gauge(
            "opolyx_matchmaker_facts_cursor", "Number of the last fact taken.", registry=registry
        )
        """Number of the last fact taken."""
        self.searching_players = Gauge(
            "opolyx_matchmaker_searching_players", "Players in quick match.", registry=registry
        )
        """Players in quick match now."""
        self.queue_wait_seconds = Histogram(
            "opolyx_queue_wait_seconds",
            "Seconds from the start of a search to its game.",
            ("ruleset",),
            registry=registry,
            buckets=_WAITS,
        )
        """Seconds from the start of a search to its game, by ruleset."""
        # A counter that appears with its first event hides that event from `rate`.
        for ruleset in RULESETS:
            self.queue_wait_seconds.labels(ruleset)
        self.starts_failed.labels(ENGINE_AWAY)
        for way in ("fact", "sweep"):
            self.players_released.labels(way)
