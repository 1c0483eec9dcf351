"""What panels of dashboards are made of: queries over two minutes, which hold at any usual interval."""

from dataclasses import dataclass
from typing import Final

JOBS: Final = 'job=~"opolyx-.+"'
"""Matches everything of ours."""

FAULTS: Final = "Unknown|Internal|Unavailable|DataLoss"
"""Codes that are a fault of ours."""

UNARY: Final = f'{JOBS},grpc_type="unary"'
"""Matches single calls."""


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


def rate(metric: str, *, by: str = "", where: str = JOBS) -> str:
    """How often a second, in all or by a label."""
    total = f"rate({metric}{{{where}}}[2m])"
    return f"sum by ({by}) ({total})" if by else f"sum({total})"


def quantile(share: float, metric: str, *, by: str = "", where: str = JOBS) -> str:
    """A quantile of a histogram."""
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) (rate({metric}_bucket{{{where}}}[2m])))"


def quantiles(metric: str, *, by: str = "", where: str = JOBS) -> tuple[tuple[str, str], ...]:
    """The median and the 99th percentile, with their legends."""
    legend = f"{{{{{by}}}}} " if by else ""
    return tuple(
        (quantile(share, metric, by=by, where=where), f"{legend}{name}")
        for share, name in ((0.5, "p50"), (0.99, "p99"))
    )


def sum_of(metric: str, *, by: str = "") -> str:
    """The sum over all instances, in all or by a label."""
    return f"sum by ({by}) ({metric}{{{JOBS}}})" if by else f"sum({metric}{{{JOBS}}})"
