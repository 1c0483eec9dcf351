"""An arena's result as a picture: win rates and ratings with their intervals. Extra `plot`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from opolyx_sdk.errors import MissingExtra
from opolyx_sdk.local.arena import ArenaResult
from opolyx_sdk.local.ratings import Interval
from opolyx_sdk.local.standings import Standing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS: Final = (".svg", ".png", ".pdf")
"""What a picture's file name may end with."""


def check_plot(path: Path) -> None:
    """Say whether a picture can be made, before the games are played.

    Raises:
        MissingExtra: matplotlib isn't installed.
        ValueError: the name ends with no format that is known.
    """
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path} ends with none of {', '.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401 - only asked whether it is there
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "plots need matplotlib: install the SDK with its extra `plot`"
        ) from error


def average_win_rate(lines: Sequence[Standing]) -> float:
    """Per cent of games that an average player won: more than one in a table where sides play."""
    return 100 * sum(line.wins for line in lines) / max(sum(line.games for line in lines), 1)


def save_plot(result: ArenaResult, path: Path) -> None:
    """Draw the win rates and the ratings of all entrants, the best on top.

    The same result gives the same file.

    Raises:
        MissingExtra: matplotlib isn't installed.
        OSError: the file can't be written.
        ValueError: its name ends with no format that is known.
    """
    check_plot(path)
    import matplotlib as mpl
    from matplotlib.figure import Figure  # draws without a screen

    lines = result.standings[::-1]
    names = [line.name for line in lines]
    figure = Figure(figsize=(10, 1.6 + 0.5 * len(lines)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _draw(left, names, [_percent(line.win_rate) for line in lines], "games won, %")
    _draw(right, names, [line.rating for line in lines], "rating")
    left.axvline(average_win_rate(lines), color="0.7", linestyle="--", zorder=0)
    plan = result.plan
    figure.suptitle(f"{len(result.games)} games of {plan.ruleset}, seed {plan.seed}, 95 %")
    with mpl.rc_context({"svg.hashsalt": "opolyx"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


def _draw(axes: "Axes", names: Sequence[str], values: Sequence[Interval], title: str) -> None:
    places = range(len(names))
    low = [one.value - one.low for one in values]
    high = [one.high - one.value for one in values]
    middle = [one.value for one in values]
    axes.errorbar(middle, places, xerr=[low, high], fmt="o", capsize=4, color="tab:blue")
    axes.set_yticks(places, names)
    axes.set_ylim(-0.5, len(names) - 0.5)
    axes.set_xlabel(title)
    axes.grid(axis="x", alpha=0.3)


def _percent(share: Interval) -> Interval:
    return Interval(100 * share.value, 100 * share.low, 100 * share.high)
