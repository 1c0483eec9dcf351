"""The manifests of `deploy/k8s` as an operator's kubectl would make them, and what is in them."""

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

ROOT: Final = Path(__file__).resolve().parents[2]
OVERLAYS: Final = ROOT / "deploy" / "k8s" / "overlays"
NAME: Final = "app.kubernetes.io/name"
"""The label that tells one program's pods from another's."""

Manifest = dict[str, Any]
_SECONDS: Final = 60


def overlays() -> list[str]:
    """The names of all overlays."""
    return sorted(path.name for path in OVERLAYS.iterdir() if path.is_dir())


@functools.cache
def _built(overlay: str) -> str:
    program = shutil.which("kubectl")
    if program is None:
        reason = "kubectl is not installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run(
        [program, "kustomize", str(OVERLAYS / overlay)],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return json.dumps([found for found in yaml.load_all(done.stdout, loader) if found])


def manifests(overlay: str) -> list[Manifest]:
    """What an overlay makes; the caller may change it."""
    found: list[Manifest] = json.loads(_built(overlay))
    return found


@dataclass(frozen=True)
class Workload:
    """Pods of one program, and the labels they carry."""

    where: str
    manifest: Manifest
    pod: Manifest
    labels: dict[str, str]

    @property
    def name(self) -> str:
        """The program's name."""
        return self.labels.get(NAME, "")

    @property
    def containers(self) -> list[Manifest]:
        """All containers, those that run first included."""
        return [*self.pod.get("initContainers", ()), *self.pod["containers"]]

    @property
    def main(self) -> Manifest:
        """The container that is the program."""
        found: Manifest = self.pod["containers"][0]
        return found


def workloads(documents: list[Manifest]) -> list[Workload]:
    """Everything that makes pods."""
    return [
        Workload(
            where(found),
            found,
            found["spec"]["template"]["spec"],
            found["spec"]["template"]["metadata"].get("labels", {}),
        )
        for found in documents
        if "template" in found.get("spec", {})
    ]


def of_kind(documents: list[Manifest], *kinds: str) -> list[Manifest]:
    """The manifests of some kinds."""
    return [found for found in documents if found["kind"] in kinds]


def where(manifest: Manifest) -> str:
    """What a message calls a manifest."""
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def environment(documents: list[Manifest], workload: Workload) -> dict[str, str]:
    """What the program's container finds in its environment, as far as manifests say."""
    maps = {found["metadata"]["name"]: found["data"] for found in of_kind(documents, "ConfigMap")}
    found: dict[str, str] = {}
    for source in workload.main.get("envFrom", ()):
        found.update(maps.get(source.get("configMapRef", {}).get("name"), {}))
    for entry in workload.main.get("env", ()):
        found[entry["name"]] = entry.get("value", "")
    return found


def ports(workload: Workload) -> dict[str, int]:
    """The program's ports by name."""
    return {found["name"]: found["containerPort"] for found in workload.main.get("ports", ())}


def matches(selector: Manifest | None, labels: dict[str, str]) -> bool:
    """Whether a selector of labels means pods with these; an empty one means all."""
    selector = selector or {}
    wanted = selector.get("matchLabels", selector if "matchExpressions" not in selector else {})
    return all(labels.get(name) == value for name, value in wanted.items()) and all(
        _fits(found, labels) for found in selector.get("matchExpressions", ())
    )


def _fits(expression: Manifest, labels: dict[str, str]) -> bool:
    value = labels.get(expression["key"])
    known = expression.get("values", [])
    return {
        "In": value in known,
        "NotIn": value not in known,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }[expression["operator"]]


def all_strings(value: object) -> Iterator[str]:
    """Every string in a manifest."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from all_strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from all_strings(part)
