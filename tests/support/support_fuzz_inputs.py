"""Hostile inputs: messages made from their descriptors, and bytes that were once right."""

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

KINDS: Final = ("calls", "frames", "replays", "tokens")
"""Single calls and streams' frames over the wire; the parsers of replay files and tokens."""

_DEEPEST: Final = 4
_MOST_REPEATED: Final = 40
_TEXTS: Final = (
    "",
    "a",
    "x" * 5_000,
    "\u202e\u200b\u0000",
    "\U0001f600" * 60,
    "' OR 1=1 --",
    "%s%n{}{0}",
    "9" * 400,
    "-1",
    "../../etc/passwd",
    "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTkucl94",
    "classic@full",
    "d1",
    "o1",
    "1-1",
    "1-999999999",
)
_BYTES: Final = (b"", b"\x00", b"\xff" * 64, b"\xff" * 65, bytes(3_000))
_NUMBERS: Final = (0, 1, 2, 5, 6, 39, 40, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)
_FLOATS: Final = (0.0, -1.0, 1e308, float("inf"), float("nan"))
_LEAST: Final = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.CPPTYPE_ENUM: (-(2**31), 2**31 - 1),
}


class HostileInputs:
    """Makes messages of any type, and breaks bytes."""

    def __init__(
        self, luck: random.Random, known: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """Draw from `luck`.

        Args:
            luck: the same again gives the same inputs.
            known: texts that mean something to the server, by the field's name: so that inputs get
                past the first look.
        """
        self._luck = luck
        self.known = dict(known or {})

    def message(self, kind: type[Message], depth: int = 0) -> Message:
        """A message with fields that are absent, plausible or absurd."""
        made = kind()
        oneofs: Any = kind.DESCRIPTOR.oneofs
        chosen = {one.name: self._luck.choice(one.fields).name for one in oneofs}
        for field in kind.DESCRIPTOR.fields:
            one_of = field.containing_oneof
            if one_of is not None and chosen[one_of.name] != field.name:
                continue
            if self._luck.random() < (0.1 if depth == 0 else 0.25):
                continue
            self._set(made, field, depth)
        return made

    def encoded(self, kind: type[Message]) -> bytes:
        """Bytes of such a message: as they are, broken, or none of it at all."""
        choice = self._luck.random()
        if choice < 0.05:
            return self._luck.randbytes(self._luck.randrange(200))
        data = self.message(kind).SerializeToString()
        return data if choice < 0.7 else self.broken(data)

    def broken(self, data: bytes) -> bytes:
        """`data` with one to four changes: bits, bytes, pieces lost, doubled, moved or made up."""
        for _ in range(self._luck.choice((1, 1, 1, 2, 4))):
            data = self._changed(bytearray(data))
        return data

    def _changed(self, data: bytearray) -> bytes:
        luck = self._luck
        if not data:
            return luck.randbytes(luck.randrange(8))
        place = luck.randrange(len(data))
        other = luck.randrange(len(data))
        piece = slice(min(place, other), min(max(place, other), min(place, other) + 64))
        match luck.randrange(8):
            case 0:
                data[place] ^= 1 << luck.randrange(8)
            case 1:
                data[place] = luck.randrange(256)
            case 2:
                del data[piece]
            case 3:
                data[place:place] = data[piece]
            case 4:
                del data[place:]
            case 5:
                data[place:place] = luck.randbytes(luck.randrange(1, 20))
            case 6:
                data[place] = luck.choice(b'0129{}[]",:\n-.eEx\x00\xff')
            case _:
                data[piece] = bytes(reversed(data[piece]))
        return bytes(data)

    def _set(self, made: Message, field: Any, depth: int) -> None:
        value = getattr(made, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            return
        if not field.is_repeated:
            if field.message_type is not None:
                if depth < _DEEPEST:
                    value.CopyFrom(self.message(type(value), depth + 1))
                return
            setattr(made, field.name, self._scalar(field))
            return
        for _ in range(self._luck.choice((0, 1, 2, 3, _MOST_REPEATED))):
            if field.message_type is None:
                value.append(self._scalar(field))
            elif depth < _DEEPEST:
                item = value.add()
                item.CopyFrom(self.message(type(item), depth + 1))

    def _scalar(self, field: Any) -> Any:
        luck = self._luck
        if field.type == FieldDescriptor.TYPE_STRING:
            known = self.known.get(field.name)
            return luck.choice(known) if known and luck.random() < 0.7 else luck.choice(_TEXTS)
        if field.type == FieldDescriptor.TYPE_BYTES:
            return luck.choice(_BYTES)
        if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
            return luck.random() < 0.5
        if field.cpp_type in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
            return luck.choice(_FLOATS)
        if field.enum_type is not None and luck.random() < 0.7:
            return luck.choice(field.enum_type.values).number
        least, most = _LEAST[field.cpp_type]
        number = luck.choice(_NUMBERS) * luck.choice((1, 1, 1, -1))
        return min(most, max(least, number))
