"""Every message, field and enum value that a client may meet has its counterpart in the SDK."""

import dataclasses
import random
from typing import Any, get_type_hints

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from opolyx.engine.v1 import (
    action_pb2,
    decision_pb2,
    engine_service_pb2,
    event_pb2,
    game_pb2,
    operations_service_pb2,
    refusal_pb2,
)
from opolyx.identity.v1 import identity_service_pb2
from opolyx.matchmaker.v1 import matchmaker_service_pb2
from opolyx.progression.v1 import progression_service_pb2
from opolyx_sdk import RoomSeat, Seat, SeatCard, _convert, _frames, actions, enums, events

MODULES = (
    action_pb2,
    decision_pb2,
    engine_service_pb2,
    event_pb2,
    game_pb2,
    operations_service_pb2,
    refusal_pb2,
    identity_service_pb2,
    matchmaker_service_pb2,
    progression_service_pb2,
)
ENUMS = [
    enum
    for module in MODULES
    for enum in module.DESCRIPTOR.enum_types_by_name.values()
    if enum.name not in {"ErrorReason", "XpScheme", "LeaderboardKind"}
]
LEFT_OUT = {
    "opolyx.engine.v1.Retry": {"reason"},
    "opolyx.matchmaker.v1.GetCurrentGameResponse": set[str](),
}


@pytest.mark.parametrize("enum", ENUMS, ids=lambda enum: enum.name)
def test_every_enum_value_has_its_name_and_number(enum: Any) -> None:
    prefix = "".join(f"_{c}" if c.isupper() else c.upper() for c in enum.name).lstrip("_") + "_"
    wire = {value.name.removeprefix(prefix): value.number for value in enum.values}

    assert wire == {one.name: one.value for one in getattr(enums, enum.name)}


@pytest.mark.parametrize("name", sorted(_convert._CLASSES))
def test_every_field_of_a_message_is_a_field_of_its_class(name: str) -> None:
    descriptor = _descriptor(name)
    known = list(get_type_hints(_convert._CLASSES[name]))
    wire = {field.name for field in descriptor.fields} - LEFT_OUT.get(name, set())

    assert wire == {field for field in known if field in wire}
    assert set(known) - wire <= {"server_ahead_ms"}


def test_every_action_and_event_of_the_wire_is_there() -> None:
    assert [field.message_type.name for field in _kinds(action_pb2.Action.DESCRIPTOR)] == [
        one.__name__ for one in actions.ACTION_TYPES
    ]
    assert [field.message_type.name for field in _kinds(event_pb2.Event.DESCRIPTOR)] == [
        one.__name__ for one in events.EVENT_TYPES
    ]


def test_every_kind_of_frame_is_read() -> None:
    for field in _kinds(engine_service_pb2.Frame.DESCRIPTOR):
        frame = engine_service_pb2.Frame(game_id="g")
        getattr(frame, field.name).SetInParent()
        (read,) = _convert.read_frames([frame])

        assert "g" == read.game_id
        assert read.kind is not None


@pytest.mark.parametrize("kind", actions.ACTION_TYPES, ids=lambda kind: kind.__name__)
def test_an_action_comes_back_as_it_was(kind: type[Any]) -> None:
    rng = random.Random(1)
    values = {
        field.name: _any_value(get_type_hints(kind)[field.name], rng)
        for field in dataclasses.fields(kind)
    }
    action = kind(**values)
    message = _convert.write_action(action)

    assert message.WhichOneof("kind") is not None
    assert action == _convert.read(message, kind)
    assert action == _convert.read(action_pb2.Action.FromString(message.SerializeToString()), kind)


@pytest.mark.parametrize("kind", events.EVENT_TYPES, ids=lambda kind: kind.__name__)
def test_a_full_event_keeps_every_value(kind: type[Any]) -> None:
    descriptor = event_pb2.DESCRIPTOR.message_types_by_name[kind.__name__]
    message = GetMessageClass(descriptor)()
    _fill(message)
    value = _convert.read(message, kind)

    for field in descriptor.fields:
        expected = getattr(message, field.name)
        expected = tuple(expected) if field.is_repeated else expected
        assert expected == getattr(value, field.name)


def test_what_is_newer_than_this_sdk_is_left_out() -> None:
    unknown = b"\xfa\x3f\x00"  # field 1023, empty
    decision = decision_pb2.Decision(
        legal_actions=[action_pb2.Action(roll=action_pb2.Roll()), action_pb2.Action()]
    )
    decision.legal_actions[1].MergeFromString(unknown)
    frame = engine_service_pb2.Frame(game_id="g")
    frame.MergeFromString(unknown)

    from opolyx_sdk import Decision

    assert (actions.Roll(),) == _convert.read(decision, Decision).legal_actions
    assert [] == _convert.read_frames([frame])
    assert enums.Phase.UNSPECIFIED is enums.Phase(99)


def test_every_request_is_written() -> None:
    requests: list[_frames.Request] = [
        _frames.Attach("g", 7),
        _frames.Attach("g", None, spectator=True),
        _frames.Command("g", "c", "d1", actions.Build(square=3)),
        _frames.Detach("g"),
        _frames.Ping(4),
    ]
    attach, watch, command, detach, ping = map(_convert.write_request, requests)

    assert 7 == attach.attach.after_seq
    assert not watch.attach.HasField("after_seq")
    assert watch.attach.spectator
    assert 3 == command.command.action.build.square
    assert "g" == detach.detach.game_id
    assert 4 == ping.ping.nonce


def test_cards_are_the_same_values_in_a_room_and_in_a_game() -> None:
    card = SeatCard(square=3, bonus_bp=500)
    in_room = RoomSeat(1, enums.Occupant.PERSON, "p", "Bo", "", cards=(card,), vip=True)
    in_game = Seat(1, "p", "Bo", enums.SeatKind.PERSON, 1, "", cards=(card,), vip=True)

    message = _convert.write(in_room)

    assert [(3, 500)] == [(one.square, one.bonus_bp) for one in message.cards]  # type: ignore[attr-defined]
    assert in_room == _convert.read(message, RoomSeat)
    assert in_game == _convert.read(_convert.write(in_game), Seat)
    assert card == _convert.read(_convert.write(card), SeatCard)


def _kinds(descriptor: Descriptor) -> list[Any]:
    return list(descriptor.oneofs_by_name["kind"].fields)


def _descriptor(name: str) -> Descriptor:
    for module in MODULES:
        for message in module.DESCRIPTOR.message_types_by_name.values():
            if message.full_name == name:
                found: Descriptor = message
                return found
    raise AssertionError(name)


def _any_value(hint: Any, rng: random.Random) -> object:
    if isinstance(hint, type) and issubclass(hint, enums.OpenEnum):
        return rng.choice(list(hint)[1:])
    return (1, 3) if "tuple" in str(hint) else rng.randrange(1, 40)


def _fill(message: Any) -> None:
    for number, field in enumerate(message.DESCRIPTOR.fields, 1):
        if field.is_repeated:
            getattr(message, field.name).extend([number, number + 1])
        elif field.type == FieldDescriptor.TYPE_ENUM:
            setattr(message, field.name, 1)
        else:
            setattr(message, field.name, number)
