"""The engine's own metrics; no label holds a game or a player."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from opolyx_engine import command
from opolyx_rules import reasons
from opolyx_servicekit.tallies import TalliedCounter, TalliedHistogram

REASON_NAMES: Final = {
    number: name.lower()
    for module in (reasons, command)
    for name, number in vars(module).items()
    if name.isupper() and type(number) is int  # TYPE_CHECKING is none
}
"""Names of the reasons of refusals, for labels."""

FAILURE_KINDS: Final = ("busy", "unavailable", "other")
"""What is known of an append that failed."""

RETRY_REASONS: Final = tuple(
    reason.lower() for reason in (command.STORE_AWAY, command.BUSY, command.FAULT, command.MOVED)
)
"""Why commands are to be sent again."""

LIVES: Final = ("finished", "void")
"""How games end."""

FORWARD_RESULTS: Final = ("answered", "not_owner", "lost", "limit")
"""What became of a call that was sent on to another replica."""

INVARIANTS: Final = ("money", "legal_action", "digest", "log")
"""What the watchdog looks at."""

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
        self.seats = Gauge(
            "opolyx_seats",
            "Seats of the games running here, by who holds them; those who are out count too.",
            ("kind",),
            registry=self.registry,
        )
        self.games_ended = Counter(
            "opolyx_games_ended",
            "Games that ended here: finished, or void.",
            ("how",),
            registry=self.registry,
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
        self.commands = TalliedCounter(
            "opolyx_commands",
            "Commands answered, by action and outcome.",
            ("action", "outcome"),
            self.registry,
        )
        self.command_seconds = TalliedHistogram(
            "opolyx_command_seconds",
            "Seconds from taking a command to its answer, by action.",
            _FAST,
            self.registry,
            "action",
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
        self.append_seconds = TalliedHistogram(
            "opolyx_store_append_seconds",
            "Seconds from asking for an append to its commit.",
            _FAST,
            self.registry,
        )
        self.queue_seconds = TalliedHistogram(
            "opolyx_store_queue_seconds",
            "Seconds that an append waited before the store began with it.",
            _FAST,
            self.registry,
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
        self.watchdog_checks = Counter(
            "opolyx_watchdog_checks", "Looks of the watchdog at a game.", registry=self.registry
        )
        self.watchdog_violations = Counter(
            "opolyx_watchdog_violations",
            "What the watchdog found wrong in running games, by invariant; must be 0.",
            ("invariant",),
            registry=self.registry,
        )
        self.forwarded_streams = Gauge(
            "opolyx_forwarded_streams",
            "Open streams that go on to another replica.",
            registry=self.registry,
        )
        self.forwards = Counter(
            "opolyx_forwards",
            "Calls and streams sent on to another replica, by result: answered, not_owner (the game"
            " wasn't there), lost (nobody was there) or limit.",
            ("result",),
            registry=self.registry,
        )
        self.append_fenced = Counter(
            "opolyx_append_fenced",
            "Appends refused because another replica has become the game's owner.",
            registry=self.registry,
        )
        self.adopted = Counter(
            "opolyx_games_adopted",
            "Games taken over from a replica that died, or that had given them back.",
            registry=self.registry,
        )
        self.handed_over = Counter(
            "opolyx_games_handed_over",
            "Games given to another replica by this one, which drains.",
            registry=self.registry,
        )
        self.games_refused = Counter(
            "opolyx_games_refused",
            "Games not taken up because no replica that lives has their rules.",
            ("reason",),
            registry=self.registry,
        )
        self.owned_games = Gauge(
            "opolyx_owned_games",
            "Running games that are this replica's own: in memory, resting or held.",
            registry=self.registry,
        )
        self.replicas_alive = Gauge(
            "opolyx_replicas_alive",
            "Replicas that live, this one too; 0 for an engine that has its store for itself.",
            registry=self.registry,
        )
        self._show_known_labels()

    def answered(self, action: str, outcome: str, seconds: float) -> None:
        """Count an answer."""
        self.commands.inc(action, outcome)
        self.command_seconds.observe(seconds, action)

    def _show_known_labels(self) -> None:
        """Show from the start, at 0, what is counted when something is wrong.

        A counter that appears with its first error hides that error from `rate`.
        """
        for counter, values in (
            (self.append_failures, FAILURE_KINDS),
            (self.games_ended, LIVES),
            (self.retries, RETRY_REASONS),
            (self.slow_readers, ("snapshot", "ended")),
            (self.limited, ("streams", "attaches", "missed_updates", "refused_commands")),
            (self.streams_cut, ("token_revoked", "token_expired")),
            (self.watchdog_violations, INVARIANTS),
            (self.forwards, FORWARD_RESULTS),
            (self.refusals, REASON_NAMES.values()),
            (self.games_refused, ("rules",)),
        ):
            for value in values:
                counter.labels(value)

    def refused(self, reason: int) -> None:
        """Count a refusal."""
        self.refusals.labels(REASON_NAMES[reason]).inc()
