"""`opolyx load`: a load of games, how long everything took, and what failed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from opolyx_sdk.cli.connection import LOCAL, Connection, ask
from opolyx_sdk.cli.output import print_json, print_table
from opolyx_sdk.options import ClientOptions

if TYPE_CHECKING:
    from opolyx_sdk.load import LoadReport

_FAILED: Final = 1
_QUANTILES: Final = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
_PATIENCE_S: Final = 20.0


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """What is played, and by whom."""

    ruleset: str = "speed@full"
    """The ruleset, mode@edition."""

    seats: Annotated[int, Parameter(validator=Number(gte=1, lte=6))] = 2
    """Players of a game."""

    built_in: Annotated[int, Parameter(validator=Number(gte=0, lte=5))] = 0
    """Built-in bots of a game besides."""

    rounds: Annotated[int | None, Parameter(validator=Number(gte=1, lte=1_000))] = None
    """Round cap of a game; the ruleset's own if absent."""


_TWO_PLAYERS: Final = Tables()


def load(
    *,
    connection: Connection = LOCAL,
    games: Annotated[int, Parameter(validator=Number(gte=1, lte=10_000))] = 10,
    rate: Annotated[float, Parameter(validator=Number(gt=0, lte=1_000))] = 5.0,
    duration: Annotated[float, Parameter(validator=Number(gt=0, lte=86_400))] = 30.0,
    think: Annotated[float, Parameter(validator=Number(gte=0, lte=60))] = 0.1,
    tables: Tables = _TWO_PLAYERS,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Play games of steady bots against a server for a while, and print how long it let wait.

    Every player is a guest with a connection of its own. When the time is over all give up, so that
    no game is left behind. The exit code is 1 if anything failed; refusals under the rules, such as
    an answer that came too late, are counted by themselves.

    Parameters
    ----------
    games
        Most games at once.
    rate
        Games that begin in a second, at most.
    duration
        For how long games begin and go on, seconds.
    think
        How long a player waits before each answer, seconds.
    as_json
        Print one JSON object.
    """
    from opolyx_sdk.load import LoadPlan, run_load

    plan = LoadPlan(
        games=games,
        rate=rate,
        duration_s=duration,
        think_s=think,
        ruleset=tables.ruleset,
        seats=tables.seats,
        built_in=tables.built_in,
        rounds=tables.rounds,
    )
    options = ClientOptions(patience_s=_PATIENCE_S)
    report = ask(run_load(plan, lambda: connection.open(None, options)))
    if as_json:
        _print_object(report)
    else:
        _print_tables(report)
    return _FAILED if report.errors else 0


def _print_object(report: "LoadReport") -> None:
    latencies = {
        what: {
            "count": found.count,
            **{f"{name}_ms": _ms(found.quantile_s(share)) for name, share in _QUANTILES},
            "max_ms": _ms(found.longest_s),
        }
        for what, found in report.latencies.items()
    }
    print_json(
        seconds=round(report.seconds, 3),
        games_begun=report.games_begun,
        games_ended=report.games_ended,
        games_left=report.games_left,
        commands=report.commands,
        commands_per_second=round(report.commands / report.seconds, 1),
        latencies=latencies,
        refusals=dict(report.refusals),
        errors=dict(report.errors),
    )


def _print_tables(report: "LoadReport") -> None:
    names = [name for name, _ in _QUANTILES]
    head = ("what", "count", *(f"{name} ms" for name in names), "max ms")
    rows = [
        (
            what,
            found.count,
            *(f"{_ms(found.quantile_s(share)):.1f}" for _, share in _QUANTILES),
            f"{_ms(found.longest_s):.1f}",
        )
        for what, found in report.latencies.items()
    ]
    print_table(head, rows, numbers=head[1:])
    print(
        f"{report.games_begun} games begun, {report.games_ended} ended, {report.games_left} left;"
        f" {report.commands / report.seconds:.0f} commands a second in {report.seconds:.0f} s"
    )
    for kind, found in (("refused", report.refusals), ("error", report.errors)):
        for text, count in found.most_common():
            print(f"{kind}, {count} times: {text}")


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
