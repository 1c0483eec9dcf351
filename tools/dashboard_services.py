"""The dashboards of single services: what they show, and by what queries."""

from typing import Final

from dashboard_queries import JOBS, Dashboard, Panel, quantile, quantiles, rate, sum_of

ENGINE: Final = Dashboard(
    "engine",
    "opolyx: engine",
    (
        Panel(
            "Commands a second, by action",
            ((rate("opolyx_commands_total", by="action"), "{{action}}"),),
            "ops",
        ),
        Panel(
            "Seconds of a command, p99 by action",
            ((quantile(0.99, "opolyx_command_seconds", by="action"), "{{action}}"),),
            "s",
        ),
        Panel(
            "Refusals a second, by reason",
            ((rate("opolyx_refusals_total", by="reason"), "{{reason}}"),),
            "ops",
            "Some are usual: late answers, stale decisions. A client that is wrong shows here.",
        ),
        Panel(
            "Commands to be sent again, by reason",
            ((rate("opolyx_command_retries_total", by="reason"), "{{reason}}"),),
            "ops",
        ),
        Panel(
            "From a deadline to its effect",
            quantiles("opolyx_timer_lag_seconds"),
            "s",
            "High when the event loop or the store is late: see runtime, and ownership and store.",
        ),
        Panel("Commands that wait", ((sum_of("opolyx_commands_waiting"), "commands"),)),
        Panel(
            "Games ended a second",
            ((rate("opolyx_games_ended_total", by="how"), "{{how}}"),),
            "ops",
        ),
        Panel(
            "Games that need a look",
            (
                (sum_of("opolyx_stuck_games"), "stuck"),
                (sum_of("opolyx_held_games"), "held"),
                (f"sum(increase(opolyx_game_faults_total{{{JOBS}}}[2m]))", "faults"),
                (f"sum(increase(opolyx_games_refused_total{{{JOBS}}}[2m]))", "refused"),
            ),
        ),
        Panel(
            "Games out of memory",
            (
                (f"{sum_of('opolyx_evicted_games')} or vector(0)", "rest"),
                (f"sum(increase(opolyx_game_evictions_total{{{JOBS}}}[2m]))", "put away in 2 min"),
            ),
        ),
        Panel(
            "Streams",
            (
                (sum_of("opolyx_streams"), "open"),
                (f"sum(increase(opolyx_streams_cut_total{{{JOBS}}}[2m]))", "cut in 2 min"),
                (f"sum(increase(opolyx_limited_total{{{JOBS}}}[2m]))", "limited in 2 min"),
            ),
        ),
        Panel(
            "Slow readers a second",
            ((rate("opolyx_slow_readers_total", by="outcome"), "{{outcome}}"),),
            "ops",
            "`snapshot` is mended by itself; `ended` lost its stream.",
        ),
        Panel(
            "Watchdog: looks and violations",
            (
                (rate("opolyx_watchdog_checks_total"), "looks a second"),
                (rate("opolyx_watchdog_violations_total", by="invariant"), "{{invariant}}"),
            ),
            "ops",
            "Violations must be 0; no looks at all while games run is wrong, too.",
        ),
        Panel(
            "Hears of revoked tokens",
            ((f"opolyx_revocations_followed{{{JOBS}}}", "{{job}} {{instance}}"),),
        ),
    ),
)

