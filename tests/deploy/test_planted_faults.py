"""Each check of the manifests notices the faults it is there for: a table of planted ones."""

from collections.abc import Callable
from typing import Any, Final

import pytest

import support_manifest_checks as checks
from support_manifest_flows import flows_are_exact
from support_manifest_metrics import metrics_are_found
from support_manifests import Manifest, manifests, of_kind, workloads

OVERLAY: Final = "prod"

Plant = Callable[[list[Manifest]], object]


def engine(documents: list[Manifest]) -> Any:
    """The engine's pod."""
    return next(found for found in workloads(documents) if found.name == "engine").pod


def container(documents: list[Manifest]) -> Any:
    return engine(documents)["containers"][0]


def config(documents: list[Manifest]) -> Any:
    found = of_kind(documents, "ConfigMap")
    return next(one for one in found if "OPOLYX_ENGINE_LISTEN_ADDRESS" in one["data"])["data"]


def named(documents: list[Manifest], kind: str, name: str) -> Any:
    found = of_kind(documents, kind)
    return next(one for one in found if one["metadata"]["name"] == name)


def deployment(documents: list[Manifest]) -> Any:
    return named(documents, "Deployment", "opolyx-engine")["spec"]


PLANTED: Final[dict[str, tuple[checks.Check, Plant]]] = {
    "a field that Kubernetes doesn't know": (
        checks.follows_the_schema,
        lambda docs: container(docs).update(readynessProbe={}),
    ),
    "a number where a text must be": (
        checks.follows_the_schema,
        lambda docs: container(docs)["env"].append({"name": "A", "value": 7}),
    ),
    "a container that may be root": (
        checks.is_restricted,
        lambda docs: engine(docs)["securityContext"].update(runAsNonRoot=False),
    ),
    "a root that can be written to": (
        checks.is_restricted,
        lambda docs: container(docs)["securityContext"].pop("readOnlyRootFilesystem"),
    ),
    "kept capabilities": (
        checks.is_restricted,
        lambda docs: container(docs)["securityContext"].pop("capabilities"),
    ),
    "gained privileges": (
        checks.is_restricted,
        lambda docs: container(docs)["securityContext"].update(allowPrivilegeEscalation=True),
    ),
    "no seccomp profile": (
        checks.is_restricted,
        lambda docs: engine(docs)["securityContext"].pop("seccompProfile"),
    ),
    "a folder of the node": (
        checks.is_restricted,
        lambda docs: engine(docs)["volumes"].append({"name": "n", "hostPath": {"path": "/"}}),
    ),
    "the node's network": (
        checks.is_restricted,
        lambda docs: engine(docs).update(hostNetwork=True),
    ),
    "a token of the cluster": (
        checks.is_restricted,
        lambda docs: engine(docs).pop("automountServiceAccountToken"),
    ),
    "links of services in the environment": (
        checks.is_restricted,
        lambda docs: engine(docs).pop("enableServiceLinks"),
    ),
    "no limit of memory": (
        checks.is_bounded,
        lambda docs: container(docs)["resources"].pop("limits"),
    ),
    "no request of cpu": (
        checks.is_bounded,
        lambda docs: container(docs)["resources"]["requests"].pop("cpu"),
    ),
    "an emptyDir without a limit": (
        checks.is_bounded,
        lambda docs: engine(docs)["volumes"].append({"name": "n", "emptyDir": {}}),
    ),
    "no readiness": (checks.is_probed, lambda docs: container(docs).pop("readinessProbe")),
    "a probe of a port that isn't there": (
        checks.is_probed,
        lambda docs: container(docs)["livenessProbe"]["grpc"].update(port=7719),
    ),
    "a probe of the port with TLS": (
        checks.is_probed,
        lambda docs: container(docs)["livenessProbe"]["grpc"].update(port=7701),
    ),
    "a probe of a service that isn't there": (
        checks.is_probed,
        lambda docs: container(docs)["readinessProbe"]["grpc"].update(service="opolyx.Engine"),
    ),
    "liveness that ends with readiness": (
        checks.is_probed,
        lambda docs: container(docs)["livenessProbe"]["grpc"].update(
            service="opolyx.engine.v1.EngineService"
        ),
    ),
    "too little time to end": (
        checks.ends_in_time,
        lambda docs: engine(docs).update(terminationGracePeriodSeconds=30),
    ),
    "time for open calls to end, and none to say goodbye": (
        checks.ends_in_time,
        lambda docs: engine(docs).update(terminationGracePeriodSeconds=45),
    ),
    "a longer grace than the pod's": (
        checks.ends_in_time,
        lambda docs: config(docs).update(OPOLYX_ENGINE_GRACE_SECONDS="60"),
    ),
    "no preStop": (checks.ends_in_time, lambda docs: container(docs).pop("lifecycle")),
    "connections of the edge that are closed": (
        checks.shared_connections_stay_open,
        lambda docs: config(docs).pop("OPOLYX_ENGINE_REFUSED_CALLS_PER_SECOND"),
    ),
    "a variable that is no setting": (
        checks.settings_are_real,
        lambda docs: config(docs).update(OPOLYX_ENGINE_GRACE="20"),
    ),
    "a file that isn't mounted": (
        checks.settings_are_real,
        lambda docs: config(docs).update(OPOLYX_ENGINE_VERIFICATION_KEYS_FILE="/keys/k.json"),
    ),
    "a port that isn't the setting's": (
        checks.settings_are_real,
        lambda docs: config(docs).update(OPOLYX_ENGINE_METRICS_ADDRESS="0.0.0.0:9000"),
    ),
    "a ConfigMap that isn't there": (
        checks.references_exist,
        lambda docs: container(docs)["envFrom"][0]["configMapRef"].update(name="other"),
    ),
    "a Secret that nobody makes": (
        checks.references_exist,
        lambda docs: engine(docs)["volumes"][0]["secret"].update(secretName="other"),
    ),
    "a mount of no volume": (
        checks.references_exist,
        lambda docs: container(docs)["volumeMounts"].append({"name": "n", "mountPath": "/n"}),
    ),
    "an account that isn't there": (
        checks.references_exist,
        lambda docs: engine(docs).update(serviceAccountName="other"),
    ),
    "a Service of no pod": (
        checks.selectors_match,
        lambda docs: named(docs, "Service", "opolyx-engine")["spec"].update(
            selector={"app": "engine"}
        ),
    ),
    "a Service of a port that isn't there": (
        checks.selectors_match,
        lambda docs: named(docs, "Service", "opolyx-engine")["spec"]["ports"][0].update(
            targetPort="http"
        ),
    ),
    "a monitor of no pod": (
        checks.selectors_match,
        lambda docs: of_kind(docs, "PodMonitor")[0]["spec"].update(
            selector={"matchLabels": {"app": "engine"}}
        ),
    ),
    "pods that spread others": (
        checks.selectors_match,
        lambda docs: engine(docs)["topologySpreadConstraints"][0].update(
            labelSelector={"matchLabels": {"app": "engine"}}
        ),
    ),
    "no disruption budget": (
        checks.survives_a_drain,
        lambda docs: docs.remove(named(docs, "PodDisruptionBudget", "opolyx-engine")),
    ),
    "a budget that blocks a drain for ever": (
        checks.survives_a_drain,
        lambda docs: named(docs, "PodDisruptionBudget", "opolyx-engine")["spec"].update(
            maxUnavailable=0
        ),
    ),
    "a rollout that takes pods first": (
        checks.survives_a_drain,
        lambda docs: deployment(docs)["strategy"]["rollingUpdate"].update(maxUnavailable=1),
    ),
    "a flow that is needed and closed": (
        flows_are_exact,
        lambda docs: named(docs, "NetworkPolicy", "opolyx-engine")["spec"].update(ingress=[]),
    ),
    "a flow that is open for no reason": (
        flows_are_exact,
        lambda docs: named(docs, "NetworkPolicy", "opolyx-default-deny")["spec"].update(
            ingress=[{}], egress=[{}]
        ),
    ),
    "an address of another port": (
        flows_are_exact,
        lambda docs: config(docs).update(OPOLYX_MATCHMAKER_ENGINE_ADDRESS="opolyx-edge:7781"),
    ),
    "alerts of a job that nobody has": (
        metrics_are_found,
        lambda docs: of_kind(docs, "PodMonitor")[0]["spec"]["podMetricsEndpoints"][0].pop(
            "relabelings"
        ),
    ),
    "a job of another name": (
        metrics_are_found,
        lambda docs: of_kind(docs, "PodMonitor")[0]["spec"]["podMetricsEndpoints"][0][
            "relabelings"
        ][0].update(replacement="$1"),
    ),
    "an autoscaler by a metric that isn't there": (
        metrics_are_found,
        lambda docs: of_kind(docs, "HorizontalPodAutoscaler")[0]["spec"]["metrics"][0]["pods"][
            "metric"
        ].update(name="opolyx_games"),
    ),
    "a number that the autoscaler would fight for": (
        metrics_are_found,
        lambda docs: deployment(docs).update(replicas=3),
    ),
    "an image of no target": (
        checks.images_are_built_here_or_pinned,
        lambda docs: container(docs).update(image="opolyx/motor:0.1.0"),
    ),
    "an image of no tag": (
        checks.images_are_built_here_or_pinned,
        lambda docs: container(docs).update(image="opolyx/engine"),
    ),
    "another's image of no version": (
        checks.images_are_built_here_or_pinned,
        lambda docs: container(docs).update(image="redis:latest"),
    ),
    "a command that the image has not": (
        checks.images_are_built_here_or_pinned,
        lambda docs: container(docs).update(command=["/usr/bin/opolyx-engine"]),
    ),
}
"""What is done to the manifests, and which check must notice."""


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_noticed(fault: str) -> None:
    check, plant = PLANTED[fault]
    documents = manifests(OVERLAY)
    assert [] == check(documents)

    plant(documents)

    assert check(documents)


def test_every_check_has_a_planted_fault() -> None:
    assert set(checks.CHECKS) == {check for check, _ in PLANTED.values()}
