"""Progression's metrics; never a game or a player in a label."""

from prometheus_client import CollectorRegistry, Counter, Gauge

from opolyx_progression.deliveries import Outcome


class ProgressionMetrics:
    """The `opolyx_*` metrics of progression."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register them."""
        self.facts = Counter(
            "opolyx_progression_facts",
            "Facts taken from the engine, by what became of them.",
            ("outcome",),
            registry=registry,
        )
        for outcome in Outcome:
            self.facts.labels(outcome.value)
        self.awards = Counter(
            "opolyx_awards", "Games that were awarded, once each.", registry=registry
        )
        self.dead_letters = Gauge(
            "opolyx_progression_dead_letters",
            "Facts that could not be processed and wait for an operator.",
            registry=registry,
        )
        self.connected = Gauge(
            "opolyx_progression_facts_connected",
            "Whether the stream of facts is open.",
            registry=registry,
        )
        self.lag_seconds = Gauge(
            "opolyx_progression_facts_lag_seconds",
            "Age of the last fact when it was applied.",
            registry=registry,
        )
        self.award_drift = Gauge(
            "opolyx_award_drift",
            "Stored values that differ from their recomputation; must be 0.",
            registry=registry,
        )
        self.audited_unix_seconds = Gauge(
            "opolyx_award_audit_unix_seconds",
            "When the last audit ended; 0 before the first.",
            registry=registry,
        )
