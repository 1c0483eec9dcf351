"""Every check of the manifests on every overlay, as `kubectl kustomize` makes it."""

import pytest

from prometheus_rule import groups
from support_manifest_checks import CHECKS, OUTSIDE, Check
from support_manifest_flows import needed_flows
from support_manifests import ROOT, all_strings, manifests, of_kind, overlays, workloads


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("overlay", overlays())
def test_an_overlay_passes_the_check(overlay: str, check: Check) -> None:
    assert [] == check(manifests(overlay))


@pytest.mark.parametrize("overlay", overlays())
def test_an_overlay_runs_the_three_services_and_the_edge(overlay: str) -> None:
    names = {workload.name for workload in workloads(manifests(overlay))}

    assert {"engine", "matchmaker", "progression", "edge"} <= names


def test_the_page_lists_every_secret_that_an_operator_makes() -> None:
    page = (ROOT / "deploy" / "k8s" / "README.md").read_text()

    assert [] == [name for name in OUTSIDE if f"`{name}`" not in page]


@pytest.mark.parametrize("overlay", overlays())
def test_no_secret_is_in_the_manifests(overlay: str) -> None:
    text = "\n".join(all_strings(manifests(overlay)))

    assert "PRIVATE KEY" not in text
    assert "eyJ" not in text  # how a token begins


def test_production_has_the_alert_rules_and_dashboards_that_are_tested() -> None:
    documents = manifests("prod")
    rules = of_kind(documents, "PrometheusRule")
    folder = ROOT / "deploy" / "monitoring" / "dashboards"
    dashboards = next(
        found for found in of_kind(documents, "ConfigMap") if "overview.json" in found["data"]
    )

    assert [groups()] == [found["spec"]["groups"] for found in rules]
    assert {path.name: path.read_text() for path in folder.glob("*.json")} == dashboards["data"]


def test_production_s_flows_are_known_from_settings_and_edge() -> None:
    flows = needed_flows(manifests("prod"))

    assert ("edge", "engine", 7701) in flows
    assert ("engine", "engine", 7701) in flows
    assert ("progression", "edge", 7780) in flows
