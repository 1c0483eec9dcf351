"""What the dashboards show: every panel's question, its queries and its unit.

One description of three uses: `tools/dashboards.py` writes Grafana's JSON from it,
`make monitoring-check` asks a real Prometheus every query, and draws the answers for the docs.
"""

from typing import Final

from dashboard_queries import (
    FAULTS,
    JOBS,
    UNARY,
    Dashboard,
    Panel,
    quantile,
    quantiles,
    rate,
    sum_of,
)
from dashboard_services import ENGINE, MATCHMAKER, OWNERSHIP_AND_STORE, PROGRESSION

OVERVIEW: Final = Dashboard(
    "overview",
    "opolyx: overview",
    (
        Panel("Services that answer", ((f"up{{{JOBS}}}", "{{job}} {{instance}}"),)),
        Panel(
            "Calls without a fault of ours",
            (
                (
                    f'sum by (job) (rate(grpc_server_handled_total{{{UNARY},grpc_code!~"{FAULTS}"}}'
                    f"[2m])) / sum by (job) (rate(grpc_server_handled_total{{{UNARY}}}[2m]))",
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
                (f"sum(increase(opolyx_watchdog_violations_total{{{JOBS}}}[2m]))", "violations"),
                (sum_of("opolyx_stuck_games"), "stuck games"),
                (sum_of("opolyx_held_games"), "held games"),
                (sum_of("opolyx_award_drift"), "award drift"),
                (sum_of("opolyx_progression_dead_letters"), "dead letters"),
            ),
            help="Each has an alert and a runbook of its own.",
        ),
        Panel("Games in memory", ((sum_of("opolyx_active_games", by="ruleset"), "{{ruleset}}"),)),
        Panel("Seats, by who holds them", ((sum_of("opolyx_seats", by="kind"), "{{kind}}"),)),
        Panel(
            "Commands a second",
            ((rate("opolyx_commands_total", by="outcome"), "{{outcome}}"),),
            "ops",
        ),
        Panel("Seconds of a command", quantiles("opolyx_command_seconds"), "s"),
        Panel("Calls a second", ((rate("grpc_server_handled_total", by="job"), "{{job}}"),), "ops"),
        Panel(
            "Seconds of a single call, p99",
            ((quantile(0.99, "grpc_server_handling_seconds", by="job", where=UNARY), "{{job}}"),),
            "s",
        ),
        Panel("Open streams", ((sum_of("opolyx_streams"), "streams"),)),
    ),
)

RUNTIME: Final = Dashboard(
    "runtime",
    "opolyx: runtime",
    (
        Panel(
            "Lateness of the event loop, p99",
            ((quantile(0.99, "opolyx_event_loop_lag_seconds", by="job"), "{{job}}"),),
            "s",
            "Everything that a service does waits at least as long.",
        ),
        Panel(
            "Processors in use",
            ((f"rate(process_cpu_seconds_total{{{JOBS}}}[2m])", "{{job}} {{instance}}"),),
        ),
        Panel(
            "Resident memory",
            ((f"process_resident_memory_bytes{{{JOBS}}}", "{{job}} {{instance}}"),),
            "bytes",
        ),
        Panel(
            "Open files, of those allowed",
            (
                (
                    f"process_open_fds{{{JOBS}}} / process_max_fds{{{JOBS}}}",
                    "{{job}} {{instance}}",
                ),
            ),
            "percentunit",
        ),
        Panel(
            "Garbage collections a second",
            ((rate("python_gc_collections_total", by="job"), "{{job}}"),),
            "ops",
        ),
        Panel(
            "Seconds of a scrape",
            ((f"scrape_duration_seconds{{{JOBS}}}", "{{job}} {{instance}}"),),
            "s",
        ),
        Panel(
            "Up since",
            ((f"time() - process_start_time_seconds{{{JOBS}}}", "{{job}} {{instance}}"),),
            "s",
        ),
    ),
)

DASHBOARDS: Final = (OVERVIEW, ENGINE, OWNERSHIP_AND_STORE, MATCHMAKER, PROGRESSION, RUNTIME)
"""All, in the order of looking."""
