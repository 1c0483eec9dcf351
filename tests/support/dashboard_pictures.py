"""The dashboards drawn from a Prometheus' answers: Grafana isn't needed to see what they show."""

import math
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from dashboard_panels import DASHBOARDS
from dashboard_queries import Dashboard, Panel
from support_monitored import ROOT, Monitored
from support_monitoring_check import Findings

FOLDER: Final = ROOT / "docs/monitoring"

_COLUMNS: Final = 3
_MOST_LINES: Final = 8
_LABEL: Final = re.compile(r"\{\{(\w+)\}\}")
_PORT: Final = re.compile(r"127\.\d+\.\d+\.(\d+):\d+")
_UNITS: Final = {"s": "seconds", "ops": "a second", "percentunit": "share", "bytes": "bytes"}


async def draw_all(stack: Monitored, findings: Findings) -> None:
    """Draw every dashboard over the whole of a run."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for dashboard in DASHBOARDS:
        answers = [
            [
                (legend, await stack.prometheus.series(expr, *findings.range_s))
                for expr, legend in panel.queries
            ]
            for panel in dashboard.panels
        ]
        draw(dashboard, answers, FOLDER / f"{dashboard.name}.png")


def draw(dashboard: Dashboard, answers: list[list[tuple[str, Any]]], path: Path) -> None:
    """One picture of all panels of a dashboard."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    rows = math.ceil(len(dashboard.panels) / _COLUMNS)
    figure, axes = pyplot.subplots(
        rows, _COLUMNS, figsize=(15, 2.6 * rows + 0.5), squeeze=False, layout="constrained"
    )
    figure.suptitle(dashboard.title)
    places = list(axes.flat)
    for place, panel, answer in zip(places, dashboard.panels, answers, strict=False):
        _draw_panel(place, panel, answer)
    for place in places[len(dashboard.panels) :]:
        place.set_axis_off()
    figure.savefig(path, dpi=70, metadata={"Software": None})
    pyplot.close(figure)


def _draw_panel(place: Any, panel: Panel, answer: list[tuple[str, Any]]) -> None:
    lines = [
        (_legend(legend, one["metric"]), _points(one))
        for legend, series in answer
        for one in series
    ]
    lines.sort(key=lambda line: -max((y for _, y in line[1] if not math.isnan(y)), default=0.0))
    for name, points in lines[:_MOST_LINES]:
        place.plot([x for x, _ in points], [y for _, y in points], label=name, linewidth=1.2)
    place.set_title(panel.title, fontsize=9)
    place.set_ylabel(_UNITS.get(panel.unit, ""), fontsize=7)
    place.set_ylim(bottom=0)
    place.tick_params(labelsize=7)
    place.grid(alpha=0.3)
    if lines:
        place.legend(fontsize=6, loc="upper left", framealpha=0.5)
    from matplotlib.dates import DateFormatter

    place.xaxis.set_major_formatter(DateFormatter("%M:%S"))  # type: ignore[no-untyped-call]


def _points(one: dict[str, Any]) -> list[tuple[datetime, float]]:
    """What is drawn; where nothing was scraped, or nothing happened, the line is broken."""
    points: list[tuple[datetime, float]] = []
    before_s = None
    for at_s, value in one["values"]:
        at = datetime.fromtimestamp(at_s, UTC)
        if before_s is not None and at_s - before_s > 1.5:
            points.append((at, math.nan))
        points.append((at, float(value)))
        before_s = at_s
    return points


def _legend(pattern: str, labels: dict[str, str]) -> str:
    text = _LABEL.sub(lambda found: labels.get(found[1], ""), pattern)
    return _PORT.sub("", text).strip() or text
