"""The public surface: what is exported, frozen, documented and told in words."""

import ast
import dataclasses
import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

import opolyx_sdk
from opolyx_sdk import Token, actions, events, testing, text
from opolyx_sdk.text import Table

VALUES = [
    value
    for value in {
        **{name: getattr(opolyx_sdk, name) for name in opolyx_sdk.__all__},
        **{one.__name__: one for one in (*actions.ACTION_TYPES, *events.EVENT_TYPES)},
        **vars(opolyx_sdk.errors),
        **vars(opolyx_sdk.board),
        **vars(testing),
    }.values()
    if inspect.isclass(value) and dataclasses.is_dataclass(value)
]


def test_every_export_has_its_home() -> None:
    homes = opolyx_sdk._HOMES

    assert set(opolyx_sdk.__all__) - {"__version__"} == set(homes)
    assert set(opolyx_sdk.__all__) <= set(dir(opolyx_sdk))
    for name, module in homes.items():
        assert hasattr(importlib.import_module(f"opolyx_sdk.{module}"), name), name
    with pytest.raises(AttributeError, match="nonsense"):
        _ = getattr(opolyx_sdk, "nonsense")  # noqa: B009 - the checker knows it too


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.__name__)
def test_values_are_frozen_and_documented(value: Any) -> None:
    assert value.__doc__
    if value.__name__ != "GameReport":
        assert value.__dataclass_params__.frozen


def test_every_field_and_member_says_what_it_is() -> None:
    """What a type can't say stands below it: an editor shows it, and a frontend needs it."""
    bare: list[str] = []
    for module in (*opolyx_sdk._MODULES, "board", "enums"):
        path = Path(opolyx_sdk.__file__).with_name(f"{module}.py")
        for cls in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(cls, ast.ClassDef) and not cls.name.startswith("_"):
                bare += [f"{cls.name}.{name}" for name in undocumented(cls)]

    assert [] == bare


def undocumented(cls: ast.ClassDef) -> list[str]:
    """Public fields and members of a class that no string follows."""
    names: list[str] = []
    for one, after in zip(cls.body, [*cls.body[1:], None], strict=True):
        targets = [one.target] if isinstance(one, ast.AnnAssign) else getattr(one, "targets", [])
        told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        found = [target.id for target in targets if isinstance(target, ast.Name)]
        names += [name for name in found if not (told or name.startswith("_"))]
    return names


@pytest.mark.parametrize("kind", events.EVENT_TYPES, ids=lambda kind: kind.__name__)
def test_every_event_reads_as_a_sentence(kind: type[Any]) -> None:
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        hint: Any = field.type
        enum = inspect.isclass(hint) and issubclass(hint, int) and hint is not int
        values[field.name] = hint(1) if enum else (1, 2) if "tuple" in str(hint) else 1
    sentence = text.describe(kind(**values), Table(["Ada", "Bruno"]))

    assert len(sentence) > 5
    assert not set("{}<>") & set(sentence)
    for field in dataclasses.fields(kind):
        if "None" in str(field.type):
            values[field.name] = None
            assert text.describe(kind(**values), Table(["Ada", "Bruno"]))


def test_the_error_tree_in_the_docstring_is_the_tree() -> None:
    drawn = opolyx_sdk.errors.__doc__ or ""
    classes = [
        one
        for one in vars(opolyx_sdk.errors).values()
        if inspect.isclass(one) and issubclass(one, Exception)
    ]
    for one in classes:
        line = next(line for line in drawn.splitlines() if one.__name__ in line.split())
        depth = len(one.__mro__) - len(opolyx_sdk.OpolyxError.__mro__)
        assert 4 * depth == line.index(one.__name__), one.__name__


def test_a_token_is_never_in_a_repr() -> None:
    token = Token(jwt="very-secret", token_id="t", expires_unix_ms=1)
    client = opolyx_sdk.AsyncClient("localhost:1", token="very-secret")
    shown = f"{token!r} {client!r} {client._transport!r} {client!s} {token!s}"

    assert "very-secret" not in shown
