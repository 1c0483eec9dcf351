"""Who calls whom, by the settings, against what the network policies let through."""

import re

from settings_page import SERVICES
from support_manifests import NAME, Manifest, environment, matches, of_kind, workloads


def flows_are_exact(documents: list[Manifest]) -> list[str]:
    """The network policies allow what the settings need, and nothing besides; no policies, no check."""
    policies = of_kind(documents, "NetworkPolicy")
    if not policies:
        return []
    names = sorted({workload.name for workload in workloads(documents)})
    needed, allowed = needed_flows(documents), _allowed_flows(policies, names)
    return [
        *(f"{a} can't reach {b}:{port}" for a, b, port in sorted(needed - allowed)),
        *(f"{a} may reach {b}:{port} for no reason" for a, b, port in sorted(allowed - needed)),
    ]


Flow = tuple[str, str, int]


def needed_flows(documents: list[Manifest]) -> set[Flow]:
    """Who calls whom on which port: what the settings and the edge's clusters say."""
    by_host = {
        found["metadata"]["name"]: found["spec"]["selector"].get(NAME, "")
        for found in of_kind(documents, "Service")
    }
    flows: set[Flow] = set()
    for workload in workloads(documents):
        prefix = f"OPOLYX_{workload.name.upper()}_"
        for name, value in environment(documents, workload).items():
            host, _, port = value.rpartition(":")
            if name.startswith(prefix) and name.endswith("_ADDRESS") and host in by_host:
                flows.add((workload.name, by_host[host], int(port)))
            if name == f"{prefix}REPLICA_ADDRESS":
                flows.add((workload.name, workload.name, int(port)))
    return flows | _edge_flows(documents, by_host) | _store_flows(documents)


def _edge_flows(documents: list[Manifest], by_host: dict[str, str]) -> set[Flow]:
    text = "\n".join(
        content
        for found in of_kind(documents, "ConfigMap")
        for name, content in found.get("data", {}).items()
        if name.startswith("envoy")
    )
    found = re.findall(r"address: ([a-z.-]+), port_value: (\d+)", text)
    return {("edge", by_host[host], int(port)) for host, port in found if host in by_host}


def _store_flows(documents: list[Manifest]) -> set[Flow]:
    if not any(workload.name == "redis" for workload in workloads(documents)):
        return set()
    return {(service, "redis", 6379) for service in SERVICES}


def _allowed_flows(policies: list[Manifest], names: list[str]) -> set[Flow]:
    """Flows that both the sender's and the receiver's policies allow, between programs of ours."""
    ports_used = {
        rule_port["port"]
        for policy in policies
        for way in ("ingress", "egress")
        for rule in policy["spec"].get(way, ())
        for rule_port in rule.get("ports", ())
    }
    return {
        (sender, receiver, port)
        for sender in names
        for receiver in names
        for port in ports_used
        if _lets(policies, "egress", "to", sender, receiver, port)
        and _lets(policies, "ingress", "from", receiver, sender, port)
    }


def _lets(
    policies: list[Manifest], way: str, peers: str, subject: str, other: str, port: int
) -> bool:
    for policy in policies:
        spec = policy["spec"]
        if way.capitalize() not in spec["policyTypes"]:
            continue
        if not matches(spec["podSelector"], {NAME: subject}):
            continue
        for rule in spec.get(way, ()):
            fits = not rule.get("ports") or port in {found["port"] for found in rule["ports"]}
            if fits and _names(rule.get(peers), other):
                return True
    return False


def _names(peers: list[Manifest] | None, other: str) -> bool:
    """Whether a rule means pods of `other` in our namespace; a rule without peers means everybody."""
    if peers is None:
        return True
    return any(
        "podSelector" in peer
        and "namespaceSelector" not in peer
        and matches(peer["podSelector"], {NAME: other})
        for peer in peers
    )
