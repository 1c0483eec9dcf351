"""What the alert rules and the autoscaler go by, against what the pods are scraped as and tell."""

import re
from typing import Final

from support_manifests import ROOT, Manifest, matches, of_kind, where, workloads

_ENGINE_METRICS: Final = ROOT / "services/engine/server/opolyx_engine/metrics.py"


def metrics_are_found(documents: list[Manifest]) -> list[str]:
    """The rules' jobs are those that monitors give; the autoscaler's metric is one of the engine.

    An alert of a job that nobody has never fires, and an autoscaler without its metric does nothing:
    neither says so.
    """
    return [*_jobs(documents), *_autoscalers(documents)]


def _jobs(documents: list[Manifest]) -> list[str]:
    rules = of_kind(documents, "PrometheusRule")
    meant = {job for found in rules for job in re.findall(r'job="([^"]+)"', str(found["spec"]))}
    given = {
        job
        for monitor in of_kind(documents, "PodMonitor")
        for endpoint in monitor["spec"]["podMetricsEndpoints"]
        for workload in workloads(documents)
        if matches(monitor["spec"]["selector"], workload.labels)
        for job in _relabelled(endpoint, workload.labels)
    }
    return [f"rules ask for the job {job}, which no monitor gives" for job in sorted(meant - given)]


def _relabelled(endpoint: Manifest, labels: dict[str, str]) -> list[str]:
    """The job that a pod's metrics get by its labels."""
    by_source = {
        "__meta_kubernetes_pod_label_" + re.sub(r"\W", "_", name): value
        for name, value in labels.items()
    }
    return [
        rule.get("replacement", "$1").replace("$1", by_source[rule["sourceLabels"][0]])
        for rule in endpoint.get("relabelings", ())
        if rule.get("targetLabel") == "job" and rule["sourceLabels"][0] in by_source
    ]


def _autoscalers(documents: list[Manifest]) -> list[str]:
    problems = []
    known = _ENGINE_METRICS.read_text()
    for found in of_kind(documents, "HorizontalPodAutoscaler"):
        problems += [
            f"{where(found)}: the engine has no metric {name}"
            for metric in found["spec"]["metrics"]
            if f'"{(name := metric["pods"]["metric"]["name"])}"' not in known
        ]
        target = found["spec"]["scaleTargetRef"]["name"]
        problems += [
            f"{where(found)}: {workload.where} has a number of replicas, set back by each apply"
            for workload in workloads(documents)
            if workload.manifest["metadata"]["name"] == target
            and "replicas" in workload.manifest["spec"]
        ]
    return problems
