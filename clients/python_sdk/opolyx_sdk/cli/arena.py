"""`opolyx arena`: many games between bots, and how sure one can be of the result."""

import json
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from opolyx_sdk.cli.output import print_table
from opolyx_sdk.errors import OpolyxError

if TYPE_CHECKING:
    from opolyx_sdk.local.arena import ArenaPlan, ArenaResult
    from opolyx_sdk.local.ratings import Interval
    from opolyx_sdk.local.standings import GameRow, Standing

_STOPPED = 130
_SHOWN_NOTES = 3


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where results go beside the screen."""

    json: Path | None = None
    """Write everything to this file as JSON; - is the standard output, without the table."""

    plot: Path | None = None
    """Draw the result: a file that ends with .svg, .png or .pdf."""

    save_replays: Path | None = None
    """Directory for a replay of every game, made if absent."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """How the games are run."""

    workers: Annotated[int | None, Parameter(validator=Number(gte=1, lte=256))] = None
    """Processes; without it as many as there are cores, once the run proves long enough for it."""

    budget: Annotated[float, Parameter(validator=Number(gt=0, lte=3600))] = 5.0
    """Seconds that a bot may take for an answer; then it is answered for."""

    strict: Annotated[bool, Parameter(negative="")] = False
    """Stop at the first failure or refusal of a bot."""


_SCREEN_ONLY = Output()
_AS_USUAL = Running()


def arena(
    *entrants: str,
    games: Annotated[int, Parameter(validator=Number(gte=1, lte=1_000_000))] = 100,
    ruleset: str = "classic@full",
    seed: str = "0",
    seats: int | None = None,
    round_cap: int | None = None,
    running: Running = _AS_USUAL,
    output: Output = _SCREEN_ONLY,
) -> int:
    """Play many games between bots, seats rotated, and print who is better and how sure that is.

    The same bots, seed and options give the same games on any machine and any number of workers.
    Ctrl-C ends it with what was played.

    Parameters
    ----------
    entrants
        Two or more: random, steady, trader, MODULE:CLASS or FILE.py:CLASS; one may be repeated.
    games
        How many games.
    ruleset
        The ruleset, mode@edition.
    seed
        All dice follow from it.
    seats
        Seats at a table; as many as there are entrants, if the ruleset has so many.
    round_cap
        End games after so many rounds.
    """
    from opolyx_sdk.local.arena import ArenaPlan

    plan = ArenaPlan(
        entrants,
        games=games,
        ruleset=ruleset,
        seed=seed,
        seats=seats,
        budget_s=running.budget,
        strict=running.strict,
        round_cap=round_cap,
        replays=output.save_replays,
    )
    started = time.perf_counter()
    try:
        with redirect_stdout(sys.stderr):  # what bots print is no part of the result
            _prepare(plan, output)
            result, failure = _play(plan, running.workers)
    except ValueError as error:
        raise OpolyxError(str(error)) from error
    _report(result, time.perf_counter() - started, output)
    if failure is not None:
        raise failure
    return 0 if len(result.games) == plan.games else _STOPPED


def _report(result: "ArenaResult", seconds: float, output: Output) -> None:
    if output.json is None or str(output.json) != "-":
        _show(result, seconds)
    if output.json is not None:
        _write(as_json(result, seconds), output.json)
    if output.plot is not None and result.games:
        from opolyx_sdk.local.arena_plot import save_plot

        try:
            save_plot(result, output.plot)
        except OSError as error:
            raise OpolyxError(f"can't write {output.plot}: {error.strerror}") from error


def as_json(result: "ArenaResult", seconds: float) -> dict[str, object]:
    """Everything, as JSON has it. All but `timing` is the same on any machine."""
    plan = result.plan
    return {
        "ruleset": plan.ruleset,
        "seed": plan.seed,
        "seats": plan.table_size,
        "round_cap": plan.round_cap,
        "games_planned": plan.games,
        "games_played": len(result.games),
        "digest": result.digest,
        "entrants": [_entrant(line) for line in result.standings],
        "games": [_game(row, plan.names) for row in result.games],
        "timing": {
            "seconds": round(seconds, 3),
            "rules": _rules_build(),
            "entrants": {
                line.name: {
                    "mean_decision_s": line.mean_thinking_s,
                    "p99_decision_s": line.p99_thinking_s,
                }
                for line in result.standings
            },
        },
    }


def _prepare(plan: "ArenaPlan", output: Output) -> None:
    """Find out what is wrong before the first game."""
    plan.check()
    if output.plot is not None:
        from opolyx_sdk.local.arena_plot import check_plot

        check_plot(output.plot)
    for path in (output.json, output.plot):
        if path is not None and str(path) != "-":
            _check_writable(path)
    if plan.replays is not None:
        try:
            plan.replays.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OpolyxError(f"can't make {plan.replays}: {error.strerror}") from error


def _check_writable(path: Path) -> None:
    if not path.parent.is_dir():
        raise OpolyxError(f"can't write {path}: there is no directory {path.parent}")
    try:
        path.open("ab").close()
    except OSError as error:
        raise OpolyxError(f"can't write {path}: {error.strerror}") from error


def _play(plan: "ArenaPlan", workers: int | None) -> "tuple[ArenaResult, OpolyxError | None]":
    """All games; those that were played, if it is interrupted or fails, and the failure."""
    from opolyx_sdk.local.arena import ArenaResult, play_games

    rows: list[GameRow] = []
    failure: OpolyxError | None = None
    games = play_games(plan, workers=workers)
    with _progress(plan.games) as bar:
        try:
            for row in games:
                rows.append(row)
                bar.advance()
        except KeyboardInterrupt:
            games.close()
        except OpolyxError as error:
            failure = error
        except OSError as error:
            failure = OpolyxError(f"can't write {error.filename or 'a replay'}: {error.strerror}")
    return ArenaResult(plan, tuple(sorted(rows, key=lambda row: row.number))), failure


class _Bar:
    """Counts games on the screen, if there is one."""

    def advance(self) -> None:
        """One game more."""


@contextmanager
def _progress(games: int) -> Iterator[_Bar]:
    """A progress bar on the error stream, where it stands in no pipe's way."""
    if not sys.stderr.isatty():
        yield _Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, refresh_per_second=4) as progress:
        task = progress.add_task("games", total=games)

        class Shown(_Bar):
            def advance(self) -> None:
                progress.advance(task)

        yield Shown()


