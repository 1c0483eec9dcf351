"""What must hold of the manifests, each as a function that lists what is wrong.

A cluster would find some of it after the fact, some of it at night. `tests/deploy/test_overlays.py`
runs every check on every overlay; `test_planted_faults.py` shows that each notices its faults.
"""

import re
from collections.abc import Callable
from typing import Final

import kubernetes_validate

from opolyx_engine.rpc.service_handlers import SERVICE_NAMES as ENGINE_SERVICES
from opolyx_matchmaker.service import MatchmakerService
from opolyx_progression.service import ProgressionService
from settings_page import SERVICES, variables
from support_manifest_flows import flows_are_exact
from support_manifest_metrics import metrics_are_found
from support_manifests import (
    ROOT,
    Manifest,
    Workload,
    environment,
    matches,
    of_kind,
    ports,
    where,
    workloads,
)

Check = Callable[[list[Manifest]], list[str]]

OUTSIDE: Final = {
    "opolyx-store": ("url",),
    "opolyx-signing-keys": ("keys.json", "keys.public.json"),
    "opolyx-verification-keys": ("keys.public.json",),
    "opolyx-engine-token": ("engine",),
    "opolyx-progression-token": ("progression",),
    "opolyx-tls": ("tls.crt", "tls.key", "ca.crt"),
    "opolyx-edge-tls": ("tls.crt", "tls.key"),
}
"""The Secrets that operators make, with what is in them; `deploy/k8s/README.md` lists them."""

