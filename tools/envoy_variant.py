"""Makes variants of `deploy/envoy/envoy.yaml`: without TLS, on other addresses, with fixed services.

    envoy_variant.py --write                     rewrite deploy/envoy/plaintext.yaml
    envoy_variant.py --plaintext --edge 127.0.0.1:7443 --engine 127.0.0.1:7701,127.0.0.1:7711 \
        --matchmaker 127.0.0.1:7702 --progression 127.0.0.1:7703 > edge.yaml

The one source stays what it is tested as: a variant differs in addresses and in TLS, in nothing else.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

ENVOY: Final = Path(__file__).parent.parent / "deploy" / "envoy"
"""Where the configuration lives."""

PLAINTEXT: Final = ENVOY / "plaintext.yaml"
"""The variant without TLS."""

_SOURCE: Final = ENVOY / "envoy.yaml"
_SECRETS: Final = ("edge-certificate", "service-certificate", "service-authority")
_LISTENERS: Final = ("edge", "services", "operations")
_CLUSTERS: Final = ("engine", "matchmaker", "progression")
_HEAD: Final = """\
# Made out of envoy.yaml by `make envoy-variants`: the same without TLS, for a laptop's cluster or
# behind something else that ends TLS. Change envoy.yaml, where the comments are, and make it anew.

"""


class Variant:
    """The configuration, to be changed in steps."""

    def __init__(self, source: Path = _SOURCE) -> None:
        """Begin with what is deployed."""
        # There and back: what several places share in the file, each has for itself here.
        self.config: dict[str, Any] = json.loads(json.dumps(yaml.safe_load(source.read_text())))
        """The whole of it."""

    def listener(self, name: str) -> dict[str, Any]:
        """A listener by name."""
        return _named(self.config["static_resources"]["listeners"], name)

    def cluster(self, name: str) -> dict[str, Any]:
        """A cluster by name."""
        return _named(self.config["static_resources"]["clusters"], name)

    def manager(self, listener: str) -> dict[str, Any]:
        """The settings of a listener's HTTP."""
        chain = self.listener(listener)["filter_chains"][0]
        config: dict[str, Any] = chain["filters"][0]["typed_config"]
        return config

    def without_edge_tls(self) -> None:
        """Clients speak plaintext."""
        del self.listener("edge")["filter_chains"][0]["transport_socket"]

    def without_service_tls(self) -> None:
        """The services speak plaintext, and so does who comes to the listener for them."""
        del self.listener("services")["filter_chains"][0]["transport_socket"]
        for name in _CLUSTERS:
            del self.cluster(name)["transport_socket"]

    def listen(self, name: str, address: str) -> None:
        """Put a listener on another address."""
        self.listener(name)["address"] = _socket(address)

    def administer(self, address: str) -> None:
        """Put the admin on another address."""
        self.config["admin"]["address"] = _socket(address)
        admin = self.cluster("admin")["load_assignment"]["endpoints"][0]["lb_endpoints"]
        admin[0]["endpoint"]["address"] = _socket(address)

    def serve(self, name: str, addresses: Sequence[str]) -> None:
        """Give a cluster fixed addresses instead of a name to look up."""
        cluster = self.cluster(name)
        del cluster["cluster_type"]
        cluster["type"] = "STATIC"
        endpoints = [{"endpoint": {"address": _socket(address)}} for address in addresses]
        cluster["load_assignment"]["endpoints"] = [{"lb_endpoints": endpoints}]

    def read_secrets_from(self, directory: Path) -> None:
        """Look for the files that name certificates in another directory."""
        for node in _dicts(self.config):
            path = node.get("path")
            if isinstance(path, str) and path.startswith("/etc/envoy/"):
                node["path"] = str(directory / Path(path).name)

    def text(self) -> str:
        """As YAML."""
        return yaml.safe_dump(self.config, sort_keys=False, width=100)


def secret(name: str, directory: Path) -> str:
    """The file that names a certificate, with its PEM files in another directory, as YAML."""
    config = yaml.safe_load((ENVOY / f"{name}.yaml").read_text())
    for node in _dicts(config):
        for key in ("path", "filename"):
            if key in node:
                node[key] = str(directory if key == "path" else directory / Path(node[key]).name)
    return yaml.safe_dump(config, sort_keys=False)


def plaintext() -> str:
    """The variant without TLS, as its file holds it."""
    variant = Variant()
    variant.without_edge_tls()
    variant.without_service_tls()
    return _HEAD + variant.text()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a variant, or rewrite the one that is kept."""
    given = _parser().parse_args(arguments)
    if given.write:
        PLAINTEXT.write_text(plaintext())
        return 0
    variant = Variant()
    if given.plaintext:
        variant.without_edge_tls()
    if given.plaintext or given.plaintext_services:
        variant.without_service_tls()
    for name in _LISTENERS:
        if address := getattr(given, name):
            variant.listen(name, address)
    for name in _CLUSTERS:
        if addresses := getattr(given, name):
            variant.serve(name, addresses.split(","))
    if given.admin:
        variant.administer(given.admin)
    if given.secrets:
        variant.read_secrets_from(given.secrets)
    sys.stdout.write(variant.text())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A variant of deploy/envoy/envoy.yaml.")
    parser.add_argument("--write", action="store_true", help="rewrite deploy/envoy/plaintext.yaml")
    parser.add_argument("--plaintext", action="store_true", help="no TLS at all")
    parser.add_argument(
        "--plaintext-services", action="store_true", help="TLS for clients, none behind the edge"
    )
    for name in _LISTENERS:
        parser.add_argument(f"--{name}", metavar="HOST:PORT", help=f"where {name} listens")
    parser.add_argument("--admin", metavar="HOST:PORT", help="where the admin listens")
    for name in _CLUSTERS:
        parser.add_argument(f"--{name}", metavar="HOST:PORT,…", help=f"fixed addresses of {name}")
    parser.add_argument(
        "--secrets", type=Path, metavar="DIR", help=f"where the files {', '.join(_SECRETS)} are"
    )
    return parser


def _named(those: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(one for one in those if one["name"] == name)


def _socket(address: str) -> dict[str, Any]:
    host, _, port = address.rpartition(":")
    return {"socket_address": {"address": host.strip("[]"), "port_value": int(port)}}


def _dicts(node: object) -> Iterator[dict[str, Any]]:
    """Every mapping below `node`."""
    if isinstance(node, dict):
        yield node
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from _dicts(each)


if __name__ == "__main__":
    sys.exit(main())
