"""The Dockerfile: builds from the lock, from what is there, and leaves nothing to build with."""

import re
import tomllib
from typing import Any, Final

import pytest

from image_locks import IMAGES, locked_blocks
from support_manifests import ROOT

TEXT: Final = (ROOT / "deploy" / "docker" / "Dockerfile").read_text().replace("\\\n", " ")
STAGES: Final = {
    name: (base, body)
    for base, name, body in re.findall(
        r"^FROM (\S+) AS (\S+)\n(.*?)(?=^FROM |\Z)", TEXT, re.MULTILINE | re.DOTALL
    )
}
TARGETS: Final = ("engine", "matchmaker", "progression", "all-in-one")


def ancestors(stage: str) -> list[str]:
    """A stage and those that it is made from, not those that it only copies from."""
    found = [stage]
    while (base := STAGES[found[-1]][0]) in STAGES:
        found.append(base)
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_runs_as_nobody_without_an_installer(target: str) -> None:
    stages = ancestors(target)
    steps = "\n".join(STAGES[stage][1] for stage in reversed(stages))

    assert stages[-1] == "runtime"
    assert re.findall(r"^USER (\S+)", steps, re.MULTILINE) == ["65532:65532"]
    assert "pip uninstall --yes --root-user-action=ignore setuptools wheel pip" in steps
    assert not re.search(r"pip install|pip wheel|apt-get", steps)


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_s_command_is_a_script_of_a_package_in_it(target: str) -> None:
    body = STAGES[target][1]
    command = re.search(r'^ENTRYPOINT \["/opt/opolyx/bin/([a-z-]+)"', body, re.MULTILINE)
    copied = re.search(r"^COPY --from=(\S+) /opt/opolyx /opt/opolyx$", body, re.MULTILINE)

    assert command is not None
    assert copied is not None
    installs = STAGES[copied[1]][1]
    assert any(
        command[1] in project.get("scripts", {})
        and (
            f"/wheels/{project['name'].replace('-', '_')}-*.whl" in installs
            or "/wheels/*.whl" in installs
        )
        for project in projects()
    )


def test_a_volume_belongs_to_who_writes_to_it() -> None:
    body = STAGES["all-in-one"][1]
    owned = re.search(r"^COPY --from=(\S+) --chown=65532:65532 /data /data$", body, re.MULTILINE)

    assert owned is not None
    assert owned.start() < body.index('VOLUME ["/data"]')
    assert "mkdir /data" in STAGES[owned[1]][1]


def projects() -> list[dict[str, Any]]:
    workspace = tomllib.loads((ROOT / "pyproject.toml").read_text())
    members = workspace["tool"]["uv"]["workspace"]["members"]
    return [
        tomllib.loads((ROOT / one / "pyproject.toml").read_text())["project"] for one in members
    ]


def test_what_is_copied_exists_and_is_sent_to_the_builder() -> None:
    ignored = (ROOT / "deploy" / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
    sent = [line[1:] for line in ignored if line.startswith("!")]
    sources = re.findall(r"^COPY (?!--from)(\S+) \S+$", TEXT, re.MULTILINE)

    assert sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(source == one or (ROOT / source).match(one) for one in sent), source


def test_all_members_become_wheels() -> None:
    members = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["workspace"][
        "members"
    ]
    wheels = re.search(r"pip wheel (.*)$", STAGES["wheels"][1], re.MULTILINE)

    assert wheels is not None
    assert set(re.findall(r"\./(\S+)", wheels[1])) == set(members)


def test_third_party_packages_come_from_the_lock_alone() -> None:
    installs = re.findall(r"pip (?:--python \S+ )?install (.*?)(?:&&|$)", TEXT, re.MULTILINE)

    assert installs
    for arguments in installs:
        assert "--require-hashes" in arguments or "--no-index" in arguments, arguments


@pytest.mark.parametrize("image", [*IMAGES, "build"])
def test_an_image_s_lock_is_a_part_of_the_lock(image: str) -> None:
    whole = locked_blocks((ROOT / "requirements.lock").read_text())
    part = locked_blocks((ROOT / "deploy" / "docker" / f"{image}.lock").read_text())

    assert part
    assert [] == [name for name, block in part.items() if whole.get(name) != block]


@pytest.mark.parametrize("image", IMAGES)
def test_no_tool_is_in_an_image_s_lock(image: str) -> None:
    part = locked_blocks((ROOT / "deploy" / "docker" / f"{image}.lock").read_text())

    assert not part.keys() & {"pytest", "mypy", "ruff", "hatchling", "pip", "setuptools"}
