"""What the services' registries really have, and what expressions of PromQL ask for."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import promql_parser
import pytest
import yaml
from prometheus_client import CollectorRegistry, Counter, Histogram

from opolyx_engine.metrics import EngineMetrics
from opolyx_matchmaker.metrics import MatchmakerMetrics
from opolyx_progression.metrics import ProgressionMetrics
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.tallies import TalliedCounter, TalliedHistogram

ROOT: Final = Path(__file__).resolve().parents[2]
ALERTS: Final = sorted((ROOT / "deploy/monitoring/alerts").glob("*.yaml"))
DASHBOARDS: Final = sorted((ROOT / "deploy/monitoring/dashboards").glob("*.json"))

_TALLIED: Final = (TalliedCounter, TalliedHistogram)

SCRAPED: Final = frozenset({"job", "instance"})
"""Labels that Prometheus adds."""

OWN: Final = {"up": SCRAPED, "scrape_duration_seconds": SCRAPED}
"""Metrics that Prometheus makes itself, with their labels."""


@dataclass(frozen=True, slots=True)
class Rule:
    """An alert rule or a recording rule."""

    name: str
    is_alert: bool
    expr: str
    document: dict[str, Any]


def rules() -> list[Rule]:
    """All rules of all files."""
    found = []
    for path in ALERTS:
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                name = rule.get("alert") or rule["record"]
                found.append(Rule(name, "alert" in rule, rule["expr"], rule))
    return found


def registries() -> dict[str, CollectorRegistry]:
    """The registry of each service, with everything that it registers."""
    made = {}
    for service, metrics in (
        ("engine", EngineMetrics),
        ("matchmaker", MatchmakerMetrics),
        ("progression", ProgressionMetrics),
    ):
        registry = RpcMetrics().registry
        metrics(registry)
        made[service] = registry
    return made


def known_series() -> dict[str, frozenset[str]]:
    """Names of all series there can be, with their labels."""
    known: dict[str, frozenset[str]] = dict(OWN)
    for registry in registries().values():
        for collector in set(registry._names_to_collectors.values()):
            labels = frozenset(_labels_of(collector)) | SCRAPED
            if isinstance(collector, Histogram | TalliedHistogram):
                name = _name_of(collector)
                known |= {f"{name}_count": labels, f"{name}_sum": labels}
                known[f"{name}_bucket"] = labels | {"le"}
            elif isinstance(collector, Counter | TalliedCounter):
                known[f"{_name_of(collector)}_total"] = labels
            elif hasattr(collector, "_name"):
                known[collector._name] = labels
            else:  # the process's and the interpreter's
                for metric in collector.collect():
                    for sample in metric.samples:
                        known[sample.name] = frozenset(sample.labels) | SCRAPED
    return known


@dataclass(frozen=True, slots=True)
class Asked:
    """What one expression asks for."""

    names: frozenset[str]
    """Names of series."""

    labels: frozenset[str]
    """Labels that are matched or summed by."""


def asked_by(expr: str) -> Asked:
    """The series and labels in an expression; raises ValueError if it is none."""
    names: set[str] = set()
    labels: set[str] = set()
    for node in _nodes(promql_parser.parse(expr)):
        if isinstance(node, promql_parser.VectorSelector):
            names.add(node.name or "")
            labels |= {matcher.name for matcher in node.matchers.matchers}
        elif isinstance(node, promql_parser.AggregateExpr) and node.modifier is not None:
            labels |= set(node.modifier.labels)
    return Asked(frozenset(names), frozenset(labels))


def _name_of(collector: Any) -> str:
    name: str = collector.name if isinstance(collector, _TALLIED) else collector._name
    return name


def _labels_of(collector: Any) -> tuple[str, ...]:
    if isinstance(collector, _TALLIED):
        return collector.labels
    found: tuple[str, ...] = getattr(collector, "_labelnames", ())
    return found


def promtool() -> str:
    """Debian's promtool; the test is skipped if there is none, which fails it with CI=true."""
    return shutil.which("promtool") or pytest.skip("needs promtool")


def _nodes(node: Any) -> Iterator[Any]:
    yield node
    for part in ("expr", "lhs", "rhs", "args", "vector_selector", "param"):
        found = getattr(node, part, None)
        for child in found if isinstance(found, list) else [found]:
            if child is not None:
                yield from _nodes(child)