_CUSTOM: Final = frozenset({"PodMonitor", "PrometheusRule"})
_VERSION: Final = "1.33"
_VOLUMES: Final = frozenset(
    {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim"}
    | {"projected", "secret"}
)
_SPARE_SECONDS: Final = 10


def follows_the_schema(documents: list[Manifest]) -> list[str]:
    """Every built-in kind has only fields that Kubernetes knows, of their types."""
    problems = []
    for found in documents:
        if found["kind"] in _CUSTOM:
            continue
        try:
            kubernetes_validate.validate(found, _VERSION, strict=True)
        except (
            kubernetes_validate.ValidationError,
            kubernetes_validate.SchemaNotFoundError,
        ) as error:
            message = str(getattr(error, "message", error)).splitlines()[0]
            problems.append(f"{where(found)}: {message[:200]}")
    return problems


def is_restricted(documents: list[Manifest]) -> list[str]:
    """The pods fit the restricted profile, with a read-only root and no token of the cluster."""
    problems: list[str] = []
    for workload in workloads(documents):
        pod, said = workload.pod, problems.append
        for field in ("hostNetwork", "hostPID", "hostIPC"):
            if pod.get(field):
                said(f"{workload.where}: {field}")
        if pod.get("automountServiceAccountToken") is not False:
            said(f"{workload.where}: mounts a token of the cluster")
        if pod.get("enableServiceLinks") is not False:
            said(f"{workload.where}: has links of services in its environment")
        for volume in pod.get("volumes", ()):
            if not set(volume) - {"name"} <= _VOLUMES:
                said(f"{workload.where}: volume {volume['name']} is of a kind that isn't allowed")
        for container in workload.containers:
            problems += [
                f"{workload.where}/{container['name']}: {problem}"
                for problem in _unrestricted(pod.get("securityContext", {}), container)
            ]
    return problems


def _unrestricted(of_pod: Manifest, container: Manifest) -> list[str]:
    own = container.get("securityContext", {})
    both = {**of_pod, **own}
    capabilities = own.get("capabilities", {})
    faults = {
        "may gain privileges": own.get("allowPrivilegeEscalation") is not False,
        "is privileged": bool(own.get("privileged")),
        "keeps capabilities": capabilities.get("drop") != ["ALL"],
        "adds capabilities": bool(set(capabilities.get("add", ())) - {"NET_BIND_SERVICE"}),
        "may run as root": both.get("runAsNonRoot") is not True or both.get("runAsUser") == 0,
        "has no seccomp profile": both.get("seccompProfile", {}).get("type")
        not in {"RuntimeDefault", "Localhost"},
        "can write to its root": own.get("readOnlyRootFilesystem") is not True,
        "takes a port of the node": any("hostPort" in port for port in container.get("ports", ())),
        "unmasks /proc": own.get("procMount", "Default") != "Default",
    }
    return [name for name, is_so in faults.items() if is_so]


def is_bounded(documents: list[Manifest]) -> list[str]:
    """Every container asks for what it needs, and has a limit of memory."""
    problems = []
    for workload in workloads(documents):
        for container in workload.containers:
            given = container.get("resources", {})
            needed = {
                "cpu request": given.get("requests", {}).get("cpu"),
                "memory request": given.get("requests", {}).get("memory"),
                "memory limit": given.get("limits", {}).get("memory"),
            }
            problems += [
                f"{workload.where}/{container['name']}: no {name}"
                for name, value in needed.items()
                if not value
            ]
        for volume in workload.pod.get("volumes", ()):
            if "emptyDir" in volume and not (volume["emptyDir"] or {}).get("sizeLimit"):
                problems.append(f"{workload.where}: emptyDir {volume['name']} has no limit")
    return problems


def is_probed(documents: list[Manifest]) -> list[str]:
    """Three probes each, on ports that exist, of services that exist, on the plaintext port."""
    problems = []
    for workload in workloads(documents):
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            probe = workload.main.get(kind)
            if probe is None:
                problems.append(f"{workload.where}: no {kind}")
                continue
            problems += [
                f"{workload.where}: {kind} {it}" for it in _bad_probe(workload, kind, probe)
            ]
    return problems


def _bad_probe(workload: Workload, kind: str, probe: Manifest) -> list[str]:
    known = ports(workload)
    for how in ("httpGet", "tcpSocket", "grpc"):
        if how in probe:
            port = probe[how]["port"]
            if port not in known and port not in known.values():
                return [f"asks port {port}, which the container has not"]
    if workload.name not in SERVICES:
        return []
    asked = probe.get("grpc")
    if asked is None:
        return ["doesn't ask for gRPC health"]
    problems = []
    if asked["port"] != known.get("probe"):
        problems.append("doesn't ask on the plaintext port")
    service = asked.get("service", "")
    if service and service not in _health_names(workload.name):
        problems.append(f"asks for {service}, which is no service of it")
    if kind != "readinessProbe" and service:
        problems.append("asks for readiness: a pod that drains or waits would be killed")
    return problems


def _health_names(service: str) -> tuple[str, ...]:
    return {
        "engine": tuple(ENGINE_SERVICES),
        "matchmaker": tuple(MatchmakerService.service_names),
        "progression": tuple(ProgressionService.service_names),
    }[service]


def ends_in_time(documents: list[Manifest]) -> list[str]:
    """The preStop and a drain fit into the pod's grace, with some seconds to spare.

    A drain takes the setting's grace twice at worst: to say goodbye, then for open calls to end.
    """
    problems = []
    for workload in workloads(documents):
        if workload.name not in SERVICES:
            continue
        given = environment(documents, workload)
        hook = workload.main.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command")
        if hook is None:
            problems.append(f"{workload.where}: no preStop, so clients meet it while it drains")
            continue
        grace = float(given.get(f"OPOLYX_{workload.name.upper()}_GRACE_SECONDS", "20"))
        needed = float(hook[-1]) + 2 * grace + _SPARE_SECONDS
        if workload.pod.get("terminationGracePeriodSeconds", 30) < needed:
            problems.append(f"{workload.where}: needs {needed:.0f} s to end, and is killed before")
    return problems


def shared_connections_stay_open(documents: list[Manifest]) -> list[str]:
    """No service closes a connection for the calls on it: those of the edge are many clients'."""
    problems = []
    for workload in workloads(documents):
        name = f"OPOLYX_{workload.name.upper()}_REFUSED_CALLS_PER_SECOND"
        if workload.name in SERVICES and environment(documents, workload).get(name) != "0":
            problems.append(f"{workload.where}: {name} isn't 0, so one client cuts off others")
    return problems


def settings_are_real(documents: list[Manifest]) -> list[str]:
    """Every variable is a setting of the service that gets it, and fits the pod around it."""
    problems: list[str] = []
    known = {name: variables(settings) for name, settings in SERVICES.items()}
    for workload in workloads(documents):
        if workload.name not in SERVICES:
            continue
        prefix = f"OPOLYX_{workload.name.upper()}_"
        mounts = [found["mountPath"] for found in workload.main.get("volumeMounts", ())]
        given = environment(documents, workload)
        for name, value in given.items():
            if name.startswith("OPOLYX_") and not any(name in names for names in known.values()):
                problems.append(f"{workload.where}: {name} is no setting")
            if not name.startswith(prefix):
                continue
            if name.endswith("_FILE") and not any(value.startswith(f"{at}/") for at in mounts):
                problems.append(f"{workload.where}: {name} is {value}, which isn't mounted")
        for setting, port in (("LISTEN", "grpc"), ("PROBE", "probe"), ("METRICS", "metrics")):
            address = given.get(f"{prefix}{setting}_ADDRESS", ":0")
            if int(address.rpartition(":")[2]) != ports(workload).get(port):
                problems.append(f"{workload.where}: port {port} is not the setting's {address}")
    return problems


def references_exist(documents: list[Manifest]) -> list[str]:
    """What pods refer to is made here, or is one of the Secrets that operators make."""
    made = {(found["kind"], found["metadata"]["name"]) for found in documents}
    problems = []
    for workload in workloads(documents):
        wanted = [("ServiceAccount", workload.pod.get("serviceAccountName", "default"))]
        for volume in workload.pod.get("volumes", ()):
            if "secret" in volume:
                wanted.append(("Secret", volume["secret"]["secretName"]))
            if "configMap" in volume:
                wanted.append(("ConfigMap", volume["configMap"]["name"]))
        for container in workload.containers:
            for source in container.get("envFrom", ()):
                wanted.append(("ConfigMap", source["configMapRef"]["name"]))
            volumes = {found["name"] for found in workload.pod.get("volumes", ())}
            claims = workload.manifest["spec"].get("volumeClaimTemplates", ())
            volumes |= {found["metadata"]["name"] for found in claims}
            problems += [
                f"{workload.where}: mounts {mount['name']}, which is no volume"
                for mount in container.get("volumeMounts", ())
                if mount["name"] not in volumes
            ]
        problems += [
            f"{workload.where}: there is no {kind} {name}"
            for kind, name in wanted
            if (kind, name) not in made and not (kind == "Secret" and name in OUTSIDE)
        ]
    return problems


def selectors_match(documents: list[Manifest]) -> list[str]:
    """Whoever selects pods finds some, by ports that they have."""
    problems = []
    pods = workloads(documents)
    for found in documents:
        spec = found.get("spec", {})
        selector = (
            spec.get("podSelector") if found["kind"] == "NetworkPolicy" else spec.get("selector")
        )
        if selector is None:
            continue
        meant = [workload for workload in pods if matches(selector, workload.labels)]
        if not meant:
            problems.append(f"{where(found)}: selects no pod")
        if found["kind"] == "Service":
            problems += [
                f"{where(found)}: {workload.where} has no port {port['targetPort']}"
                for workload in meant
                for port in spec["ports"]
                if port["targetPort"] not in ports(workload)
                and port["targetPort"] not in ports(workload).values()
            ]
            if len({workload.where for workload in meant}) > 1:
                problems.append(f"{where(found)}: selects pods of several programs")
    for workload in pods:
        if not matches(workload.manifest["spec"]["selector"], workload.labels):
            problems.append(f"{workload.where}: doesn't select its own pods")
        for spread in workload.pod.get("topologySpreadConstraints", ()):
            if not matches(spread["labelSelector"], workload.labels):
                problems.append(f"{workload.where}: spreads other pods than its own")
    return problems


def survives_a_drain(documents: list[Manifest]) -> list[str]:
    """A node may be emptied without all pods of a service going at once, and without waiting for ever."""
    problems = []
    budgets = of_kind(documents, "PodDisruptionBudget")
    for workload in workloads(documents):
        if workload.manifest["kind"] != "Deployment":
            continue
        mine = [found for found in budgets if matches(found["spec"]["selector"], workload.labels)]
        if len(mine) != 1:
            problems.append(f"{workload.where}: has {len(mine)} disruption budgets")
        elif mine[0]["spec"].get("maxUnavailable") != 1:
            problems.append(f"{workload.where}: its budget isn't one pod at a time")
        update = workload.manifest["spec"].get("strategy", {}).get("rollingUpdate", {})
        if update.get("maxUnavailable") != 0:
            problems.append(f"{workload.where}: a rollout takes pods away before others are there")
    return problems


def images_are_built_here_or_pinned(documents: list[Manifest]) -> list[str]:
    """Our images have a target with the command that the pod runs; others have a fixed version."""
    dockerfile = (ROOT / "deploy" / "docker" / "Dockerfile").read_text()
    problems = []
    for workload in workloads(documents):
        for container in workload.containers:
            image = container["image"]
            own = re.fullmatch(r"(?:.*/)?opolyx/([a-z-]+)(:[\w.-]+)?(@sha256:[0-9a-f]{64})?", image)
            if own is None:
                if not re.search(r":v?\d[\w.-]*(@sha256:[0-9a-f]{64})?$", image):
                    problems.append(f"{workload.where}: {image} is of no fixed version")
                continue
            if not (own[2] or own[3]):
                problems.append(f"{workload.where}: {image} has no tag")
            stage = re.search(
                rf"^FROM \S+ AS {own[1]}\n(.*?)(?=^FROM |\Z)", dockerfile, re.M | re.S
            )
            if stage is None:
                problems.append(f"{workload.where}: the Dockerfile has no target {own[1]}")
            elif f'"{container["command"][0]}"' not in stage[1]:
                problems.append(f"{workload.where}: {container['command'][0]} isn't in its image")
    return problems


CHECKS: Final[tuple[Check, ...]] = (
    follows_the_schema,
    is_restricted,
    is_bounded,
    is_probed,
    ends_in_time,
    settings_are_real,
    shared_connections_stay_open,
    references_exist,
    selectors_match,
    survives_a_drain,
    flows_are_exact,
    metrics_are_found,
    images_are_built_here_or_pinned,
)
"""All checks."""