def _show(result: "ArenaResult", seconds: float) -> None:
    plan, played = result.plan, len(result.games)
    if not played:
        print(f"stopped before the first of {plan.games} games ended")
        return
    actions = sum(row.actions for row in result.games)
    print_table(
        (
            *("bot", "games", "won", "95 %", "place", "rating", "95 %", "worth"),
            *("mean ms", "p99 ms", "refused", "failed", "answered for"),
        ),
        [_row(line) for line in result.standings],
        numbers=("games", "won", "place", "rating", "worth", "mean ms", "p99 ms", "refused"),
    )
    for line in result.standings:
        for note in line.notes[:_SHOWN_NOTES]:
            print(f"{line.name}: {note}")
    if played < plan.games:
        print(f"stopped after {played} of {plan.games} games")
    print(
        f"{played} game{'' if played == 1 else 's'} of {plan.ruleset}, seed {plan.seed}, {actions} actions in {seconds:.1f} s"
        f" by the {_rules_build()} rules; digest {result.digest}"
    )


def _rules_build() -> str:
    from opolyx_sdk.local.arena import rules_build

    return rules_build()


def _row(line: "Standing") -> tuple[object, ...]:
    thought = line.mean_thinking_s > 0
    return (
        line.name,
        line.games,
        f"{100 * line.win_rate.value:.1f} %",
        f"{100 * line.win_rate.low:.1f} - {100 * line.win_rate.high:.1f} %",
        f"{line.mean_place:.2f}",
        f"{line.rating.value:.0f}",
        f"{line.rating.low:.0f} - {line.rating.high:.0f}",
        f"{line.mean_net_worth:.0f}k",
        f"{1000 * line.mean_thinking_s:.3f}" if thought else "",
        f"{1000 * line.p99_thinking_s:.3f}" if thought else "",
        line.refusals,
        line.failures,
        line.fallbacks,
    )


def _entrant(line: "Standing") -> dict[str, object]:
    return {
        "name": line.name,
        "games": line.games,
        "wins": line.wins,
        "win_rate": _interval(line.win_rate),
        "mean_place": round(line.mean_place, 6),
        "mean_net_worth": round(line.mean_net_worth, 3),
        "rating": _interval(line.rating),
        "decisions": line.decisions,
        "refusals": line.refusals,
        "failures": line.failures,
        "fallbacks": line.fallbacks,
        "notes": line.notes,
    }


def _interval(one: "Interval") -> dict[str, float | None]:
    """Its numbers; nothing is known of the ends before the first game."""
    ends = {"value": one.value, "low": one.low, "high": one.high}
    return {name: round(end, 6) if math.isfinite(end) else None for name, end in ends.items()}


def _game(row: "GameRow", names: tuple[str, ...]) -> dict[str, object]:
    return {
        "number": row.number,
        "game_id": row.game_id,
        "seats": [names[seat.entrant] for seat in row.seats],
        "places": [seat.place for seat in row.seats],
        "net_worth": [seat.net_worth for seat in row.seats],
        "rounds": row.rounds,
        "actions": row.actions,
        "digest": row.digest,
    }


def _write(document: dict[str, object], path: Path) -> None:
    text = json.dumps(document, indent=1) + "\n"
    if str(path) == "-":
        print(text, end="")
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OpolyxError(f"can't write {path}: {error.strerror}") from error
