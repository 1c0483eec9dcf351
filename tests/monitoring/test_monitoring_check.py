"""The short form of `make monitoring-check`, and the quick motion of its rules."""

from pathlib import Path

import pytest
import yaml

from support_faults import FAULTS
from support_monitored import find_envoy, find_prometheus
from support_monitoring import ALERTS, rules
from support_monitoring_check import run_check
from support_scaled_rules import scaled_expression, scaled_rules


@pytest.mark.timeout(180)
async def test_queries_have_answers_and_a_stopped_service_is_noticed(tmp_path: Path) -> None:
    if find_prometheus() is None or find_envoy() is None:
        pytest.skip("needs prometheus and envoy")
    gone = [fault for fault in FAULTS if fault.name == "a service that isn't discovered"]

    findings = await run_check(tmp_path, lambda _: None, gone, quiet_s=3.0)

    assert findings.problems == []
    assert findings.queries > 50
    assert "OpolyxTargetAbsent" in findings.fired


def test_every_alert_has_a_fault_that_must_make_it_fire() -> None:
    alerts = {rule.name for rule in rules() if rule.is_alert}

    by_faults = frozenset().union(*(fault.alerts for fault in FAULTS))
    assert alerts == by_faults | {"OpolyxQueueWait"}


def test_quick_motion_changes_durations_alone() -> None:
    assert (
        scaled_expression("rate(x[5m]) > 60 and y offset 3h") == "rate(x[8s]) > 60 and y offset 20s"
    )
    for path in ALERTS:
        real, quick = path.read_text(), scaled_rules(path.read_text())
        for group, scaled in zip(
            yaml.safe_load(real)["groups"], yaml.safe_load(quick)["groups"], strict=True
        ):
            names = [rule.get("alert") or rule["record"] for rule in group["rules"]]
            assert names == [rule.get("alert") or rule["record"] for rule in scaled["rules"]]
    with pytest.raises(ValueError, match="no duration"):
        scaled_rules("groups: [{rules: [{alert: x, expr: up, for: 1w}]}]")
