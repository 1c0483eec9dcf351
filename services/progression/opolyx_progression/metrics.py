"""Progression's metrics; never a game or a player in a label."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge

from opolyx_progression.awards import Award, ZeroReason
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
            "opolyx_awards",
            "Awards made, one a seat of a game, by the reason for a zero.",
            ("zero_reason",),
            registry=registry,
        )
        for reason in ZeroReason:
            self.awards.labels(reason.name.lower())
        self.award_xp = Counter("opolyx_award_xp", "XP awarded.", registry=registry)
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

    def audited(self, drift: int, at_unix_ms: int) -> None:
        """Show what an audit found."""
        self.award_drift.set(drift)
        self.audited_unix_seconds.set(at_unix_ms / 1000)

    def awarded(self, awards: Iterable[Award]) -> None:
        """Count awards."""
        for award in awards:
            self.awards.labels(award.zero_reason.name.lower()).inc()
            self.award_xp.inc(award.xp)
