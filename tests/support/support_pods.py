"""Pods of the manifests as processes of this machine: what a kubelet does, without a cluster.

Each pod has an address of its own on loopback with the ports that the manifests give it. Its files
are made from the ConfigMaps and Secrets that it mounts; its command, environment, probes, preStop
and grace are what they say. A rollout goes as a Deployment's.
"""

import asyncio
import contextlib
import os
import re
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from support_manifests import Manifest, Workload, environment, of_kind
from support_programs import Program

_REFERENCE: Final = re.compile(r"\$\(([A-Z_]+)\)")
_PROBE_SECONDS: Final = 2.0


@dataclass
class Ground:
    """What pods stand on: where files go, and what names and programs are here."""

    folder: Path
    documents: list[Manifest]
    secrets: dict[str, dict[str, str]]
    """What operators bring: Secrets by name, with their files."""

    replaced: Mapping[str, str]
    """Texts of the manifests that are others here: names of services, paths of programs."""

    log: list[str] = field(default_factory=list)
    """What happened, for the summary."""

    faults: list[str] = field(default_factory=list)
    """What should not have."""

    def secret(self, name: str) -> Mapping[str, str]:
        """The files of a Secret; one that kustomize made has a hash behind its name."""
        return self.secrets.get(name) or self.secrets[name.rpartition("-")[0]]


