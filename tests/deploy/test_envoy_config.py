"""The edge's configuration as it is deployed: valid, up to date, and what it lets through."""

from pathlib import Path

import pytest
import yaml

from envoy_variant import ENVOY, PLAINTEXT, Variant, plaintext, secret
from opolyx_engine.rpc.service_handlers import ROLES as ENGINE_ROLES
from opolyx_engine.settings import EngineSettings
from opolyx_matchmaker.access import ROLES_BY_METHOD as MATCHMAKER_ROLES
from opolyx_progression.access import ACCESS as PROGRESSION_ROLES
from support_certificates import write_certificate
from support_envoy import validated

DEPLOYED = Variant()  # reading it takes a while
_CLIENTS = {"player", "bot", "*"}
_ALL = {**ENGINE_ROLES, **MATCHMAKER_ROLES, **PROGRESSION_ROLES}


def routed(listener: str, path: str) -> str | None:
    """The cluster that a call goes to; None if it goes nowhere."""
    for host in DEPLOYED.manager(listener)["route_config"]["virtual_hosts"]:
        for route in host["routes"]:
            match = route["match"]
            if path == match.get("path") or path.startswith(match.get("prefix", "\0")):
                return str(route["route"]["cluster"]) if "route" in route else None
    return None


def test_the_configuration_is_valid_with_all_its_certificates(tmp_path: Path) -> None:
    cert, key = write_certificate(tmp_path, "any")
    for name, content in (("tls.crt", cert), ("tls.key", key), ("ca.crt", cert)):
        (tmp_path / name).write_bytes(content.read_bytes())
    for name in ("edge-certificate", "service-certificate", "service-authority"):
        (tmp_path / f"{name}.yaml").write_text(secret(name, tmp_path))
    variant = Variant()
    variant.read_secrets_from(tmp_path)
    config = tmp_path / "envoy.yaml"
    config.write_text(variant.text())
    said = validated(config)
    assert 0 == said.returncode, said.stderr
    assert "Deprecated" not in said.stderr


def test_the_variant_without_tls_is_valid_and_made_of_the_source() -> None:
    said = validated(PLAINTEXT)
    assert 0 == said.returncode, said.stderr
    assert "Deprecated" not in said.stderr
    assert plaintext() == PLAINTEXT.read_text(), "make envoy-variants"
    assert "transport_socket\n" not in PLAINTEXT.read_text()


def test_every_certificate_is_looked_for_where_the_pods_have_it() -> None:
    wanted = {
        path
        for node in _dicts(DEPLOYED.config)
        if isinstance(path := node.get("path"), str) and "/etc/" in path
    }
    names = ("edge-certificate", "service-certificate", "service-authority")
    assert {f"/etc/envoy/{name}.yaml" for name in names} == wanted
    for name in names:
        held = yaml.safe_load((ENVOY / f"{name}.yaml").read_text())["resources"][0]
        assert name == held["name"]


@pytest.mark.parametrize("path", sorted(_ALL))
def test_clients_reach_what_clients_may_call_and_services_the_rest(path: str) -> None:
    area = path.split(".")[1]
    cluster = {"identity": "matchmaker"}.get(area, area)
    for_clients = bool(_CLIENTS & _ALL[path])
    if path.split("/")[1].endswith(("AllocationService", "OperationsService", "ReplicaService")):
        assert not for_clients
    operators_too = path.startswith("/opolyx.progression") and "operator" in _ALL[path]
    assert (cluster if for_clients or operators_too else None) == routed("edge", path)
    if "ReplicaService" in path:
        assert routed("services", path) is None
    else:
        assert cluster == routed("services", path)


def test_nothing_times_out_that_may_be_quiet() -> None:
    for listener in ("edge", "services"):
        manager = DEPLOYED.manager(listener)
        assert "0s" == manager["stream_idle_timeout"] == manager["request_timeout"]
        assert "max_connection_duration" not in str(manager)
        assert "max_stream_duration" not in str(manager)
        for host in manager["route_config"]["virtual_hosts"]:
            for route in host["routes"]:
                if "route" in route:
                    assert "0s" == route["route"]["timeout"] == route["route"]["idle_timeout"]


def test_pings_are_no_more_frequent_than_the_services_allow() -> None:
    for name in ("engine", "matchmaker", "progression"):
        options = DEPLOYED.cluster(name)["typed_extension_protocol_options"]
        http2 = next(iter(options.values()))["explicit_http_config"]["http2_protocol_options"]
        interval = float(http2["connection_keepalive"]["interval"].rstrip("s"))
        assert interval >= EngineSettings().least_ping_seconds
        assert http2["max_concurrent_streams"] <= EngineSettings().most_connection_calls


def test_the_admin_listens_on_loopback_only() -> None:
    address = DEPLOYED.config["admin"]["address"]["socket_address"]["address"]
    assert "127.0.0.1" == address
    routes = DEPLOYED.manager("operations")["route_config"]["virtual_hosts"][0]["routes"]
    assert ["/stats/prometheus"] == [route["match"]["path"] for route in routes]
    for listener in ("edge", "services"):
        assert "cluster: admin" not in yaml.safe_dump(DEPLOYED.manager(listener))


def _dicts(node: object) -> list[dict[str, object]]:
    if isinstance(node, dict):
        return [node, *(found for value in node.values() for found in _dicts(value))]
    if isinstance(node, list):
        return [found for each in node for found in _dicts(each)]
    return []
