"""The public surface of the SDK: every name with its signature. `make golden` rewrites the file.

A change of the file is a change for users: say so in the changelog.
"""

import dataclasses
import enum
import importlib
import inspect
import re
from pathlib import Path
from typing import Any, Final

import opolyx_sdk
from opolyx_sdk import actions, board, enums, events, names, options, testing, text

FILE: Final = Path(__file__).with_name("sdk_surface.txt")
MODULES: Final = (opolyx_sdk, actions, board, enums, events, names, options, testing, text)


def test_the_public_surface_is_the_one_that_was_released(update_golden: bool) -> None:
    surface = "".join(f"{line}\n" for module in MODULES for line in described(module))
    if update_golden:
        FILE.write_text(surface, "utf-8")

    assert FILE.read_text("utf-8").splitlines() == surface.splitlines()


def described(module: Any) -> list[str]:
    """One line a name."""
    exported = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    lines = [f"[{module.__name__}]"]
    for name in sorted(exported):
        value = getattr(module, name)
        lines += described_class(name, value) if inspect.isclass(value) else [other(name, value)]
    return lines


def described_class(name: str, value: Any) -> list[str]:
    if issubclass(value, enum.Enum):
        return [f"enum {name}: {', '.join(f'{one.name}={one.value}' for one in value)}"]
    bases = ", ".join(one.__name__ for one in value.__bases__ if one is not object)
    lines = [f"class {name}({bases})" if bases else f"class {name}"]
    if dataclasses.is_dataclass(value):
        lines += [f"    {one.name}: {hint(one.type)}" for one in dataclasses.fields(value)]
    members = [
        (member, found)
        for owner in reversed(value.__mro__)
        if owner.__module__.startswith("opolyx_sdk")
        for member, found in vars(owner).items()
        if member == "__init__" or not member.startswith("_")
    ]
    for member, found in sorted(dict(members).items()):
        if isinstance(found, property):
            lines.append(f"    {member} -> {hint(inspect.signature(found.fget).return_annotation)}")  # type: ignore[arg-type]
        elif inspect.isfunction(found) and not (
            member == "__init__" and dataclasses.is_dataclass(value)
        ):
            lines.append(f"    {member}{signature(found)}")
    return lines


def other(name: str, value: Any) -> str:
    return f"def {name}{signature(value)}" if inspect.isfunction(value) else f"value {name}"


def signature(function: Any) -> str:
    found = inspect.signature(function)
    shown: list[str] = []
    for one in found.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        text = one.name
        if one.annotation is not one.empty:
            text += f": {hint(one.annotation)}"
        if one.default is not one.empty:
            text += f" = {one.default!r}"
        shown.append(text)
    return f"({', '.join(shown)}) -> {hint(found.return_annotation)}"


def hint(annotation: Any) -> str:
    """An annotation without the modules of its names; long unions by their names."""
    shown = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    for union, name in ((actions.Action, "Action"), (events.Event, "Event")):
        shown = shown.replace(inspect.formatannotation(union), name)
    return re.sub(r"\b(?:[a-z_0-9]+\.)+(?=[A-Z])", "", shown)


def test_every_public_module_and_name_is_documented() -> None:
    for module in MODULES:
        assert inspect.getdoc(module), module
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                assert inspect.getdoc(value), name
    for module_name in opolyx_sdk._MODULES:
        module = importlib.import_module(f"opolyx_sdk.{module_name}")
        assert inspect.getdoc(module), module_name
