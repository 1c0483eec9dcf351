"""Events of the rules as the SDK's values; names of fields are the same."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, get_args, get_type_hints

from opolyx_rules import events as core
from opolyx_rules.actions import squares_of
from opolyx_rules.events import Event as CoreEvent
from opolyx_rules.ids import NOBODY
from opolyx_sdk.enums import OpenEnum
from opolyx_sdk.events import EVENT_TYPES, Event

_BY_NAME: Final = {cls.__name__: cls for cls in EVENT_TYPES}
_CLASSES: Final[dict[int, type[Event]]] = {
    kind: _BY_NAME["".join(part.capitalize() for part in name.split("_"))]
    for kind, name in core.NAMES.items()
}
_HINTS: Final = {kind: get_type_hints(cls) for kind, cls in _CLASSES.items()}


@lru_cache(maxsize=8_192)
def sdk_event(event: CoreEvent) -> Event:
    """The SDK's form of an event."""
    kind = event[0]
    values = {
        name: _value(_HINTS[kind][name], name, number)
        for name, number in zip(core.FIELDS[kind], event[1:], strict=True)
    }
    make: Callable[..., Event] = _CLASSES[kind]
    return make(**values)


def _value(hint: object, name: str, number: int) -> object:
    if name == "numbers":
        return tuple(squares_of(number))
    if type(None) in get_args(hint):
        return None if number == NOBODY else number
    if isinstance(hint, type) and issubclass(hint, OpenEnum):
        return hint(number)
    return number
