"""The pods of an overlay on one machine: added, rolled out, and lost with their node."""

import asyncio
import base64
import itertools
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Self

import yaml

from envoy_variant import Variant
from support_balancer import Balancer
from support_certificates import Authority
from support_envoy import envoy_path
from support_manifests import ROOT, Manifest, Workload, manifests, workloads
from support_pods import Ground, Pod
from support_programs import own_network

NODES: Final = ("node-a", "node-b", "node-c")
SERVICES: Final = ("engine", "matchmaker", "progression", "edge")
_FIRST: Final = {"engine": 1, "matchmaker": 51, "progression": 101, "edge": 151}
_PORTS: Final = {"engine": 7701, "matchmaker": 7702, "progression": 7703}
_SPARE: Final = 2
_BALANCER: Final = 250
_BIN: Final = Path(sys.executable).parent
# One machine's clients meet the limits of one address, and bots are not to think.
_QUICK: Final = {
    "OPOLYX_MATCHMAKER_GUESTS_PER_MINUTE": "0",
    "OPOLYX_MATCHMAKER_ROOMS_PER_MINUTE": "0",
    "OPOLYX_ENGINE_BOT_THINK_MS": "0",
}


class Stage:
    """The pods of an overlay over a Redis. Use as a context."""

    def __init__(self, folder: Path, overlay: str, store_url: str) -> None:
        """Nothing runs yet."""
        self.pods: dict[str, list[Pod]] = {name: [] for name in SERVICES}
        self._network = own_network(random.Random(str(folder)))
        self.address = f"{self._network}.{_BALANCER}"
        documents = [_quickened(found) for found in manifests(overlay)]
        self.tls = overlay == "prod"
        """Whether the overlay has TLS."""
        self._authority = Authority("opolyx rehearsal")
        secrets = secrets_of(folder / "secrets", store_url)
        if self.tls:
            secrets |= self.certificates()
        self.authority = self._authority.certificate.encode()
        """What clients of the edge believe, where it speaks TLS."""
        self.ground = Ground(
            folder / "pods",
            documents,
            secrets,
            {
                "opolyx-edge-services:": f"{self.address}:",
                "/opt/opolyx/bin/": f"{_BIN}/",
            },
        )
        self.workloads = {found.name: found for found in workloads(documents)}
        self._numbers = itertools.count()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            for port in (7443, 7780):
                await stack.enter_async_context(
                    Balancer(self.address, port, lambda: self.pods["edge"])
                )
            stack.push_async_callback(self._end)
            started = [
                await self.add(name)
                for name in SERVICES
                for _ in range(self.workloads[name].manifest["spec"].get("replicas", 3))
            ]
            await asyncio.gather(*(pod.until_ready() for pod in started))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def add(self, service: str, *, but: str = "") -> Pod:
        """One more pod, on the node that has the fewest of them and isn't `but`."""
        taken = {pod.address for pod in self.pods[service]}
        address = next(one for one in self._pool(service) if one not in taken)
        own = [pod.node for pod in self.pods[service]]
        all_ = [pod.node for pods in self.pods.values() for pod in pods]
        node = min(
            (one for one in NODES if one != but), key=lambda one: (own.count(one), all_.count(one))
        )
        name = f"{service}-{next(self._numbers)}"
        workload: Workload = self.workloads[service]
        pod = Pod(workload, name, address, node, self.ground)
        pod.finish_files(lambda path: self._at_home(path, pod))
        self.pods[service].append(pod)
        await pod.start()
        return pod

    async def roll_out(self, service: str) -> None:
        """Replace all pods of a service, as the manifests' strategy says: one more, then one less."""
        for old in list(self.pods[service]):
            await (await self.add(service)).until_ready()
            self.pods[service].remove(old)
            await old.delete()

    async def lose_node(self, node: str) -> int:
        """A node goes with all its pods; others come up elsewhere. How many went."""
        lost = [(name, pod) for name in SERVICES for pod in self.pods[name] if pod.node == node]
        await asyncio.gather(*(pod.lose() for _, pod in lost))
        for name, pod in lost:
            self.pods[name].remove(pod)
        await asyncio.sleep(2.0)
        new = [await self.add(name, but=node) for name, _ in lost]
        await asyncio.gather(*(pod.until_ready() for pod in new))
        return len(lost)

    async def _end(self) -> None:
        """Edges last, as the services still speak through them."""
        for name in SERVICES:
            await asyncio.gather(*(pod.delete() for pod in self.pods[name]))
            self.pods[name].clear()

    def _pool(self, service: str) -> list[str]:
        count = self.workloads[service].manifest["spec"].get("replicas", 3) + _SPARE
        return [f"{self._network}.{_FIRST[service] + number}" for number in range(count)]

    def _at_home(self, path: Path, pod: Pod) -> None:
        """Envoy's configuration for this machine: the pods' addresses instead of names."""
        if path.name not in ("envoy.yaml", "plaintext.yaml"):
            return
        variant = Variant(path)
        for service, port in _PORTS.items():
            variant.serve(service, [f"{address}:{port}" for address in self._pool(service)])
        for listener, port in (("edge", 7443), ("services", 7780), ("operations", 9902)):
            variant.listen(listener, f"{pod.address}:{port}")
        variant.administer(f"{pod.address}:9901")
        path.write_text(variant.text())

    def replace_secret(self, name: str, files: dict[str, str]) -> None:
        """A Secret has other contents: in the pods that run, and in those to come."""
        self.ground.secrets[name] = files
        for pod in itertools.chain(*self.pods.values()):
            pod.remount(name)

    def certificates(self) -> dict[str, dict[str, str]]:
        """The Secrets of TLS with new certificates of the stage's authority."""
        names = ("engine", "matchmaker", "progression", "edge-services")
        own = [*(f"opolyx-{name}" for name in names), self.address]
        cert, key = self._authority.issue("services", *own)
        edge_cert, edge_key = self._authority.issue("edge", self.address)
        return {
            "opolyx-tls": {"tls.crt": cert, "tls.key": key, "ca.crt": self._authority.certificate},
            "opolyx-edge-tls": {"tls.crt": edge_cert, "tls.key": edge_key},
        }


def _quickened(manifest: Manifest) -> Manifest:
    if "OPOLYX_ENGINE_LISTEN_ADDRESS" in manifest.get("data", {}):
        manifest["data"] |= _QUICK
    for container in (
        manifest.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ())
    ):
        container["command"] = [
            envoy_path() if word == "envoy" else word for word in container["command"]
        ]
    return manifest


def secrets_of(folder: Path, store_url: str) -> dict[str, dict[str, str]]:
    """What `deploy/k8s/secrets.sh` makes; with the same keys again from the same folder."""
    done = subprocess.run(
        [str(ROOT / "deploy" / "k8s" / "secrets.sh"), str(folder), store_url],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
        env={"PATH": f"{_BIN}:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder.parent)},
    )
    return dict(_decoded(done.stdout))


def _decoded(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    for found in yaml.safe_load_all(text):
        if found:
            files = found["data"].items()
            yield (
                found["metadata"]["name"],
                {name: base64.b64decode(value).decode() for name, value in files},
            )
