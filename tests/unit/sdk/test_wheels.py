"""What the wheels hold and declare, built as they are here without any index."""

import email
import tomllib
import zipfile
from email.message import Message
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from sdk_check import ROOT, build_wheels, declared, top_level

SERVICES: Final = {"pydantic", "structlog", "redis", "prometheus-client", "openskill"}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    built = build_wheels(tmp_path_factory.mktemp("wheels"))
    return {wheel.name.partition("-")[0]: wheel for wheel in built}


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        return email.message_from_bytes(archive.read(name))


def requirements(wheel: Path) -> dict[str, Requirement]:
    declared = [Requirement(one) for one in metadata(wheel).get_all("Requires-Dist", [])]
    return {one.name: one for one in declared if one.marker is None}


def test_each_wheel_takes_one_name_and_no_generated_module_is_bare(
    wheels: dict[str, Path],
) -> None:
    """Case A-36; `make sdk-check` installs them at both ends of what they declare."""
    tops = {name: top_level(wheel) for name, wheel in wheels.items()}

    assert {
        "opolyx_proto": {"opolyx"},
        "opolyx_rules": {"opolyx_rules"},
        "opolyx_sdk": {"opolyx_sdk"},
    } == tops
    with zipfile.ZipFile(wheels["opolyx_proto"]) as archive:
        names = archive.namelist()
    assert [] == [one for one in names if "_pb2" in one and one.count("/") < 3]
    assert [] == [one for one in names if one.endswith("__init__.py")]


def test_the_sdks_wheel_is_whole_and_typed(wheels: dict[str, Path]) -> None:
    package = ROOT / "clients/python_sdk"
    sources = {
        str(one.relative_to(package))
        for one in (package / "opolyx_sdk").rglob("*")
        if one.is_file() and "__pycache__" not in one.parts
    }
    with zipfile.ZipFile(wheels["opolyx_sdk"]) as archive:
        held = {one for one in archive.namelist() if ".dist-info/" not in one}
        (scripts,) = [one for one in archive.namelist() if one.endswith("entry_points.txt")]
        assert b"opolyx = opolyx_sdk.cli:main" in archive.read(scripts)

    assert "opolyx_sdk/py.typed" in held
    assert sources == held


def test_the_sdk_needs_no_service_and_none_of_their_packages(wheels: dict[str, Path]) -> None:
    needed = set(requirements(wheels["opolyx_sdk"])) | set(requirements(wheels["opolyx_proto"]))

    assert set() == needed & SERVICES
    assert {"opolyx-proto"} == {one for one in needed if one.startswith("opolyx")}
    assert {} == requirements(wheels["opolyx_rules"])


@pytest.mark.parametrize("name", ["opolyx_sdk", "opolyx_proto"])
def test_metadata_excludes_runtimes_that_cannot_work(wheels: dict[str, Path], name: str) -> None:
    needed = requirements(wheels[name])

    assert not needed["protobuf"].specifier.contains("6.31.0")
    assert needed["protobuf"].specifier.contains(generated_for("Protobuf Python Version"))
    assert needed["protobuf"].specifier.contains("7.99")
    assert not needed["protobuf"].specifier.contains("8.0")
    assert not needed["grpcio"].specifier.contains("1.79.9")
    assert needed["grpcio"].specifier.contains(generated_for("GRPC_GENERATED_VERSION"))
    assert SpecifierSet(">=3.11") == SpecifierSet(metadata(wheels[name])["Requires-Python"])


def generated_for(what: str) -> str:
    """The runtime that the generated code says it was made for: it refuses older ones."""
    stem = ROOT / "proto/opolyx/engine/v1/engine_service_pb2"
    if what == "GRPC_GENERATED_VERSION":
        lines = Path(f"{stem}_grpc.py").read_text("utf-8").splitlines()
        return next(line for line in lines if line.startswith(what)).split("'")[1]
    lines = Path(f"{stem}.py").read_text("utf-8").splitlines()
    return next(line for line in lines if what in line).rpartition(" ")[2]


def test_the_lowest_versions_are_those_the_check_installs() -> None:
    project = tomllib.loads((ROOT / "clients/python_sdk/pyproject.toml").read_text())["project"]
    names = {Requirement(one).name for one in declared()}

    assert names == {Requirement(one).name for one in project["dependencies"]} - {"opolyx-proto"}
    assert all(Requirement(one).specifier for one in declared())