OWNERSHIP_AND_STORE: Final = Dashboard(
    "ownership-and-store",
    "opolyx: ownership and store",
    (
        Panel("Seconds of an append", quantiles("opolyx_store_append_seconds"), "s"),
        Panel("Appends a second", ((rate("opolyx_store_append_seconds_count"), "appends"),), "ops"),
        Panel(
            "Seconds that an append waits for the store",
            quantiles("opolyx_store_queue_seconds"),
            "s",
        ),
        Panel(
            "Failed appends a second, by kind",
            ((rate("opolyx_store_append_failures_total", by="kind"), "{{kind}}"),),
            "ops",
            "`busy` is not done; of `unavailable` it is unknown whether it was, until it is read.",
        ),
        Panel(
            "Games that try again a second",
            ((rate("opolyx_store_retries_total"), "tries"),),
            "ops",
        ),
        Panel("Owned games", ((sum_of("opolyx_owned_games", by="instance"), "{{instance}}"),)),
        Panel(
            "Games that changed hands",
            (
                (f"sum(increase(opolyx_games_adopted_total{{{JOBS}}}[2m]))", "adopted"),
                (f"sum(increase(opolyx_games_handed_over_total{{{JOBS}}}[2m]))", "handed over"),
            ),
            help="A drain hands over; a dead replica's games are adopted.",
        ),
        Panel(
            "Fenced appends",
            ((f"sum(increase(opolyx_append_fenced_total{{{JOBS}}}[2m]))", "fenced in 2 min"),),
            help="An engine wrote to a game that another has taken: it was away for too long.",
        ),
        Panel(
            "Calls sent on to the owner a second",
            ((rate("opolyx_forwards_total", by="result"), "{{result}}"),),
            "ops",
        ),
        Panel(
            "Streams that are sent on",
            ((sum_of("opolyx_forwarded_streams", by="instance"), "{{instance}}"),),
        ),
        Panel(
            "Replicas alive", ((sum_of("opolyx_replicas_alive", by="instance"), "{{instance}}"),)
        ),
    ),
)

MATCHMAKER: Final = Dashboard(
    "matchmaker",
    "opolyx: matchmaker",
    (
        Panel("Players who search", ((sum_of("opolyx_matchmaker_searching_players"), "players"),)),
        Panel("Wait of those who found a game", quantiles("opolyx_queue_wait_seconds"), "s"),
        Panel(
            "Rooms opened a second",
            ((rate("opolyx_matchmaker_rooms_opened_total", by="ruleset"), "{{ruleset}}"),),
            "ops",
        ),
        Panel(
            "Games started a second",
            ((rate("opolyx_matchmaker_games_started_total", by="ruleset"), "{{ruleset}}"),),
            "ops",
        ),
        Panel(
            "Starts that failed a second, by reason",
            ((rate("opolyx_matchmaker_starts_failed_total", by="reason"), "{{reason}}"),),
            "ops",
        ),
        Panel(
            "Players set free a second",
            ((rate("opolyx_matchmaker_players_released_total", by="by"), "by {{by}}"),),
            "ops",
            "`fact` is the usual way; `sweep` means that a game was gone without a word.",
        ),
        Panel(
            "Facts taken",
            ((f"max(opolyx_matchmaker_facts_cursor{{{JOBS}}})", "last number"),),
        ),
        Panel(
            "Calls a second, by method",
            (
                (
                    rate(
                        "grpc_server_handled_total",
                        by="grpc_method",
                        where='job="opolyx-matchmaker"',
                    ),
                    "{{grpc_method}}",
                ),
            ),
            "ops",
        ),
        Panel("Serves", ((f"opolyx_matchmaker_active{{{JOBS}}}", "{{instance}}"),)),
        Panel(
            "Fenced writes",
            ((f"sum(increase(opolyx_matchmaker_fenced_writes_total{{{JOBS}}}[2m]))", "in 2 min"),),
            help="A process wrote after another had taken over: it was away for too long.",
        ),
    ),
)

PROGRESSION: Final = Dashboard(
    "progression",
    "opolyx: progression",
    (
        Panel(
            "Facts a second, by what became of them",
            ((rate("opolyx_progression_facts_total", by="outcome"), "{{outcome}}"),),
            "ops",
        ),
        Panel(
            "Hears the engine's facts",
            ((f"opolyx_progression_facts_connected{{{JOBS}}}", "{{instance}}"),),
        ),
        Panel(
            "Age of the last fact when it was applied",
            ((f"max(opolyx_progression_facts_lag_seconds{{{JOBS}}})", "age"),),
            "s",
        ),
        Panel(
            "Awards a second, by the reason for a zero",
            ((rate("opolyx_awards_total", by="zero_reason"), "{{zero_reason}}"),),
            "ops",
        ),
        Panel("XP a second", ((rate("opolyx_award_xp_total"), "XP"),)),
        Panel(
            "Must be 0",
            (
                (sum_of("opolyx_award_drift"), "drift"),
                (sum_of("opolyx_progression_dead_letters"), "dead letters"),
            ),
        ),
        Panel(
            "Since the last audit",
            ((f"time() - max(opolyx_award_audit_unix_seconds{{{JOBS}}})", "age"),),
            "s",
        ),
        Panel(
            "Calls a second, by method",
            (
                (
                    rate(
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