class Pod:
    """One pod."""

    def __init__(
        self, workload: Workload, name: str, address: str, node: str, ground: Ground
    ) -> None:
        """Not started; its files are written."""
        self.name = name
        self.address = address
        self.node = node
        self.ready = False
        self._workload = workload
        self._container = workload.main
        self._ground = ground
        self._folder = ground.folder / name
        self._folder.mkdir(parents=True)
        self._paths = dict(self._mounted())
        self._program = Program(
            name, self._command(), self._environment(), self._folder, health=f"{address}:0"
        )
        self._watching: asyncio.Task[None] | None = None
        self._going = False

    async def start(self) -> None:
        """Start it, and watch it as its probes say."""
        await self._program.spawn()
        self._watching = asyncio.create_task(self._watch(), name=f"kubelet of {self.name}")

    async def until_ready(self, seconds: float = 90.0) -> None:
        """Wait until it is ready; RuntimeError with its log if it isn't in time."""
        until = time.monotonic() + seconds
        while not self.ready:
            if time.monotonic() > until:
                raise RuntimeError(f"{self.name} is not ready:\n{self._program.tail()}")
            await asyncio.sleep(0.05)

    async def delete(self) -> None:
        """As a kubelet ends a pod: preStop, SIGTERM, and SIGKILL when the grace is over."""
        self._going = True
        self.ready = False
        began = time.monotonic()
        grace = float(self._workload.pod.get("terminationGracePeriodSeconds", 30))
        hook = (
            self._container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command")
        )
        if hook is not None:
            await self._run([self._local(word) for word in hook], grace)
        left = grace - (time.monotonic() - began)
        code = await self._program.terminate(max(left, 0.1))
        await self._forget()
        took = time.monotonic() - began
        if code:
            self._ground.faults.append(
                f"{self.name} ended with {code} after {took:.1f} of {grace:.0f} s"
            )
        self._ground.log.append(f"{self.name} ended within {took:.1f} of {grace:.0f} s")

    async def lose(self) -> None:
        """As its node goes: at once, without a word."""
        self._going = True
        self.ready = False
        await self._program.kill()
        await self._forget()

    async def _forget(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    # --- Probes ---------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Startup first, then readiness and liveness side by side."""
        startup = self._container["startupProbe"]
        for _ in range(startup.get("failureThreshold", 3)):
            if await self._asked(startup):
                break
            await asyncio.sleep(startup.get("periodSeconds", 10) / 4)
        else:
            self._ground.faults.append(f"{self.name} did not start:\n{self._program.tail()}")
            return
        await asyncio.gather(self._readiness(), self._liveness())

    async def _readiness(self) -> None:
        probe, failures = self._container["readinessProbe"], 0
        while True:
            failures = 0 if await self._asked(probe) else failures + 1
            if failures == 0 and not self._going:
                self.ready = True
            elif failures >= probe.get("failureThreshold", 3):
                self.ready = False
            await asyncio.sleep(probe.get("periodSeconds", 10) / 4)

    async def _liveness(self) -> None:
        probe, failures = self._container["livenessProbe"], 0
        while True:
            failures = 0 if await self._asked(probe) else failures + 1
            if failures >= probe.get("failureThreshold", 3) and not self._going:
                self._ground.faults.append(f"{self.name} would be restarted: its liveness failed")
                return
            await asyncio.sleep(probe.get("periodSeconds", 10))

    async def _asked(self, probe: Manifest) -> bool:
        if "grpc" in probe:
            self._program.health = f"{self.address}:{probe['grpc']['port']}"
            return await self._program.is_serving(probe["grpc"].get("service", ""))
        how = probe.get("httpGet") or probe["tcpSocket"]
        port = how["port"]
        if isinstance(port, str):
            port = next(
                one["containerPort"] for one in self._container["ports"] if one["name"] == port
            )
        if "httpGet" in probe:
            return await asyncio.to_thread(
                _http_is_well, f"http://{self.address}:{port}{how['path']}"
            )
        try:
            _, writer = await asyncio.wait_for(
                asyncio.open_connection(self.address, port), _PROBE_SECONDS
            )
        except (OSError, TimeoutError):
            return False
        writer.close()
        return True

    # --- What it is made of ---------------------------------------------------------------------

    def _command(self) -> list[str]:
        words = [*self._container["command"], *self._container.get("args", ())]
        return [self._local(word) for word in words]

    def _environment(self) -> dict[str, str]:
        found = {"POD_IP": self.address}
        for name, value in environment(self._ground.documents, self._workload).items():
            if value or name not in found:
                found[name] = value
        expanded = {
            name: _REFERENCE.sub(lambda match: found.get(match[1], match[0]), value)
            for name, value in found.items()
        }
        return {name: self._local(value) for name, value in expanded.items()}

    def remount(self, secret: str) -> None:
        """A Secret that it mounts has other contents: all its files change at once, as a kubelet does it."""
        for mount, source in self._sources():
            if source.get("secret", {}).get("secretName", "") == secret:
                self._fill(Path(self._paths[mount]), self._ground.secret(secret))

    def _sources(self) -> Iterator[tuple[str, Manifest]]:
        volumes = {found["name"]: found for found in self._workload.pod.get("volumes", ())}
        for mount in self._container.get("volumeMounts", ()):
            yield mount["mountPath"], volumes[mount["name"]]

    def _mounted(self) -> Iterator[tuple[str, str]]:
        """Write the files that it mounts; where each place of the manifests is here."""
        maps = of_kind(self._ground.documents, "ConfigMap")
        by_name = {found["metadata"]["name"]: found for found in maps}
        for path, volume in self._sources():
            place = self._folder / path.strip("/").replace("/", "-")
            place.mkdir()
            if "secret" in volume:
                self._fill(place, self._ground.secret(volume["secret"]["secretName"]))
            elif "configMap" in volume:
                self._fill(place, by_name[volume["configMap"]["name"]]["data"])
            yield path, str(place)

    def _fill(self, place: Path, files: Mapping[str, str]) -> None:
        """Files behind a link that is replaced, so that all of them change in one step."""
        version = place / f"..{time.monotonic_ns()}"
        version.mkdir()
        for name, content in files.items():
            (version / name).write_text(content)
        new = place / "..data_new"
        new.symlink_to(version.name)
        new.replace(place / "..data")
        for name in files:
            if not (place / name).is_symlink():
                (place / name).symlink_to(f"..data/{name}")

    def finish_files(self, change: Callable[[Path], None]) -> None:
        """Let what it mounts name what is here: `change` gets each file."""
        for place in self._paths.values():
            for path in Path(place).iterdir():
                if not path.name.startswith(".."):
                    change(path.resolve())
                    path.write_text(self._localized(path.read_text()))

    def _local(self, text: str) -> str:
        # The manifests' own paths first: a checkout may lie under one of them, such as /tmp.
        text = self._localized(text)
        for there, here in self._ground.replaced.items():
            text = text.replace(there, here)
        return text.replace("0.0.0.0", self.address).replace(
            "127.0.0.1/9901", f"{self.address}/9901"
        )

    def _localized(self, text: str) -> str:
        for there, here in sorted(self._paths.items(), reverse=True):
            text = re.sub(rf"(?<![\w/-]){re.escape(there)}(?=[/\s\"',}}]|$)", here, text)
        return text

    async def _run(self, command: list[str], seconds: float) -> None:
        found = shutil.which(command[0])
        assert found is not None, f"{command[0]} is not here"
        process = await asyncio.create_subprocess_exec(found, *command[1:], env=dict(os.environ))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), seconds)
        if process.returncode is None:
            process.kill()
            await process.wait()
        elif process.returncode:
            self._ground.faults.append(f"{self.name}: its preStop ended with {process.returncode}")


def _http_is_well(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=_PROBE_SECONDS) as answer:
            status: Any = answer.status
            return bool(200 <= status < 400)
    except (urllib.error.URLError, OSError):
        return False
