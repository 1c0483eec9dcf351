"""What the dashboards show: every panel's question, its queries and its unit.

One description of three uses: `tools/dashboards.py` writes Grafana's JSON from it,
`make monitoring-check` asks a real Prometheus every query, and draws the answers for the docs.
Windows are two minutes, which holds at any usual interval of scraping.
"""

from dataclasses import dataclass
from typing import Final

_JOBS: Final = 'job=~"opolyx-.+"'
_FAULTS: Final = "Unknown|Internal|Unavailable|DataLoss"
_UNARY: Final = f'{_JOBS},grpc_type="unary"'


@dataclass(frozen=True, slots=True)
class Panel:
    """One diagram."""

    title: str
    """What it shows."""

    queries: tuple[tuple[str, str], ...]
    """Expressions of PromQL, each with its legend: text with `{{label}}`."""

    unit: str = "short"
    """Grafana's name of the unit."""

    help: str = ""
    """What it means when it is high, or what to look at next."""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One page of panels."""

    name: str
    """Name of its file, and its uid after `opolyx-`."""

    title: str
    """Its title."""

    panels: tuple[Panel, ...]
    """In reading order."""


def _rate(metric: str, *, by: str = "", where: str = _JOBS) -> str:
    total = f"rate({metric}{{{where}}}[2m])"
    return f"sum by ({by}) ({total})" if by else f"sum({total})"


def _quantile(share: float, metric: str, *, by: str = "", where: str = _JOBS) -> str:
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) (rate({metric}_bucket{{{where}}}[2m])))"


def _quantiles(metric: str, *, by: str = "", where: str = _JOBS) -> tuple[tuple[str, str], ...]:
    legend = f"{{{{{by}}}}} " if by else ""
    return tuple(
        (_quantile(share, metric, by=by, where=where), f"{legend}{name}")
        for share, name in ((0.5, "p50"), (0.99, "p99"))
    )


def _sum(metric: str, *, by: str = "") -> str:
    return f"sum by ({by}) ({metric}{{{_JOBS}}})" if by else f"sum({metric}{{{_JOBS}}})"


OVERVIEW: Final = Dashboard(
    "overview",
    "opolyx: overview",
    (
        Panel("Services that answer", ((f"up{{{_JOBS}}}", "{{job}} {{instance}}"),)),
        Panel(
            "Calls without a fault of ours",
            (
                (
                    f'sum by (job) (rate(grpc_server_handled_total{{{_UNARY},grpc_code!~"{_FAULTS}"}}'
                    f"[2m])) / sum by (job) (rate(grpc_server_handled_total{{{_UNARY}}}[2m]))",
                    "{{job}}",
                ),
            ),
            "percentunit",
            "The share that the error budget of 0.1 % counts: single calls, without Unknown, "
            "Internal, Unavailable and DataLoss.",
        ),
        Panel(
            "Must be 0",
            (
                (f"sum(increase(opolyx_watchdog_violations_total{{{_JOBS}}}[2m]))", "violations"),
                (_sum("opolyx_stuck_games"), "stuck games"),
                (_sum("opolyx_held_games"), "held games"),
                (_sum("opolyx_award_drift"), "award drift"),
                (_sum("opolyx_progression_dead_letters"), "dead letters"),
            ),
            help="Each has an alert and a runbook of its own.",
        ),
        Panel("Games in memory", ((_sum("opolyx_active_games", by="ruleset"), "{{ruleset}}"),)),
        Panel("Seats, by who holds them", ((_sum("opolyx_seats", by="kind"), "{{kind}}"),)),
        Panel(
            "Commands a second",
            ((_rate("opolyx_commands_total", by="outcome"), "{{outcome}}"),),
            "ops",
        ),
        Panel("Seconds of a command", _quantiles("opolyx_command_seconds"), "s"),
        Panel(
            "Calls a second", ((_rate("grpc_server_handled_total", by="job"), "{{job}}"),), "ops"
        ),
        Panel(
            "Seconds of a single call, p99",
            ((_quantile(0.99, "grpc_server_handling_seconds", by="job", where=_UNARY), "{{job}}"),),
            "s",
        ),
        Panel("Open streams", ((_sum("opolyx_streams"), "streams"),)),
    ),
)

ENGINE: Final = Dashboard(
    "engine",
    "opolyx: engine",
    (
        Panel(
            "Commands a second, by action",
            ((_rate("opolyx_commands_total", by="action"), "{{action}}"),),
            "ops",
        ),
        Panel(
            "Seconds of a command, p99 by action",
            ((_quantile(0.99, "opolyx_command_seconds", by="action"), "{{action}}"),),
            "s",
        ),
        Panel(
            "Refusals a second, by reason",
            ((_rate("opolyx_refusals_total", by="reason"), "{{reason}}"),),
            "ops",
            "Some are usual: late answers, stale decisions. A client that is wrong shows here.",
        ),
        Panel(
            "Commands to be sent again, by reason",
            ((_rate("opolyx_command_retries_total", by="reason"), "{{reason}}"),),
            "ops",
        ),
        Panel(
            "From a deadline to its effect",
            _quantiles("opolyx_timer_lag_seconds"),
            "s",
            "High when the event loop or the store is late: see runtime, and ownership and store.",
        ),
        Panel("Commands that wait", ((_sum("opolyx_commands_waiting"), "commands"),)),
        Panel(
            "Games ended a second",
            ((_rate("opolyx_games_ended_total", by="how"), "{{how}}"),),
            "ops",
        ),
        Panel(
            "Games that need a look",
            (
                (_sum("opolyx_stuck_games"), "stuck"),
                (_sum("opolyx_held_games"), "held"),
                (f"sum(increase(opolyx_game_faults_total{{{_JOBS}}}[2m]))", "faults"),
                (f"sum(increase(opolyx_games_refused_total{{{_JOBS}}}[2m]))", "refused"),
            ),
        ),
        Panel(
            "Games out of memory",
            (
                (_sum("opolyx_evicted_games"), "rest"),
                (f"sum(increase(opolyx_game_evictions_total{{{_JOBS}}}[2m]))", "put away in 2 min"),
            ),
        ),
        Panel(
            "Streams",
            (
                (_sum("opolyx_streams"), "open"),
                (f"sum(increase(opolyx_streams_cut_total{{{_JOBS}}}[2m]))", "cut in 2 min"),
                (f"sum(increase(opolyx_limited_total{{{_JOBS}}}[2m]))", "limited in 2 min"),
            ),
        ),
        Panel(
            "Slow readers a second",
            ((_rate("opolyx_slow_readers_total", by="outcome"), "{{outcome}}"),),
            "ops",
            "`snapshot` is mended by itself; `ended` lost its stream.",
        ),
        Panel(
            "Watchdog: looks and violations",
            (
                (_rate("opolyx_watchdog_checks_total"), "looks a second"),
                (_rate("opolyx_watchdog_violations_total", by="invariant"), "{{invariant}}"),
            ),
            "ops",
            "Violations must be 0; no looks at all while games run is wrong, too.",
        ),
        Panel(
            "Hears of revoked tokens",
            ((f"opolyx_revocations_followed{{{_JOBS}}}", "{{job}} {{instance}}"),),
        ),
    ),
)

OWNERSHIP_AND_STORE: Final = Dashboard(
    "ownership-and-store",
    "opolyx: ownership and store",
    (
        Panel("Seconds of an append", _quantiles("opolyx_store_append_seconds"), "s"),
        Panel(
            "Appends a second", ((_rate("opolyx_store_append_seconds_count"), "appends"),), "ops"
        ),
        Panel(
            "Seconds that an append waits for the store",
            _quantiles("opolyx_store_queue_seconds"),
            "s",
        ),
        Panel(
            "Failed appends a second, by kind",
            ((_rate("opolyx_store_append_failures_total", by="kind"), "{{kind}}"),),
            "ops",
            "`busy` is not done; of `unavailable` it is unknown whether it was, until it is read.",
        ),
        Panel(
            "Games that try again a second",
            ((_rate("opolyx_store_retries_total"), "tries"),),
            "ops",
        ),
        Panel("Owned games", ((_sum("opolyx_owned_games", by="instance"), "{{instance}}"),)),
        Panel(
            "Games that changed hands",
            (
                (f"sum(increase(opolyx_games_adopted_total{{{_JOBS}}}[2m]))", "adopted"),
                (f"sum(increase(opolyx_games_handed_over_total{{{_JOBS}}}[2m]))", "handed over"),
            ),
            help="A drain hands over; a dead replica's games are adopted.",
        ),
        Panel(
            "Fenced appends",
            ((f"sum(increase(opolyx_append_fenced_total{{{_JOBS}}}[2m]))", "fenced in 2 min"),),
            help="An engine wrote to a game that another has taken: it was away for too long.",
        ),
        Panel(
            "Calls sent on to the owner a second",
            ((_rate("opolyx_forwards_total", by="result"), "{{result}}"),),
            "ops",
        ),
        Panel(
            "Streams that are sent on",
            ((_sum("opolyx_forwarded_streams", by="instance"), "{{instance}}"),),
        ),
        Panel("Replicas alive", ((_sum("opolyx_replicas_alive", by="instance"), "{{instance}}"),)),
    ),
)

MATCHMAKER: Final = Dashboard(
    "matchmaker",
    "opolyx: matchmaker",
    (
        Panel("Players who search", ((_sum("opolyx_matchmaker_searching_players"), "players"),)),
        Panel("Wait of those who found a game", _quantiles("opolyx_queue_wait_seconds"), "s"),
        Panel(
            "Rooms opened a second",
            ((_rate("opolyx_matchmaker_rooms_opened_total", by="ruleset"), "{{ruleset}}"),),
            "ops",
        ),
        Panel(
            "Games started a second",
            ((_rate("opolyx_matchmaker_games_started_total", by="ruleset"), "{{ruleset}}"),),
            "ops",
        ),
        Panel(
            "Starts that failed a second, by reason",
            ((_rate("opolyx_matchmaker_starts_failed_total", by="reason"), "{{reason}}"),),
            "ops",
        ),
        Panel(
            "Players set free a second",
            ((_rate("opolyx_matchmaker_players_released_total", by="by"), "by {{by}}"),),
            "ops",
            "`fact` is the usual way; `sweep` means that a game was gone without a word.",
        ),
        Panel(
            "Facts taken",
            ((f"max(opolyx_matchmaker_facts_cursor{{{_JOBS}}})", "last number"),),
        ),
        Panel(
            "Calls a second, by method",
            (
                (
                    _rate(
                        "grpc_server_handled_total",
                        by="grpc_method",
                        where='job="opolyx-matchmaker"',
                    ),
                    "{{grpc_method}}",
                ),
            ),
            "ops",
        ),
    ),
)

PROGRESSION: Final = Dashboard(
    "progression",
    "opolyx: progression",
    (
        Panel(
            "Facts a second, by what became of them",
            ((_rate("opolyx_progression_facts_total", by="outcome"), "{{outcome}}"),),
            "ops",
        ),
        Panel(
            "Hears the engine's facts",
            ((f"opolyx_progression_facts_connected{{{_JOBS}}}", "{{instance}}"),),
        ),
        Panel(
            "Age of the last fact when it was applied",
            ((f"max(opolyx_progression_facts_lag_seconds{{{_JOBS}}})", "age"),),
            "s",
        ),
        Panel(
            "Awards a second, by the reason for a zero",
            ((_rate("opolyx_awards_total", by="zero_reason"), "{{zero_reason}}"),),
            "ops",
        ),
        Panel("XP a second", ((_rate("opolyx_award_xp_total"), "XP"),)),
        Panel(
            "Must be 0",
            (
                (_sum("opolyx_award_drift"), "drift"),
                (_sum("opolyx_progression_dead_letters"), "dead letters"),
            ),
        ),
        Panel(
            "Since the last audit",
            ((f"time() - max(opolyx_award_audit_unix_seconds{{{_JOBS}}})", "age"),),
            "s",
        ),
        Panel(
            "Calls a second, by method",
            (
                (
                    _rate(
                        "grpc_server_handled_total",
                        by="grpc_method",
                        where='job="opolyx-progression"',
                    ),
                    "{{grpc_method}}",
                ),
            ),
            "ops",
        ),
    ),
)

RUNTIME: Final = Dashboard(
    "runtime",
    "opolyx: runtime",
    (
        Panel(
            "Lateness of the event loop, p99",
            ((_quantile(0.99, "opolyx_event_loop_lag_seconds", by="job"), "{{job}}"),),
            "s",
            "Everything that a service does waits at least as long.",
        ),
        Panel(
            "Processors in use",
            ((f"rate(process_cpu_seconds_total{{{_JOBS}}}[2m])", "{{job}} {{instance}}"),),
        ),
        Panel(
            "Resident memory",
            ((f"process_resident_memory_bytes{{{_JOBS}}}", "{{job}} {{instance}}"),),
            "bytes",
        ),
        Panel(
            "Open files, of those allowed",
            (
                (
                    f"process_open_fds{{{_JOBS}}} / process_max_fds{{{_JOBS}}}",
                    "{{job}} {{instance}}",
                ),
            ),
            "percentunit",
        ),
        Panel(
            "Garbage collections a second",
            ((_rate("python_gc_collections_total", by="job"), "{{job}}"),),
            "ops",
        ),
        Panel(
            "Seconds of a scrape",
            ((f"scrape_duration_seconds{{{_JOBS}}}", "{{job}} {{instance}}"),),
            "s",
        ),
        Panel(
            "Up since",
            ((f"time() - process_start_time_seconds{{{_JOBS}}}", "{{job}} {{instance}}"),),
            "s",
        ),
    ),
)

DASHBOARDS: Final = (OVERVIEW, ENGINE, OWNERSHIP_AND_STORE, MATCHMAKER, PROGRESSION, RUNTIME)
"""All, in the order of looking."""
