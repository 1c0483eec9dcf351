"""Events to the wire, driven by the core's table of fields.

Names are the same on both sides; a field that the proto marks optional is left out where the core
says `NOBODY`, and the wager's numbers are a bit mask in the core. A test compares all of it by
reflection.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

from opolyx.engine.v1 import engine_service_pb2, event_pb2
from opolyx_rules import events as core
from opolyx_rules.actions import squares_of
from opolyx_rules.events import Event
from opolyx_rules.ids import NOBODY

_DESCRIPTORS: Final = event_pb2.Event.DESCRIPTOR.fields_by_name


def _fields(name: str) -> Sequence[FieldDescriptor]:
    message = _DESCRIPTORS[name].message_type
    return () if message is None else message.fields


_OPTIONAL: Final = {
    kind: frozenset(
        field.name for field in _fields(name) if field.has_presence and field.message_type is None
    )
    for kind, name in core.NAMES.items()
}


def event_to_proto(event: Event) -> event_pb2.Event:
    """The message of an event."""
    kind = event[0]
    message = event_pb2.Event()
    part: Any = getattr(message, core.NAMES[kind])
    part.SetInParent()
    optional = _OPTIONAL[kind]
    for name, value in zip(core.FIELDS[kind], event[1:], strict=True):
        if name == "numbers":
            part.numbers.extend(squares_of(value))
        elif name not in optional or value != NOBODY:
            setattr(part, name, value)
    return message


@lru_cache(maxsize=4096)
def event_field(event: Event) -> bytes:
    """An update's field `events` with one event, as bytes to be joined."""
    return engine_service_pb2.Update(events=[event_to_proto(event)]).SerializeToString()
