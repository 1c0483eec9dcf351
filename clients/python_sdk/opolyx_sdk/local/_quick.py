"""Frozen values, made as fast as plain ones.

A frozen dataclass sets its fields through `object.__setattr__`, which costs ten times what an
ordinary class pays, and a simulator makes millions of them. So each value is made as an object of a
twin class, which has the same slots and isn't frozen, and then becomes one of the real class.
"""

from collections.abc import Callable
from dataclasses import fields, make_dataclass
from typing import Any, TypeVar

T = TypeVar("T")


def quick_maker(frozen: type[T]) -> Callable[..., T]:
    """Make values of a frozen dataclass with slots from all its fields in order."""
    names = [field.name for field in fields(frozen)]  # type: ignore[arg-type]
    twin: Any = make_dataclass(f"_{frozen.__name__}", names, slots=True)

    def make(*values: object) -> T:
        value = twin(*values)
        value.__class__ = frozen
        made: T = value
        return made

    return make
