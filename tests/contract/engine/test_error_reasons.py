"""Every reason that a service can send is a value of its area's ErrorReason."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opolyx.engine.v1 import error_pb2 as engine_pb
from opolyx.identity.v1 import error_pb2 as identity_pb
from opolyx.matchmaker.v1 import error_pb2 as matchmaker_pb
from opolyx.progression.v1 import error_pb2 as progression_pb
from opolyx_engine import command
from opolyx_matchmaker.room_refusal import RefusalKind
from opolyx_servicekit import errors

SERVICES = Path(__file__).parents[3] / "services"
PACKAGES = {
    "engine": SERVICES / "engine/server/opolyx_engine",
    "matchmaker": SERVICES / "matchmaker/opolyx_matchmaker",
    "progression": SERVICES / "progression/opolyx_progression",
    "kit": SERVICES / "kit/opolyx_servicekit",
}
AREAS: dict[str, list[Any]] = {
    "engine": [engine_pb],
    "matchmaker": [matchmaker_pb, identity_pb],
    "progression": [progression_pb],
}
ERRORS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.ServiceError)
}
PASSED_ON = {"matchmaker": [str(kind) for kind in RefusalKind]}
"""Reasons that a service has as an enum of its own, and passes on."""

OF_IDENTITY = {"TOKEN", "TOKEN_REVOKED", "TOKEN_EXPIRED", "ROLE"}
"""Reasons of the kit that name their domain themselves."""


def named(area: Any) -> set[str]:
    return {name.removeprefix("ERROR_REASON_") for name in area.ErrorReason.keys()}  # noqa: SIM118


def parent_call(node: ast.ClassDef) -> ast.Call | None:
    """Where a class with a constructor of its own tells its parent the reason."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "super().__init__":
            return call
    return None


def reasons_in(package: Path) -> Iterator[str]:
    """The first argument of every ServiceError made in a package, where it is written out."""
    nodes = [
        (path.name, node)
        for path in sorted(package.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
    ]
    derived = [
        node
        for _, node in nodes
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id in ERRORS for base in node.bases)
    ]
    errors_here = ERRORS | {node.name for node in derived if parent_call(node) is None}
    for call in filter(None, map(parent_call, derived)):
        if call.args and isinstance(call.args[0], ast.Constant):  # else it is passed on
            yield str(call.args[0].value)
    for name, node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id in errors_here:
            reason = node.args[0] if node.args else None
            if isinstance(reason, ast.Constant):
                yield str(reason.value)
            else:
                assert package == PACKAGES["matchmaker"], f"{name}:{node.lineno}"


@pytest.mark.parametrize("area", list(AREAS))
def test_every_reason_of_a_service_is_in_its_enum(area: str) -> None:
    known = set().union(*(named(proto) for proto in AREAS[area]))
    sent = set(reasons_in(PACKAGES[area])) | set(PASSED_ON.get(area, ()))
    assert sent
    assert set() == sent - known - OF_IDENTITY


def test_reasons_of_the_kit_are_in_every_enum() -> None:
    sent = set(reasons_in(PACKAGES["kit"]))
    assert OF_IDENTITY < sent
    assert named(identity_pb) >= OF_IDENTITY
    for protos in AREAS.values():
        for proto in protos:
            assert set() == sent - OF_IDENTITY - named(proto)


def test_reasons_to_send_a_command_again_are_in_the_enum() -> None:
    assert named(engine_pb) >= {command.STORE_AWAY, command.BUSY, command.FAULT}
