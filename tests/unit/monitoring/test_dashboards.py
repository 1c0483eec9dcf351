"""Dashboards: made from their description, of expressions that parse, about metrics that exist."""

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard_panels import DASHBOARDS as DESCRIBED
from dashboards import document_of
from support_monitoring import DASHBOARDS, asked_by, known_series

KNOWN = known_series()


def panels() -> list[Any]:
    """Every target of every panel in the files, as a parameter named by its place."""
    return [
        pytest.param(target["expr"], id=f"{path.stem}-{panel['title']}-{target['refId']}")
        for path in DASHBOARDS
        for panel in json.loads(path.read_text())["panels"]
        for target in panel["targets"]
    ]


@pytest.mark.parametrize("expr", panels())
def test_expression_asks_for_series_and_labels_that_services_have(expr: str) -> None:
    asked = asked_by(expr)

    assert asked.names - KNOWN.keys() == set()
    assert asked.names
    assert asked.labels <= frozenset().union(*(KNOWN[name] for name in asked.names))


def test_an_unknown_metric_and_a_broken_expression_are_noticed() -> None:
    assert asked_by("rate(opolyx_invented_total[2m])").names - KNOWN.keys()
    with pytest.raises(ValueError, match="unclosed left parenthesis"):
        asked_by("rate(opolyx_commands_total[2m]")


@pytest.mark.parametrize("dashboard", DESCRIBED, ids=lambda one: one.name)
def test_file_is_what_the_description_makes(dashboard: Any) -> None:
    path = Path(__file__).parents[3] / f"deploy/monitoring/dashboards/{dashboard.name}.json"

    assert path.read_text() == document_of(dashboard), "run `make dashboards`"


def test_there_is_a_file_for_each_and_no_other() -> None:
    assert [path.stem for path in DASHBOARDS] == sorted(one.name for one in DESCRIBED)
