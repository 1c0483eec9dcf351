"""Alert rules: about metrics that exist, proved by promtool, each with its runbook."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from support_monitoring import ALERTS, ROOT, Rule, asked_by, known_series, promtool, rules

RULES = rules()
SECTIONS = ("Meaning", "Impact", "How to confirm", "Causes", "Actions", "How to close")
TESTS = ROOT / "deploy/monitoring/tests"
RUNBOOKS = ROOT / "docs/runbooks"

KNOWN = known_series() | {
    rule.name: frozenset({"job", "instance"}) for rule in RULES if not rule.is_alert
}

alerts = pytest.mark.parametrize(
    "alert", [rule for rule in RULES if rule.is_alert], ids=lambda rule: rule.name
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_expression_asks_for_series_and_labels_that_services_have(rule: Rule) -> None:
    asked = asked_by(rule.expr)

    assert asked.names
    assert asked.names - KNOWN.keys() == set()
    assert asked.labels <= frozenset().union(*(KNOWN[name] for name in asked.names))


@alerts
def test_alert_says_how_urgent_it_is_and_where_to_read_on(alert: Rule) -> None:
    assert alert.name.startswith("Opolyx")
    assert alert.document["labels"]["severity"] in ("page", "ticket")
    assert alert.document["annotations"]["summary"]
    assert alert.document["annotations"]["runbook_url"] == f"docs/runbooks/{alert.name}.md"


@alerts
def test_runbook_has_all_sections_and_something_in_each(alert: Rule) -> None:
    text = (RUNBOOKS / f"{alert.name}.md").read_text()
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)

    assert parts[0].strip() == f"# {alert.name}"
    assert tuple(parts[1::2]) == SECTIONS
    assert all(len(part.split()) >= 2 for part in parts[2::2])


def test_there_is_no_runbook_without_an_alert() -> None:
    pages = {path.stem for path in RUNBOOKS.glob("*.md")} - {"README"}

    assert pages == {rule.name for rule in RULES if rule.is_alert}


def test_queries_in_runbooks_ask_for_series_that_services_have() -> None:
    for page in RUNBOOKS.glob("*.md"):
        blocks = re.findall(r"```promql\n(.*?)```", page.read_text(), re.DOTALL)
        for expr in "".join(blocks).splitlines():
            assert asked_by(expr).names - KNOWN.keys() == set(), (page.name, expr)


def test_events_and_settings_named_in_runbooks_exist() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "services").rglob("*.py"))
    for page in RUNBOOKS.glob("*.md"):
        text = page.read_text()
        for word in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", text):
            assert word in source or word in KNOWN, (page.name, word)
        for setting in re.findall(r"OPOLYX_(?:ENGINE|MATCHMAKER|PROGRESSION)_([A-Z_]+)", text):
            assert f"    {setting.lower()}: " in source, (page.name, setting)


@alerts
def test_alert_fires_in_one_of_its_tests_and_is_quiet_in_another(alert: Rule) -> None:
    expected: list[Any] = []
    for path in TESTS.glob("*.yaml"):
        for case in yaml.safe_load(path.read_text())["tests"]:
            expected += [
                bool(look["exp_alerts"])
                for look in case["alert_rule_test"]
                if look["alertname"] == alert.name
            ]

    assert set(expected) == {True, False}


def test_rules_and_configuration_are_valid() -> None:
    configuration = ROOT / "deploy/monitoring/prometheus.yaml"

    run(promtool(), "check", "rules", *map(str, ALERTS))
    assert "rule files found" in run(promtool(), "check", "config", str(configuration))


@pytest.mark.parametrize("path", sorted(TESTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_rules_pass_their_unit_tests(path: Path) -> None:
    assert "SUCCESS" in run(promtool(), "test", "rules", str(path))


def run(*command: str) -> str:
    """What a command prints; it must end well."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
